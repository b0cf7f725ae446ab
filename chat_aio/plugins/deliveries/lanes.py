"""Lanes: the deliveries of each user or conversation, in order, several lanes at once.

A lane is a task that lives as long as something waits in it. A try that fails holds up that lane
alone. Lanes that have failed before have separate slots, so that many dead ends do not hold up the
others.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextvars import Context
from itertools import islice
from typing import Any, ClassVar, Literal

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.errors import StorageUnavailable
from chat_aio.plugins.deliveries.lease import LeaseLost, PositionLease
from chat_aio.plugins.deliveries.rows import Row
from chat_aio.plugins.deliveries.tries import Tries, error_text
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

LOOKS_AT_ONCE = 32
LANE_SECONDS = 2.0
MOST_LANES = 500
"""The maximum number of lanes for older deliveries."""

MOST_FAILING = 10_000
PAUSE_SECONDS = 1.0


class Lanes(ABC):
    """The lanes of the process that holds the lease, by a key. `most_lanes` bounds all lanes, since
    each may hold `read_at_once` rows; a later look wakes the others."""

    most_lanes: ClassVar = 5_000
    read_at_once: ClassVar = 50

    def __init__(
        self, api: PluginAPI, lease: PositionLease, *, concurrency: int, tries: Tries
    ) -> None:
        self._api = api
        self._lease = lease
        self._tries = tries
        self._looks = asyncio.Semaphore(LOOKS_AT_ONCE)
        self._slots = asyncio.Semaphore(concurrency)
        self._slots_after_failure = asyncio.Semaphore(max(1, concurrency // 4))
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._failing: dict[str, None] = {}
        self._trying: set[asyncio.Task[None]] = set()
        self._finishing = False

    @abstractmethod
    async def read_waiting(self, key: str, *, limit: int) -> Sequence[Row]:
        """The oldest deliveries that wait in a lane, in order."""

    @abstractmethod
    async def hold_up(self, key: str, first: Row) -> None:
        """Delay all deliveries of a lane until the time of the first one."""

    @abstractmethod
    async def attempt(self, key: str, row: Row, waiting: Sequence[Row]) -> bool:
        """Deliver one row; False if the waiting rows have to be read again."""

    def wake_again(self, keys: Iterable[str]) -> None:
        """Wake lanes with older deliveries, the longest waiting first, as far as there is room."""
        room = max(0, MOST_LANES - len(self._lanes))
        self.wake([*islice((key for key in keys if key not in self._lanes), room)])

    def wake(self, keys: Iterable[str]) -> None:
        """Something new waits in these lanes."""
        for key in keys:
            if key not in self._lanes:
                if len(self._lanes) >= self.most_lanes:
                    continue
                self._lanes[key] = asyncio.create_task(self._serve(key), context=Context())
            self._again.add(key)

    async def finish(self, *, seconds: float) -> None:
        """Start nothing new, and wait for running deliveries: in another process it would be
        delivered again."""
        self._finishing = True
        if self._trying:
            await asyncio.wait(self._trying, timeout=seconds)

    async def close(self) -> None:
        """End all lanes. The next holder of the lease repeats running deliveries."""
        await cancel_and_wait(*self._lanes.values())
        self._lanes.clear()

    def has_delivered(self, key: str) -> None:
        """A try of this lane has succeeded."""
        self._failing.pop(key, None)

    def after_failure(
        self, key: str, row: Row, error: BaseException
    ) -> tuple[Literal["failed", "dead"], dict[str, Any]]:
        """What becomes of a row whose try has failed, and its changed fields. The next tries of its
        lane have separate slots."""
        self._failing[key] = None
        if len(self._failing) > MOST_FAILING:
            del self._failing[next(iter(self._failing))]
        text, tries = error_text(error), row["tries"] + 1
        failed = {"tries": tries, "error": text}
        later = self._tries.next_try(tries, due=row["dueAt"], now=self._api.now())
        if later is not None:
            return "failed", {**failed, "notBefore": later}
        log.error("one of %s was given up after %d tries: %s", self._lease.name, tries, text)
        return "dead", {**failed, "state": "dead"}

    async def _serve(self, key: str) -> None:
        try:
            while key in self._again and not self._finishing:
                self._again.discard(key)
                try:
                    await self._deliver_waiting(key)
                except StorageUnavailable:
                    self._again.add(key)
                    await asyncio.sleep(PAUSE_SECONDS)
        except LeaseLost:
            pass
        except Exception:
            # It is woken again by the next look at all that wait.
            log.exception("the %s of a lane could not be delivered", self._lease.name)
        finally:
            self._lanes.pop(key, None)

    async def _deliver_waiting(self, key: str) -> None:
        """Deliver all that waits in a lane, in its order."""
        while True:
            async with self._looks:
                self._lease.require()
                waiting = await self.read_waiting(key, limit=self.read_at_once)
            if not waiting:
                return
            for row in waiting:
                if self._finishing:
                    return
                left = (row["notBefore"] - self._api.now()).total_seconds()
                if left > LANE_SECONDS:
                    # No lane for now: the next look at all that wait makes one in time.
                    await self.hold_up(key, row)
                    return
                if left > 0:
                    await asyncio.sleep(left)
                    break
                if not await self._deliver_one(key, row, waiting):
                    break

    async def _deliver_one(self, key: str, row: Row, waiting: Sequence[Row]) -> bool:
        # Of the lane, not of the row: its next delivery would fail as well.
        failing = row["tries"] or key in self._failing
        slots = self._slots_after_failure if failing else self._slots
        lane = self._lanes[key]
        async with slots:
            # Again, for the wait for a slot may have been long.
            self._lease.require()
            if self._finishing:
                return False
            self._trying.add(lane)
            try:
                return await self.attempt(key, row, waiting)
            finally:
                self._trying.discard(lane)
