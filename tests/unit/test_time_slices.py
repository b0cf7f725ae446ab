"""Long work gives way to everybody else, however many do it at once."""

import asyncio
import time

from chat_aio.store.calls import budget
from chat_aio.store.time_slices import SLICE_SECONDS, Turns

AT_ONCE = 8
STEPS = 5


async def ticking(ticks: list[int]) -> None:
    """Somebody who asks for little, and goes through the loop again and again."""
    while True:
        await asyncio.sleep(0)
        ticks[0] += 1


async def test_others_run_between_the_slices_of_all_who_work_long() -> None:
    turns, ticks = Turns(), [0]
    seen: list[int] = []

    async def work_long() -> None:
        async with turns.sliced() as slices:
            for _ in range(STEPS):
                time.sleep(SLICE_SECONDS)  # noqa: ASYNC251
                seen.append(ticks[0])
                await slices.give_way()

    other = asyncio.create_task(ticking(ticks))
    await asyncio.gather(*(work_long() for _ in range(AT_ONCE)))
    other.cancel()
    assert len(seen) == AT_ONCE * STEPS
    later = seen[AT_ONCE:]
    assert len(set(later)) == len(later), "two slices in one round of the loop"


async def test_short_work_waits_for_nobody() -> None:
    turns = Turns()
    async with turns.sliced() as long:
        time.sleep(SLICE_SECONDS)  # noqa: ASYNC251
        await long.give_way()
        async with asyncio.timeout(30), turns.sliced() as short:
            await short.give_way()
    assert await turns.alone(lambda: "done") == "done"


async def test_what_cannot_be_cut_is_done_one_after_the_other() -> None:
    turns, ticks = Turns(), [0]
    seen: list[int] = []

    def work() -> None:
        time.sleep(SLICE_SECONDS)
        seen.append(ticks[0])

    other = asyncio.create_task(ticking(ticks))
    await asyncio.gather(*(turns.alone(work) for _ in range(AT_ONCE)))
    other.cancel()
    assert len(set(seen)) == AT_ONCE


async def test_heavy_work_waits_before_its_first_slice() -> None:
    """The first slices of eight callers would be eight slices in a row."""
    turns, ticks = Turns(), [0]
    seen: list[int] = []

    async def work_hard() -> None:
        async with turns.sliced(heavy=True) as slices:
            time.sleep(SLICE_SECONDS)  # noqa: ASYNC251
            seen.append(ticks[0])
            await slices.give_way()

    other = asyncio.create_task(ticking(ticks))
    await asyncio.gather(*(work_hard() for _ in range(AT_ONCE)))
    other.cancel()
    assert len(set(seen)) == AT_ONCE, "two slices in one round of the loop"


async def test_waiting_for_a_turn_is_no_waiting_for_the_database() -> None:
    """The budget of a request stands still while others have their turn, in each way to wait."""

    async def cut(turns: Turns) -> None:
        async with turns.sliced(heavy=True):
            pass

    async def uncut(turns: Turns) -> None:
        await turns.alone(lambda: None)

    for work in (cut, uncut):
        turns = Turns()
        async with turns.sliced(heavy=True):
            with budget(10) as left:
                waiting = asyncio.create_task(work(turns))
                await asyncio.sleep(0)
                before = left.deadline
                time.sleep(0.05)  # noqa: ASYNC251
        await waiting
        assert left.deadline >= before + 0.05
