"""`chat.lease`: one process at a time, which is released at the end and lost where it is taken."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

import pytest
from pymongo import AsyncMongoClient

from chat_aio import Chat, HeldLease, LeaseLost
from chat_aio.actions import leases
from chat_aio.errors import StorageUnavailable
from chat_aio.store.leases import Lease
from tests.conftest import Database, MakeChat
from tests.support.ageing import expire_lease
from tests.support.people import PATIENCE
from tests.support.processes import ROOT, without_own_variables

HOLDER = "tests.support.lease_holder"


@pytest.fixture(autouse=True)
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for a lease takes it soon after it is free."""
    monkeypatch.setattr(leases, "RENEWALS", 60)


async def held(chat: Chat, entered: asyncio.Event, left: asyncio.Event) -> None:
    async with chat.lease("work", seconds=30):
        entered.set()
        await asyncio.wait_for(left.wait(), PATIENCE)


async def test_of_many_one_holds_it_and_each_gets_it_in_turn(make_chat: MakeChat) -> None:
    chats = [await make_chat() for _ in range(2)]
    inside, fences, most = 0, [], 0

    async def work(chat: Chat) -> None:
        nonlocal inside, most
        # Longer than a busy machine pauses a process: who loses it is cancelled.
        async with chat.lease("work", seconds=3) as lease:
            inside += 1
            most = max(most, inside)
            lease.require()
            fences.append(lease.fence)
            await chat.api.list_conversations("ann")  # Others run in the meantime.
            inside -= 1

    async with asyncio.timeout(PATIENCE * 4):
        await asyncio.gather(*(work(chats[number % 2]) for number in range(8)))
    assert most == 1
    assert fences == list(range(1, 9))


async def test_leases_of_other_names_are_free(chat: Chat) -> None:
    async with chat.lease("one"), chat.lease("other") as other:
        assert other.is_held
    assert not other.is_held


async def test_the_end_of_the_block_releases_it_also_by_an_error(
    chat: Chat, database: Database
) -> None:
    with pytest.raises(ZeroDivisionError):
        async with chat.lease("work", seconds=300):
            raise ZeroDivisionError
    async with asyncio.timeout(PATIENCE), chat.lease("work", seconds=300) as lease:
        assert lease.fence == 2
    stored = await database["settings"].find_one({"_id": "lease:work"})
    assert stored is not None
    assert stored["fence"] == 2


async def test_closing_ends_the_block_and_releases_it(make_chat: MakeChat) -> None:
    one, other = await make_chat(), await make_chat()
    entered, left = asyncio.Event(), asyncio.Event()
    working = asyncio.create_task(held(one, entered, left))
    async with asyncio.timeout(PATIENCE):
        await entered.wait()
        waiting = asyncio.create_task(held(one, asyncio.Event(), left))
        await asyncio.sleep(0)
        await one.close()
        for task in (working, waiting):
            with pytest.raises(LeaseLost):
                await task
    assert not one.is_open
    with pytest.raises(RuntimeError):
        one.lease("work")
    async with asyncio.timeout(PATIENCE), other.lease("work", seconds=300) as lease:
        assert lease.fence == 2


async def test_a_block_may_close_its_chat(make_chat: MakeChat) -> None:
    one, other = await make_chat(), await make_chat()
    async with one.lease("work", seconds=300) as lease:
        await one.close()
        assert not lease.is_held
    del lease
    async with asyncio.timeout(PATIENCE), other.lease("other"):
        pass


async def test_a_block_is_cancelled_if_another_process_has_taken_it(
    chat: Chat, database: Database
) -> None:
    lease = chat.lease("work", seconds=0.3)

    async def work() -> None:
        async with asyncio.timeout(PATIENCE), lease:
            await database["settings"].update_one({"_id": "lease:work"}, {"$inc": {"fence": 1}})
            await asyncio.Event().wait()

    with pytest.raises(LeaseLost):
        await work()
    assert not lease.is_held
    with pytest.raises(LeaseLost):
        lease.require()


async def test_a_block_is_cancelled_if_the_database_does_not_answer(chat: Chat) -> None:
    """Although the renewal still waits for it."""

    async def never(_: Lease) -> None:
        await asyncio.Event().wait()

    with patch.object(Lease, "renew", never), pytest.raises(LeaseLost):
        async with asyncio.timeout(PATIENCE), chat.lease("work", seconds=0.3):
            await asyncio.Event().wait()


async def test_who_waits_goes_on_after_an_outage(chat: Chat) -> None:
    take, calls = Lease.take, 0

    async def away_at_first(lease: Lease) -> bool:
        nonlocal calls
        calls += 1
        if calls < 3:
            raise StorageUnavailable
        return await take(lease)

    with patch.object(Lease, "take", away_at_first):
        async with asyncio.timeout(PATIENCE), chat.lease("work", seconds=3) as lease:
            assert lease.is_held
    assert calls == 3


async def test_a_cancellation_from_outside_stays_one(chat: Chat) -> None:
    entered, left = asyncio.Event(), asyncio.Event()
    working = asyncio.create_task(held(chat, entered, left))
    async with asyncio.timeout(PATIENCE):
        await entered.wait()
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
    async with asyncio.timeout(PATIENCE), chat.lease("work", seconds=300) as lease:
        assert lease.fence == 2


async def test_an_error_of_the_block_is_not_hidden_by_the_loss(chat: Chat) -> None:
    """Although both come at the same moment, and the task is not left cancelled."""
    lease, entered = chat.lease("work", seconds=300), asyncio.Event()

    async def work() -> int:
        try:
            async with lease:
                entered.set()
                await left
                raise ZeroDivisionError
        except ZeroDivisionError:
            await asyncio.sleep(0)
            task = asyncio.current_task()
            assert task is not None
            return task.cancelling()

    left = asyncio.get_running_loop().create_future()
    working = asyncio.create_task(work())
    async with asyncio.timeout(PATIENCE):
        await entered.wait()
        left.set_result(None)
        await asyncio.sleep(0)  # The block is to run next.
        lease.end()
        assert await working == 0


@pytest.mark.parametrize(("name", "seconds"), [("", 5), ("x\0", 5), (7, 5), ("x", 0), ("x", -1)])
async def test_what_is_no_lease(chat: Chat, name: Any, seconds: float) -> None:
    with pytest.raises(ValueError, match="lease"):
        chat.lease(name, seconds=seconds)


async def test_a_lease_is_used_once(chat: Chat) -> None:
    lease = chat.lease("work")
    async with lease:
        with pytest.raises(RuntimeError):
            await lease.__aenter__()
    with pytest.raises(RuntimeError):
        await lease.__aenter__()
    assert isinstance(lease, HeldLease)


@asynccontextmanager
async def holder(mongo_url: str, database: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", HOLDER, mongo_url, database),
        stdout=asyncio.subprocess.PIPE,
        env=without_own_variables(),
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE * 2):
        found = (await process.stdout.readline()).decode().strip()
    assert found, "the process has ended"
    return found


async def fence_of(process: asyncio.subprocess.Process) -> int:
    """The fence of the next lease that a process gets."""
    while not (found := await line(process)).startswith("held "):
        assert found == "lost"
    return int(found.removeprefix("held "))


@pytest.mark.new_database
async def test_a_holder_that_is_paused_or_killed_is_replaced(
    mongo_url: str, database: Database
) -> None:
    """Nobody's step comes after one of a later holder, and each process knows what it has lost."""
    client: AsyncMongoClient[Any] = database.client
    await client[database.name]["steps"].insert_one({"_id": 1, "last": 0, "fences": []})
    async with holder(mongo_url, database.name) as one:
        first = await fence_of(one)
        async with holder(mongo_url, database.name) as other:
            os.kill(one.pid, signal.SIGSTOP)
            second = await fence_of(other)
            os.kill(one.pid, signal.SIGCONT)
            async with asyncio.timeout(PATIENCE):
                while await line(one) != "lost":
                    pass
            other.kill()
            await asyncio.wait_for(other.wait(), PATIENCE)
            await expire_lease(database, "lease:work")
            third = await fence_of(one)
        async with holder(mongo_url, database.name) as last:
            one.kill()
            await asyncio.wait_for(one.wait(), PATIENCE)
            await expire_lease(database, "lease:work")
            fourth = await fence_of(last)
    # Higher by more than one where a busy machine has cost a holder its lease.
    assert 0 < first < second < third < fourth
    steps = await client[database.name]["steps"].find_one({"_id": 1})
    assert steps is not None
    assert steps["fences"] == sorted(steps["fences"])
    assert {first, second, third, fourth} <= {*steps["fences"]}
