"""Notices that the primary is away, and logs that once instead of every request that waits."""

import asyncio
import logging
import time
from collections import deque
from contextvars import Context
from typing import Any

from chat_aio.store.database import Database
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.25
MOST_ABSENCES = 8


class PrimaryWatch:
    """Looks at the topology that the driver keeps anyway, so nothing is sent to MongoDB."""

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
            self.look()

    def look(self) -> None:
        """Log that the primary has gone, or has come back. A new client has not found it yet."""
        client, is_there = self._database.client, _has_primary(self._database.client)
        if is_there:
            self._client = client
            if self._away_since is not None:
                self._note_back(self._away_since)
        elif self._away_since is None and self._client is client:
            self._away_since = time.monotonic()
            log.warning("the primary of MongoDB is away: calls wait for the next primary")

    def _note_back(self, since: float) -> None:
        now = time.monotonic()
        self._absences.append((since, now))
        self._away_since = None
        seconds = now - since
        log.warning(
            "the primary of MongoDB is back after %.1f s", seconds, extra={"seconds": seconds}
        )


def _has_primary(client: Any) -> bool:
    # A client of Motor wraps one of PyMongo. Both make a database of any attribute that they do not
    # have, so nothing can be asked of a client of another kind.
    client = vars(client).get("delegate", client)
    if not isinstance(getattr(type(client), "topology_description", None), property):
        return True
    return bool(client.topology_description.has_writable_server())
