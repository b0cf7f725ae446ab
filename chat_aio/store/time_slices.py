"""Time slices for long work on the event loop, so that a large request does not delay small ones
(decision 0020)."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from chat_aio.store.calls import paused

SLICE_SECONDS = 0.004
SHORT_TEXT = 1_024

ROWS_AT_ONCE = 4
"""Number of rows of a list between two looks at the clock."""

T = TypeVar("T")


class Turns:
    """Schedules the long work of one process: one piece at a time, half of the time at most.

    Work that ends within its first slice neither waits for a turn nor takes one.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def sliced(self, *, heavy: bool = False) -> AsyncIterator["Slices"]:
        """Around a loop that calls `give_way` in each round. `heavy` work waits for its turn before
        the first slice: the first slices of many concurrent callers add up."""
        slices = Slices(self._turn)
        try:
            if heavy:
                await slices.wait_for_turn()
            yield slices
        finally:
            slices.end()

    async def alone(self, work: Callable[[], T]) -> T:
        """Run work that cannot be sliced. Afterwards all others get the same time."""
        with paused():
            async with self._turn:
                began = time.perf_counter()
                try:
                    return work()
                finally:
                    # Within the lock, so that the next long work waits for this pause as well.
                    await asyncio.sleep(time.perf_counter() - began)

    async def run_cpu_bound(self, text: str, work: Callable[[], T]) -> T:
        """Run work on the terms of a text; for a long text that is not ASCII it runs `alone`,
        because NFKC can make such a text many times longer."""
        is_short = text.isascii() or len(text) <= SHORT_TEXT
        return work() if is_short else await self.alone(work)


class Slices:
    """One piece of long work."""

    def __init__(self, turn: asyncio.Lock) -> None:
        self._turn = turn
        self._has_turn = False
        self._began = time.perf_counter()

    async def give_way(self) -> None:
        """Return at once within a slice. After it, wait for a turn the first time, and let all
        others run for as long as the slice took."""
        # `sleep(0)` would not do: another request takes a dozen rounds of the loop, and in each
        # round would wait for a slice of every caller.
        spent = time.perf_counter() - self._began
        if spent < SLICE_SECONDS:
            return
        await self.wait_for_turn()
        with paused():
            await asyncio.sleep(spent)
        self._began = time.perf_counter()

    async def wait_for_turn(self) -> None:
        if self._has_turn:
            return
        with paused():
            await self._turn.acquire()
        self._has_turn = True
        self._began = time.perf_counter()

    def end(self) -> None:
        if self._has_turn:
            self._turn.release()
