"""Notices that the primary is away, and logs that once instead of every request that waits.

A new primary can be written to before a majority follows it: the other members look for it once a
second. Only then are writes confirmed, so only then is the primary back.
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
    """Looks at the topology that the driver keeps. MongoDB is only asked after an absence."""

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
        """For how many seconds the primary was away since a moment of the monotonic clock."""
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
        """Log that the primary has gone, or has come back. A new client has not found it yet."""
        client = self._database.client
        if not _has_primary(client):
            if self._away_since is None and self._client is client:
                self._away_since = time.monotonic()
                log.warning("the primary of MongoDB is away: calls wait for the next primary")
            return
        self._client = client
        if self._away_since is not None and await self._is_followed():
            self._note_back(self._away_since)

    async def _is_followed(self) -> bool:
        """Whether a majority has written something of the primary's own term."""
        try:
            hello = await self._database.hello(seconds=ANSWER_SECONDS)
        except (StorageUnavailable, PyMongoError):
            return False
        written = hello.get("lastWrite")  # Not in the answer of mongos.
        return written is None or bool(written["majorityOpTime"]["t"] == written["opTime"]["t"])

    def _note_back(self, since: float) -> None:
        now = time.monotonic()
        self._absences.append((since, now))
        self._away_since = None
        seconds = now - since
        log.warning(
            "the primary of MongoDB is back after %.1f s", seconds, extra={"seconds": seconds}
        )


def _has_primary(client: Any) -> bool:
    client = pymongo_client(client)
    # A client of another kind may return anything for an attribute.
    if not isinstance(getattr(type(client), "topology_description", None), property):
        return True
    return bool(client.topology_description.has_writable_server())
