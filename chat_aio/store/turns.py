"""Long work on the event loop, in slices: whoever asks for little does not wait for who asks for
much."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from chat_aio.store.calls import paused

SLICE_SECONDS = 0.004
SHORT_TEXT = 1_024

T = TypeVar("T")


class Turns:
    """The long work of one chat in one process: one piece at a time, and half of the time at most.

    Work that is done within a slice takes no turn, and waits for none.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def sliced(self, *, heavy: bool = False) -> AsyncIterator["Slices"]:
        """Around a loop that calls `give_way` in each round. What is known to be `heavy` waits for
        its turn before the first slice, too: the first slices of many callers are long as well."""
        slices = Slices(self._turn)
        try:
            if heavy:
                await slices.wait_for_turn()
            yield slices
        finally:
            slices.end()

    async def alone(self, work: Callable[[], T]) -> T:
        """What cannot be cut into slices. Others get as much time afterwards as it took."""
        with paused():
            async with self._turn:
                began = time.perf_counter()
                try:
                    return work()
                finally:
                    await asyncio.sleep(time.perf_counter() - began)

    async def on_text(self, text: str, work: Callable[[], T]) -> T:
        """Looking for the terms of a text: of a long one it takes a while, above all where it grows
        in its normal form."""
        is_short = text.isascii() or len(text) <= SHORT_TEXT
        return work() if is_short else await self.alone(work)


class Slices:
    """One piece of long work."""

    def __init__(self, turn: asyncio.Lock) -> None:
        self._turn = turn
        self._has_turn = False
        self._began = time.perf_counter()

    async def give_way(self) -> None:
        """Go on; past a slice, let all others run for as long, and wait for a turn at first.

        A pause of no length would not do: a request of somebody else goes through the loop a dozen
        times, and would wait for a slice of each of many callers every time.
        """
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
