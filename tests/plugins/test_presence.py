"""Presence: several tabs, several processes, a grace period, a process that dies."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from chat_aio.plugins import Presence
from tests.conftest import Database, MakePeople
from tests.support.people import BASE, Tab

LONG_AGO = datetime.now(UTC) - timedelta(minutes=20)


async def of(tab: Tab, user_id: str) -> bool:
    """What is said next of somebody's presence."""
    while True:
        frame = await tab.next()
        if frame.event and frame.event.startswith("presence."):
            data = frame.data
            assert frame.id is None
            assert "conversationId" not in data
            assert data["ephemeral"] is True
            assert frame.event == f"presence.{'online' if data['payload']['online'] else 'offline'}"
            assert data["payload"]["lastSeenAt"]
            if data["senderId"] == user_id:
                return bool(data["payload"]["online"])


async def shown(person: Any, *user_ids: str) -> dict[str, Any]:
    answer = await person.get(f"/presence?userIds={','.join(user_ids)}")
    assert answer.status == 200, answer
    presence: dict[str, Any] = answer.json["presence"]
    return presence


async def fall_silent(database: Database, plugin: Presence) -> None:
    """As if a process that says nothing more had done so for longer than its lease."""
    row = {"_id": plugin._attendance.id}
    await database["processes"].update_one(row, {"$set": {"seenAt": LONG_AGO}})


async def silent_for(database: Database, plugin: Presence) -> float:
    """The seconds since the last sign of life of a process, as it is stored."""
    row = await database["processes"].find_one({"_id": plugin._attendance.id})
    assert row is not None
    silent: timedelta = (await database.command("hello"))["localTime"] - row["seenAt"]
    return silent.total_seconds()


def soon() -> Presence:
    return Presence(offline_delay_ms=50)


async def test_coming_and_going_is_told_to_who_shares_a_conversation(serve: MakePeople) -> None:
    one, two = await serve(plugins=[soon()]), await serve(plugins=[soon()])
    alice, bob, eve = one("alice"), two("bob"), one("eve")
    direct, group = await alice.direct("bob"), await alice.group("bob", "carol")
    strangers = await eve.group("frank")
    async with alice.tab() as hers, eve.tab() as apart:
        async with bob.tab() as first:
            assert await of(hers, "bob") is True
            async with two("bob").tab(), one("bob").tab():
                assert (await shown(alice, "bob"))["bob"]["online"] is True
            await alice.send(direct, "hi")
            await first.until(lambda frame: frame.event == "message.created")
        assert await of(hers, "bob") is False
        entry = (await shown(alice, "bob", "carol", "eve"))["bob"]
        assert (entry["online"], bool(entry["lastSeenAt"])) == (False, True)
        async with one("bob").tab():
            assert await of(hers, "bob") is True
        await one("frank").send(strangers, "nothing else was said here")
        assert await apart.bodies(1) == ["nothing else was said here"]
    assert group


async def test_whoever_has_an_answer_is_online_on_every_process(serve: MakePeople) -> None:
    """From the headers on, whichever process is asked."""
    one, two = await serve(plugins=[soon()]), await serve(plugins=[soon()])
    alice = two("alice")
    names = [f"user {number}" for number in range(20)]
    await alice.group(*names)
    for name in names:
        async with one(name).client.get(f"{BASE}/stream", headers={"X-User": name}) as answer:
            assert answer.status == 200
            assert (await shown(alice, name))[name]["online"] is True


async def test_a_reconnect_within_the_delay_is_not_told(serve: MakePeople) -> None:
    """On any process. The delay is longer than this test may take."""
    one, two = [await serve(plugins=[Presence(offline_delay_ms=600_000)]) for _ in range(2)]
    alice, bob = one("alice"), one("bob")
    direct = await alice.direct("bob")
    async with alice.tab() as hers:
        async with bob.tab():
            assert await of(hers, "bob") is True
        for place in (one, two, one):
            async with place("bob").tab() as tab:
                await alice.send(direct, "hi")
                await tab.until(lambda frame: frame.event == "message.created")
                frames = await hers.until(lambda frame: frame.event == "message.created")
            assert [frame.event for frame in frames if frame.event] == ["message.created"]


async def test_only_who_shares_a_conversation_is_shown(serve: MakePeople) -> None:
    person = await serve(plugins=[soon()])
    alice = person("alice")
    await alice.group("bob")
    async with person("bob").tab(), person("eve").tab():
        found = await shown(alice, "bob", "eve", "nobody", "alice", "bob")
        assert found == {
            "bob": {"online": True, "lastSeenAt": found["bob"]["lastSeenAt"]},
            "alice": {"online": False, "lastSeenAt": None},
        }
    assert await shown(alice) == {}
    assert (await alice.get("/presence")).json == {"presence": {}}
    fifty = ",".join(f"user{number}" for number in range(50))
    assert (await alice.get(f"/presence?userIds={fifty}")).status == 200
    refused = await alice.get(f"/presence?userIds={fifty},bob")
    assert (refused.status, refused.code) == (400, "INVALID_INPUT")


async def test_the_users_of_a_dead_process_are_offline(
    serve: MakePeople, database: Database
) -> None:
    """It is killed: it says nothing more, and another process finds out."""
    plugins = [Presence(offline_delay_ms=50, lease_seconds=2.0) for _ in range(2)]
    one, two = await serve(plugins=plugins[:1]), await serve(plugins=plugins[1:])
    alice = one("alice")
    await alice.direct("bob")
    await alice.direct("carol")
    async with alice.tab() as hers, two("carol").tab(), one("carol").tab(), two("bob").tab():
        came = [await hers.until(lambda frame: frame.event == "presence.online") for _ in range(2)]
        assert {frames[-1].data["senderId"] for frames in came} == {"bob", "carol"}
        for task in plugins[1]._tasks:
            task.cancel()
        await fall_silent(database, plugins[1])
        assert await of(hers, "bob") is False
        found = await shown(alice, "bob", "carol")
        assert [found[name]["online"] for name in ("bob", "carol")] == [False, True]
    assert await database["processes"].count_documents({}) == 1


async def test_a_process_that_was_taken_for_dead_begins_anew(
    serve: MakePeople, database: Database
) -> None:
    person = await serve(plugins=[Presence(offline_delay_ms=50, lease_seconds=2.0)])
    alice = person("alice")
    await alice.direct("bob")

    async def is_back(left: list[str]) -> bool:
        now = await database["presence"].find_one({"_id": "bob"})
        online: bool = (await shown(alice, "bob"))["bob"]["online"]
        return online and now is not None and set(left).isdisjoint(now["processes"])

    async with alice.tab() as hers, person("bob").tab():
        assert await of(hers, "bob") is True
        stored = await database["presence"].find_one({"_id": "bob"})
        assert stored is not None
        await database["processes"].update_one({}, {"$set": {"dead": True}})
        async with asyncio.timeout(60):
            while not await is_back(stored["processes"]):  # noqa: ASYNC110
                await asyncio.sleep(0.02)


async def test_a_closed_chat_leaves_its_users_to_the_others(
    serve: MakePeople, database: Database
) -> None:
    """Who comes back to another process within the delay was never away."""
    # The delay is longer than this test may take.
    plugins = [Presence(offline_delay_ms=300_000, lease_seconds=600.0) for _ in range(2)]
    one, two = await serve(plugins=plugins[:1]), await serve(plugins=plugins[1:])
    alice = one("alice")
    for name in ("bob", "carol"):
        await alice.direct(name)
    async with alice.tab() as hers, two("bob").tab() as tab, two("carol").tab():
        for _ in range(2):
            await hers.until(lambda frame: frame.event == "presence.online")
        closing = asyncio.create_task(two("bob").chat.close())
        await tab.end()
        async with one("bob").tab():
            await closing
            assert 300 <= await silent_for(database, plugins[1]) < 600
            await plugins[0]._attendance.sweep()
            assert (await shown(alice, "carol"))["carol"]["online"] is True
            await fall_silent(database, plugins[1])
            await plugins[0]._attendance.sweep()
            frames = await hers.until(lambda frame: frame.event == "presence.offline")
            assert [frame.data["senderId"] for frame in frames if frame.event] == ["carol"]


async def test_many_come_and_go_and_all_agree_in_the_end(
    serve: MakePeople, database: Database
) -> None:
    """Tabs of one user on two processes, opened and closed at once: the last word is right."""
    places = [await serve(plugins=[Presence(offline_delay_ms=1)]) for _ in range(2)]
    alice = places[0]("alice")
    await alice.direct("bob")

    async def visit(number: int) -> None:
        for turn in range(6):
            async with places[(number + turn) % 2]("bob").tab():
                await asyncio.sleep(0.003 * number)

    async with alice.tab() as hers:
        last: list[bool] = []

        async def listen() -> None:
            while True:
                last.append(await of(hers, "bob"))

        listening = asyncio.create_task(listen())
        await asyncio.gather(*map(visit, range(6)))
        async with asyncio.timeout(60):
            while last[-1:] != [False] or await is_somewhere(database, "bob"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        listening.cancel()
        assert all(before != after for before, after in pairwise(last))


async def is_somewhere(database: Database, user_id: str) -> bool:
    stored = await database["presence"].find_one({"_id": user_id})
    return stored is None or bool(stored["processes"])
