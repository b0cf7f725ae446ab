"""The feed: one change stream for the whole process, watched, and never silently behind."""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from contextvars import Context
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chat_aio.errors import StorageUnavailable
from chat_aio.store.calls import budget, retrieve
from chat_aio.store.change_stream import (
    ChangesBroken,
    HistoryLost,
    StreamChange,
    open_changes,
    tick,
)
from chat_aio.store.database import Database
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

PAUSES = (0.1, 0.25, 0.5, 1.0, 2.0)
MOST_UNTOLD = 4_096
MOST_FAILURES_IN_PLACE = 4
CLEAN_UP_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who follows the feed: `changed` gets batches in order, `live` and `lost` mark its state.

    `lost(gap=True)` says that what follows does not join on to what was told.
    """

    changed: Callable[[Sequence[StreamChange]], Awaitable[None]]
    live: Callable[[], None]
    lost: Callable[[bool], None]


class Feed:
    """Reads the change stream and passes it on, from `past` seconds ago, resuming after failures;
    `timed` changes say when they were written.

    It is live once a tick that it wrote to the database has come back. A tick that takes longer
    than `stall` seconds means that the feed is stalled: it is lost and begun anew.
    """

    def __init__(
        self,
        database: Database,
        listener: Listener,
        *,
        clock: Callable[[], datetime],
        past: float,
        stall: float,
        longest_past: float = 10.0,
        timed: bool = False,
    ) -> None:
        self._database = database
        self._listener = listener
        self._clock = clock
        self._past = past
        self._stall = stall
        self._longest_past = longest_past
        self._timed = timed
        self._token: Any = None
        self._stuck = 0
        self._stuck_at: Any = None
        self._task: asyncio.Task[None] | None = None
        self._live = asyncio.Event()
        self._untold: list[StreamChange] = []
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._ticks: dict[str, asyncio.Future[None]] = {}
        self._passing: asyncio.Task[None] | None = None

    @property
    def is_live(self) -> bool:
        return self._live.is_set()

    async def wait_live(self, *, seconds: float) -> bool:
        """Whether the feed is live, or becomes so within `seconds`."""
        if not self._live.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._live.wait(), seconds)
        return self._live.is_set()

    def open(self) -> None:
        """Begin to follow, in a context of its own: no deadline of the opener's applies."""
        self._task = asyncio.create_task(self._run(), context=Context())

    async def close(self) -> None:
        """Not live from the first moment on, then stop following."""
        self._live.clear()
        if self._task is not None:
            await cancel_and_wait(self._task, again=CLEAN_UP_SECONDS)
            self._task = None

    async def _run(self) -> None:
        failures = 0
        while True:
            async with AsyncExitStack() as cleaning_up:
                gap = await self._follow(cleaning_up)
                failures = 0 if self.is_live else failures + 1
                self._live.clear()
                self._listener.lost(gap)
            await asyncio.sleep(PAUSES[min(failures, len(PAUSES) - 1)])

    async def _follow(self, cleaning_up: AsyncExitStack) -> bool:
        """Read and tell until that fails; whether what comes next leaves a gap. Cleaning up may
        wait for a server that does not answer, and is left for after the loss is known."""
        try:
            changes = await open_changes(
                self._database, after=self._token, past=self._past, timed=self._timed
            )
            cleaning_up.callback(self._room.set)
            cleaning_up.callback(changes.stop)
            self._untold.clear()
            self._arrived.clear()
            self._room.set()
            reading = changes.start(self._take)
            tasks = {asyncio.create_task(each) for each in (self._deliver(), self._watch())}
            cleaning_up.push_async_callback(cancel_and_wait, *tasks)
            done, _ = await asyncio.wait({reading, *tasks}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except HistoryLost as error:
            log.warning("the feed cannot go on where it was: %s", error)
            self._token, self._past = None, 0.0
            return True
        except (ChangesBroken, StorageUnavailable) as error:
            log.warning("the feed was lost: %s", error)
        except Exception:
            log.exception("the feed failed")
            return self._gives_up_here()
        return False

    def _gives_up_here(self) -> bool:
        """What fails again and again at the same place is left behind, with a gap, rather than
        failing for ever."""
        self._stuck = self._stuck + 1 if self._stuck_at == self._token else 1
        self._stuck_at = self._token
        if self._stuck < MOST_FAILURES_IN_PLACE:
            return False
        log.error("the feed leaves a change behind that it cannot read")
        self._token, self._past, self._stuck = None, 0.0, 0
        return True

    async def _take(self, change: StreamChange) -> None:
        """Gather changes; while they are being told, what arrives makes the next batch."""
        self._untold.append(change)
        self._arrived.set()
        if len(self._untold) >= MOST_UNTOLD:
            self._room.clear()
            await self._room.wait()

    async def _deliver(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            batch, self._untold = self._untold, []
            self._room.set()
            await self._listener.changed(batch)
            self._token = batch[-1].token
            for change in batch:
                seen = self._ticks.get(change.tick_id or "")
                if seen and not seen.done():
                    seen.set_result(None)

    async def _watch(self) -> None:
        """Prove again and again that what the database commits is seen here in time."""
        starting = self._token is None
        await self._prove(self._longest_past, HistoryLost if starting else ChangesBroken)
        self._live.set()
        self._listener.live()
        while True:
            await asyncio.sleep(self._stall / 3)
            await self._prove(self._stall, ChangesBroken)

    async def catch_up(self, *, seconds: float) -> None:
        """Wait until all that is committed now has been told. Raises StorageUnavailable."""
        try:
            await self._prove(seconds, ChangesBroken)
        except ChangesBroken as behind:
            raise StorageUnavailable from behind

    def passed(self) -> asyncio.Future[None]:
        """Done once all that is committed now has been told; StorageUnavailable where that is not
        known."""
        if self._passing is None:
            self._passing = asyncio.create_task(self._pass(), context=Context())
            self._passing.add_done_callback(retrieve)
        return self._passing

    async def _pass(self) -> None:
        """Who asks from now on needs a tick of its own: this one may be written already."""
        self._passing = None
        await self.catch_up(seconds=self._stall)

    async def _prove(self, seconds: float, otherwise: type[ChangesBroken]) -> None:
        tick_id = secrets.token_hex(12)
        seen = self._ticks[tick_id] = asyncio.get_running_loop().create_future()
        try:
            with budget(seconds) as left:
                await tick(self._database, tick_id=tick_id, at=self._clock())
                await asyncio.wait({seen}, timeout=left.remaining)
        finally:
            del self._ticks[tick_id]
        if not seen.done():
            raise otherwise(f"a tick was not seen within {seconds} seconds")
