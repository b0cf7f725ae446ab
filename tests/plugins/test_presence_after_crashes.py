"""Presence where processes die, stall, or meet what they did not expect."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio.plugins import Presence
from chat_aio.plugins.presence_store import Attendance
from tests.conftest import Database, MakePeople
from tests.plugins.test_presence import LONG_AGO, fall_silent, is_somewhere, of, shown
from tests.support.people import PATIENCE


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await holds():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def of_the_dead(user_id: str) -> dict[str, Any]:
    """What a process that died has left of a user."""
    return {"_id": user_id, "processes": ["dead"], "lastSeenAt": LONG_AGO}


async def test_the_living_stay_online_while_the_dead_are_swept(
    serve: MakePeople, database: Database
) -> None:
    """Sweeping takes as long as it takes: the lease is renewed again and again meanwhile."""
    lease = timedelta(seconds=2)
    person = await serve(plugins=[Presence(lease_seconds=lease.total_seconds())])
    alice = person("alice")
    sweeping, may_go = asyncio.Event(), asyncio.Event()
    leave = Attendance.leave

    async def hang(*args: Any, **options: Any) -> Any:
        sweeping.set()
        await asyncio.wait_for(may_go.wait(), PATIENCE)
        return await leave(*args, **options)

    async def seen_at() -> Any:
        living = await database["processes"].find_one({"_id": {"$ne": "dead"}})
        assert living is not None
        return living["seenAt"]

    async with alice.tab():
        await until(lambda: is_online(alice, "alice"))
        with patch.object(Attendance, "leave", hang):
            await database["presence"].insert_one(of_the_dead("bob"))
            await database["processes"].insert_one({"_id": "dead", "seenAt": LONG_AGO})
            await asyncio.wait_for(sweeping.wait(), PATIENCE)
            before = await seen_at()

            async def is_renewed() -> bool:
                return bool(await seen_at() - before > lease / 2)

            try:
                await until(is_renewed)
                assert await is_online(alice, "alice")
            finally:
                may_go.set()
        await until(lambda: is_gone(database, "bob"))


async def is_online(person: Any, user_id: str) -> bool:
    return bool((await shown(person, user_id))[user_id]["online"])


async def is_gone(database: Database, user_id: str) -> bool:
    return not await is_somewhere(database, user_id)


@pytest.mark.parametrize(
    "left",
    [None, {"seenAt": LONG_AGO}, {"seenAt": LONG_AGO, "dead": True}],
    ids=["gone", "stale", "marked"],
)
async def test_who_comes_back_after_a_crash_is_told_online(
    serve: MakePeople, database: Database, left: dict[str, Any] | None
) -> None:
    person = await serve(plugins=[Presence()])
    alice, bob = person("alice"), person("bob")
    direct = await alice.direct("bob")
    await database["presence"].insert_one(of_the_dead("bob"))
    if left is not None:
        await database["processes"].insert_one({"_id": "dead", **left})

    async def is_noted() -> bool:
        noted = await database["presence"].find_one({"_id": "bob"})
        return noted is not None and set(noted["processes"]) - {"dead"} != set()

    async with alice.tab() as hers:
        assert await is_online(alice, "bob") is False
        async with bob.tab(), bob.tab():
            await until(is_noted)
            await bob.send(direct, "hi")
            frames = await hers.until(lambda frame: frame.event == "message.created")
            told = [(frame.event, frame.data["senderId"]) for frame in frames[:-1] if frame.event]
            assert told == [("presence.online", "bob")]
            assert await is_online(alice, "bob") is True


async def test_no_id_of_a_process_that_is_not_there_stays(
    serve: MakePeople, database: Database
) -> None:
    """A process stalls and is taken for dead; before it finds out, somebody comes to it."""
    plugins = [Presence(offline_delay_ms=50, lease_seconds=2.0) for _ in range(2)]
    one, two = await serve(plugins=plugins[:1]), await serve(plugins=plugins[1:])
    alice = one("alice")
    await alice.direct("carol")
    awake = asyncio.Event()
    renew = Attendance.renew

    async def stalled(self: Attendance) -> bool:
        if self is plugins[1]._attendance:
            await asyncio.wait_for(awake.wait(), PATIENCE)
        return await renew(self)

    async def living() -> set[str]:
        return {process["_id"] async for process in database["processes"].find()}

    async def is_alone() -> bool:
        return len(await living()) == 1

    async def is_back() -> bool:
        noted = await database["presence"].find_one({"_id": "carol"})
        return noted is not None and bool((await living()).intersection(noted["processes"]))

    async with alice.tab() as hers:
        with patch.object(Attendance, "renew", stalled):
            await fall_silent(database, plugins[1])
            await until(is_alone)
            async with two("carol").tab():
                assert await of(hers, "carol") is True
                awake.set()
                await until(is_back)
            await until(lambda: is_gone(database, "carol"))
            async with asyncio.timeout(PATIENCE):
                while await of(hers, "carol"):
                    pass


@pytest.mark.parametrize("name", ["renew", "sweep", "enter"])
async def test_what_nobody_expected_is_logged_and_tried_again(
    serve: MakePeople, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    done = getattr(Attendance, name)
    failed, again = asyncio.Event(), asyncio.Event()

    async def fails_once(*args: Any) -> Any:
        if not failed.is_set():
            failed.set()
            raise RuntimeError("a surprise")
        answer = await done(*args)
        again.set()
        return answer

    with patch.object(Attendance, name, fails_once):
        person = await serve(plugins=[Presence(lease_seconds=2.0)])
        alice = person("alice")
        async with asyncio.timeout(60), alice.tab():
            await again.wait()
            await until(lambda: is_online(alice, "alice"))
    ours = [record for record in caplog.records if record.name.startswith("chat_aio")]
    assert any("a surprise" in f"{record.getMessage()} {record.exc_text}" for record in ours)
