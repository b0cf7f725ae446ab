"""The feed: one change stream for the whole process, with a watchdog, so that falling behind is
always noticed."""

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
MOST_UNDELIVERED = 4_096
MOST_FAILURES_IN_PLACE = 4
CLEAN_UP_SECONDS = 2.0
TICKS = 3
"""Ticks within the time after which the feed has stalled."""

IDLE_SECONDS = 300.0
"""The longest time without a tick: the feed resumes after what it has read last, and must not have
to read hours of other programs' changes then."""

REST_SECONDS = 0.025
READ_SECONDS = 0.005
MANY = 64
"""The feed reads for a while, then rests, unless this many changes have come in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Callbacks of the feed: `changed` gets batches in order, `live`, `idle` and `lost` report its
    state. Changes that nobody hears (`is_heard`) may be a few milliseconds later.

    From `idle` until the next `live`, nobody proves that the feed is not behind. After `lost(True)`
    there is a gap: changes between the last batch and the next one are missing.
    """

    changed: Callable[[Sequence[StreamChange]], Awaitable[None]]
    is_heard: Callable[[], bool]
    live: Callable[[], None]
    idle: Callable[[], None]
    lost: Callable[[bool], None]


class Feed:
    """Reads the change stream and passes changes to its listener. It starts `past` seconds ago and
    resumes after failures; with `timed`, changes carry the time when they were written.

    The feed is live once a tick that it wrote to the database has come back through the change
    stream. If a later tick takes longer than `stall` seconds, the feed has stalled: it is lost and
    restarted. The first tick may take `longest_past` seconds: missed changes are read before it.
    While nobody hears the feed or sets `used`, it writes a tick every few minutes only.
    """

    def __init__(
        self,
        database: Database,
        listener: Listener,
        *,
        used: asyncio.Event,
        clock: Callable[[], datetime],
        past: float,
        stall: float,
        longest_past: float = 10.0,
        timed: bool = False,
    ) -> None:
        self._database = database
        self._listener = listener
        self._used = used
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
        self._undelivered: list[StreamChange] = []
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._ticks: dict[str, asyncio.Future[None]] = {}
        self._passing: asyncio.Task[None] | None = None
        self._resting: asyncio.Future[None] | None = None
        self._read_until = 0.0
        self._taken = 0

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
        """Start following."""
        # A fresh context: the feed must not inherit the deadline of the request that opened it.
        self._task = asyncio.create_task(self._run(), context=Context())

    async def close(self) -> None:
        """Stop following; from the start of closing on, the feed is not live."""
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
        """Read and deliver until something fails; returns whether a gap follows.

        Cleaning up may wait for a server that does not answer. The caller does it after it has
        reported the loss, so that streams end at once.
        """
        try:
            changes = await open_changes(
                self._database, after=self._token, past=self._past, timed=self._timed
            )
            cleaning_up.callback(self._room.set)
            cleaning_up.callback(self.wake)
            cleaning_up.callback(changes.stop)
            self._undelivered.clear()
            self._arrived.clear()
            self._room.set()
            reading = changes.start(self._take)
            tasks = {
                asyncio.create_task(coroutine) for coroutine in (self._deliver(), self._watch())
            }
            cleaning_up.push_async_callback(cancel_and_wait, *tasks)
            done, _ = await asyncio.wait({reading, *tasks}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except HistoryLost as error:
            log.warning("the feed cannot resume after its last change: %s", error)
            self._token, self._past = None, 0.0
            return True
        except (ChangesBroken, StorageUnavailable) as error:
            log.warning("the feed was lost: %s", error)
        except Exception:
            log.exception("the feed failed")
            self._stuck = self._stuck + 1 if self._stuck_at == self._token else 1
            self._stuck_at = self._token
            # After repeated failures at the same change, restart at the present and accept the gap:
            # otherwise one bad change would block the feed for ever.
            if self._stuck >= MOST_FAILURES_IN_PLACE:
                log.error("the feed skips a change that it cannot read")
                self._token, self._past, self._stuck = None, 0.0, 0
                return True
        return False

    async def _take(self, change: StreamChange) -> None:
        """Collect changes; those that arrive while a batch is delivered form the next batch."""
        self._undelivered.append(change)
        self._arrived.set()
        # Backpressure: stop reading rather than hold an unbounded backlog in memory.
        if len(self._undelivered) >= MOST_UNDELIVERED:
            self._room.clear()
            await self._room.wait()
            return
        self._taken += 1
        now = asyncio.get_running_loop().time()
        if now < self._read_until:
            return
        # The database may be left alone for a moment if only a few changes have come, nobody hears
        # them, and nobody waits for the feed to catch up.
        few, self._taken = self._taken < MANY, 0
        self._read_until = now + READ_SECONDS
        if few and not self._ticks and not self._listener.is_heard():
            await self._rest()

    async def _rest(self) -> None:
        """Wait a moment: all changes of that time are then read together."""
        loop = asyncio.get_running_loop()
        self._resting = loop.create_future()
        timer = loop.call_later(REST_SECONDS, self.wake)
        try:
            await self._resting
        finally:
            timer.cancel()
            self._resting, self._read_until = None, loop.time() + READ_SECONDS

    def wake(self) -> None:
        """Read again at once: from now on somebody listens, or waits."""
        if self._resting is not None and not self._resting.done():
            self._resting.set_result(None)

    async def _deliver(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            batch, self._undelivered = self._undelivered, []
            self._room.set()
            await self._listener.changed(batch)
            # Only now: if delivering fails, the batch is read again from the token before it.
            self._token = batch[-1].token
            # A tick counts as seen once everything before it has been delivered, not just read.
            for change in batch:
                seen = self._ticks.get(change.tick_id or "")
                if seen and not seen.done():
                    seen.set_result(None)

    async def _watch(self) -> None:
        """Prove periodically that what the database commits arrives here in time."""
        # Without a token there is nothing to resume from: not catching up means a gap.
        starting = self._token is None
        await self._prove(self._longest_past, HistoryLost if starting else ChangesBroken)
        self._live.set()
        self._listener.live()
        while True:
            await asyncio.sleep(self._stall / TICKS)
            if is_idle := not (self._used.is_set() or self._listener.is_heard()):
                self._listener.idle()
                with suppress(TimeoutError):
                    async with asyncio.timeout(IDLE_SECONDS):
                        await self._used.wait()
            self._used.clear()
            await self._prove(self._stall, ChangesBroken)
            if is_idle:
                self._listener.live()

    async def catch_up(self, *, seconds: float) -> None:
        """Wait until everything committed by now is delivered. Raises StorageUnavailable."""
        try:
            await self._prove(seconds, ChangesBroken)
        except ChangesBroken as behind:
            raise StorageUnavailable from behind

    def passed(self) -> asyncio.Future[None]:
        """A future that is done once everything committed by now is delivered; it fails with
        StorageUnavailable if that cannot be established. Concurrent callers share one tick."""
        if self._passing is None:
            self._passing = asyncio.create_task(self._pass(), context=Context())
            self._passing.add_done_callback(retrieve)
        return self._passing

    async def _pass(self) -> None:
        # Later callers need another tick: this one may be written before their commits.
        self._passing = None
        await self.catch_up(seconds=self._stall)

    async def _prove(self, seconds: float, otherwise: type[ChangesBroken]) -> None:
        """Write a tick and wait until it has come back; raise `otherwise` after `seconds`."""
        tick_id = secrets.token_hex(12)
        seen = self._ticks[tick_id] = asyncio.get_running_loop().create_future()
        self.wake()
        try:
            with budget(seconds) as left:
                await tick(self._database, tick_id=tick_id, at=self._clock())
                await asyncio.wait({seen}, timeout=left.remaining)
        finally:
            del self._ticks[tick_id]
        if not seen.done():
            raise otherwise(f"a tick was not seen within {seconds} seconds")
