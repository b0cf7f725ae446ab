"""Notices that the primary is away, and logs that once instead of for every waiting request.

A new primary can be written to before a majority follows it: the other members look for it once a
second. Writes are confirmed only then, so only then is the primary back.
"""

import asyncio
import logging
import time
from collections import deque
from contextvars import Context
from typing import Any

from pymongo.errors import PyMongoError

from chat_aio.errors import StorageUnavailable
from chat_aio.store.database import Database
from chat_aio.store.drivers import pymongo_client
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.25
ANSWER_SECONDS = 1.0
MOST_ABSENCES = 8


class PrimaryWatch:
    """Observes the driver's view of the topology. MongoDB is queried only after an absence."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._absences = deque[tuple[float, float]](maxlen=MOST_ABSENCES)
        self._client: Any = None
        self._away_since: float | None = None
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        self._task = asyncio.create_task(self._run(), context=Context())

    async def close(self) -> None:
        if self._task is not None:
            await cancel_and_wait(self._task)
            self._task = None

    def away_since(self, began: float) -> float:
        """The seconds for which the primary was away since a moment of the monotonic clock."""
        now = time.monotonic()
        absences = [*self._absences]
        if self._away_since is not None:
            absences.append((self._away_since, now))
        return sum(max(0.0, end - max(began, start)) for start, end in absences)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Log that the primary is away or back. A new client has not found it yet."""
        client = self._database.client
        driver = pymongo_client(client)
        # A client of another kind may return anything for an attribute: it counts as connected.
        is_known = isinstance(getattr(type(driver), "topology_description", None), property)
        if is_known and not driver.topology_description.has_writable_server():
            if self._away_since is None and self._client is client:
                self._away_since = time.monotonic()
                log.warning("the primary of MongoDB is away: calls wait for the next primary")
            return
        self._client = client
        since = self._away_since
        if since is None:
            return
        try:
            hello = await self._database.hello(seconds=ANSWER_SECONDS)
        except (StorageUnavailable, PyMongoError):
            return
        # It is followed once a majority has written something of its own term.
        written = hello.get("lastWrite")  # Not in the answer of mongos.
        if written and written["majorityOpTime"]["t"] != written["opTime"]["t"]:
            return
        now = time.monotonic()
        self._absences.append((since, now))
        self._away_since = None
        seconds = now - since
        log.warning(
            "the primary of MongoDB is back after %.1f s", seconds, extra={"seconds": seconds}
        )
