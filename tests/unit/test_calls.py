"""Driver calls: nobody cancels them, everybody is answered, and what is stuck is noticed."""

import asyncio
import time
from collections.abc import Callable
from unittest.mock import patch

import pytest

from chat_aio.errors import StorageUnavailable
from chat_aio.store import calls as module
from chat_aio.store.calls import Calls, LateCall, budget, deadline_within, paused
from tests.support.people import PATIENCE


class Slow:
    """A call that ends when it is told to, and notes if it was cancelled."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.release = asyncio.Event()
        self.cancelled = False

    async def __call__(self) -> str:
        self.begun.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return "done"


async def test_a_cancelled_caller_leaves_its_call_running() -> None:
    calls, slow = Calls(timeout=10), Slow()
    caller = asyncio.create_task(calls.run(slow, seconds=10))
    await asyncio.wait_for(slow.begun.wait(), PATIENCE)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert len(calls) == 1
    slow.release.set()
    await calls.wait_for_all(seconds=10)
    assert not slow.cancelled
    assert not calls


async def test_a_late_call_is_given_up_and_goes_on() -> None:
    calls, slow = Calls(timeout=10), Slow()
    with patch.object(module, "GRACE_SECONDS", 0), pytest.raises(LateCall):
        await calls.run(slow, seconds=0.01)
    assert len(calls) == 1
    assert not calls.is_stuck
    slow.release.set()
    await calls.wait_for_all(seconds=10)
    assert not slow.cancelled


async def until(holds: Callable[[], bool]) -> None:
    """Looks of the calls themselves come by timers: let these go by."""
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_call_past_twice_its_timeout_is_stuck_until_it_ends() -> None:
    calls, slow = Calls(timeout=0.02), Slow()
    with patch.object(module, "LOOK_SECONDS", 0.01), patch.object(module, "GRACE_SECONDS", 0):
        with pytest.raises(LateCall):
            await calls.run(slow, seconds=0.02)
        await until(lambda: calls.is_stuck)
    slow.release.set()
    await calls.wait_for_all(seconds=10)
    assert not calls.is_stuck


async def test_calls_that_end_by_their_timeouts_are_not_stuck() -> None:
    """As those of a client whose database is away do, however many there are."""
    calls = Calls(timeout=0.02)

    async def unreachable() -> None:
        await asyncio.sleep(0.02)
        raise ConnectionError

    with patch.object(module, "LOOK_SECONDS", 0.005):
        for _ in range(5):
            together = (calls.run(unreachable, seconds=0.02) for _ in range(50))
            found = await asyncio.gather(*together, return_exceptions=True)
            assert {type(error) for error in found} <= {ConnectionError, LateCall}
            assert not calls.is_stuck


async def test_a_replaced_client_answers_whoever_waits() -> None:
    calls, slow = Calls(timeout=10), Slow()
    caller = asyncio.create_task(calls.run(slow, seconds=10))
    await asyncio.wait_for(slow.begun.wait(), PATIENCE)
    calls.forget()
    with pytest.raises(LateCall):
        await caller
    slow.release.set()


async def test_a_request_has_one_budget_for_all_its_calls() -> None:
    calls = Calls(timeout=10)
    asked: list[float] = []

    async def call() -> None:
        asked.append(module.deadline_within(10))

    with budget(0.5) as left:
        await calls.run(call, seconds=10)
        await until(lambda: left.remaining == 0)
        with pytest.raises(StorageUnavailable):
            await calls.run(call, seconds=10)
    assert len(asked) == 1
    assert asked[0] == left.deadline


async def test_hooks_and_bodies_stop_the_clock() -> None:
    with budget(1) as left:
        before = left.deadline
        with paused():
            await asyncio.sleep(0.02)
        assert left.deadline >= before + 0.02
        with budget(10):
            assert deadline_within(100) == left.deadline


async def test_pauses_at_once_count_once() -> None:
    """A page asks a hook about many messages at a time."""
    with budget(10) as left:
        before = left.deadline
        began = left.deadline - left.remaining
        with paused():
            with paused(), paused():
                await asyncio.sleep(0.05)
            assert left.deadline == before
        lasted = left.deadline - left.remaining - began
        assert before + 0.05 <= left.deadline <= before + lasted + 0.001


async def test_shared_work_is_not_waited_for_past_the_budget() -> None:
    work: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    with budget(0.01), pytest.raises(StorageUnavailable):
        async with asyncio.timeout(PATIENCE):
            await Calls(timeout=10).shared(work, seconds=10)
    assert not work.cancelled()
    work.set_result("done")
    assert await Calls(timeout=10).shared(work, seconds=0) == "done"


async def test_a_spent_budget_is_not_waited_with() -> None:
    """Not even until the timer looks: a caller that loops would wait again and again."""
    work: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    with patch.object(module, "LOOK_SECONDS", 1e6), budget(0), pytest.raises(StorageUnavailable):
        async with asyncio.timeout(PATIENCE):
            await Calls(timeout=10).shared(work, seconds=10)


async def test_a_storm_of_waits_of_different_lengths() -> None:
    """One timer serves all: no caller is forgotten, wakes another one or stays behind."""
    calls = Calls(timeout=10)
    loop = asyncio.get_running_loop()
    short = [loop.create_future() for _ in range(300)]
    shared: asyncio.Future[str] = loop.create_future()
    late = [asyncio.create_task(calls.shared(work, seconds=0.02)) for work in short]
    left = [asyncio.create_task(calls.shared(shared, seconds=60)) for _ in range(300)]
    with patch.object(module, "LOOK_SECONDS", 0.005):
        await asyncio.sleep(0)
        for caller in left[::2]:
            caller.cancel()
        async with asyncio.timeout(PATIENCE):
            outcomes = await asyncio.gather(*late, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {StorageUnavailable}
    assert not any(caller.done() for caller in left[1::2])
    assert not shared.cancelled()
    shared.set_result("done")
    async with asyncio.timeout(PATIENCE):
        assert set(await asyncio.gather(*left[1::2])) == {"done"}
        # A wait of later, when nothing was waited for in between.
        with pytest.raises(StorageUnavailable):
            await calls.shared(loop.create_future(), seconds=0.01)
    assert not calls._waiters


async def test_a_wait_that_ends_in_two_ways_in_one_turn() -> None:
    """Its caller is cancelled, or its time is over, when the work ends or the timer looks."""
    calls, loop, failures = Calls(timeout=10), asyncio.get_running_loop(), list[object]()
    loop.set_exception_handler(lambda _, context: failures.append(context))

    async def waiting() -> tuple[asyncio.Future[str], asyncio.Task[str]]:
        work: asyncio.Future[str] = loop.create_future()
        caller = asyncio.create_task(calls.shared(work, seconds=0.001))
        await until(lambda: bool(calls._waiters))
        return work, caller

    with patch.object(module, "LOOK_SECONDS", 1e6):
        for ends_first in (True, False):
            work, caller = await waiting()
            if ends_first:
                work.set_result("done")
            caller.cancel()
            if not ends_first:
                work.set_result("done")
            await asyncio.wait({caller}, timeout=PATIENCE)
            assert caller.cancelled()
        work, caller = await waiting()
        await until(lambda: time.monotonic() > calls._waiters[next(iter(calls._waiters))])
        caller.cancel()
        calls._look()
        await asyncio.wait({caller}, timeout=PATIENCE)
        work, caller = await waiting()
        await until(lambda: time.monotonic() > max(calls._waiters.values()))
        calls._look()
        work.set_result("done")
        async with asyncio.timeout(PATIENCE):
            assert await caller == "done"
    assert failures == []


async def test_budgets_nest_and_end_with_their_block() -> None:
    outer = budget(10)
    with outer:
        with budget(60) as longer, budget(1) as inner:
            assert deadline_within(100) == inner.deadline
        assert inner.remaining < longer.remaining
        assert deadline_within(100) == outer.deadline
    assert deadline_within(100) > outer.deadline + 60


async def test_a_budget_ends_with_an_error_too() -> None:
    with pytest.raises(ValueError, match="swordfish"), budget(1):
        raise ValueError("swordfish")
    assert deadline_within(100) > time.monotonic() + 60


async def test_a_hook_may_call_the_chat_while_the_clock_stands() -> None:
    """Its own time is no database time, also before it has ended."""
    with budget(0.05), paused():
        await asyncio.sleep(0.1)
        assert deadline_within(10) > time.monotonic()
