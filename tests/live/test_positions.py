"""There is always a position; and one that cannot be resumed from is a reset, never silence."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chat_aio.client import ChatClient, MessageEvent
from chat_aio.store.database import Database as Store
from chat_aio.store.maintenance import restored
from tests.conftest import Database, MakePeople
from tests.support.ageing import age
from tests.support.people import BASE, PATIENCE, Person, Tab


async def position_of(person: Person) -> str:
    """The position that a stream without any leaves its client at."""
    async with person.tab() as tab:
        frame = await tab.next()
        assert frame.event is None
        assert tab.last_event_id
        return tab.last_event_id


async def reset_of(tab: Tab) -> str:
    reason: str = (await tab.event("stream.reset"))["reason"]
    await tab.next()
    assert tab.last_event_id, "a position stands behind a reset"
    return reason


@pytest.mark.parametrize("company", ["nobody", "nothing said"])
@pytest.mark.parametrize("process", ["the same", "another"])
async def test_the_first_message_is_not_missed(
    person: Any, serve: MakePeople, company: str, process: str
) -> None:
    """Of a user whose conversations hold no message, or who has none, when the stream is cut."""
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob") if company == "nothing said" else None
    position = await position_of(bob)
    assert position.startswith("::")
    conversation_id = conversation_id or await alice.direct("bob")
    await alice.send(conversation_id, "first")
    if process == "another":
        bob = (await serve(replay_buffer_seconds=0))("bob")
    async with bob.tab(position) as tab:
        assert await tab.bodies(1) == ["first"]
        await tab.until(lambda frame: (frame.event, frame.id) == (None, f"{conversation_id}:1"))


async def test_a_moment_that_nothing_followed_gives_way_to_a_later_one(person: Any) -> None:
    bob = person("bob")
    earlier = await position_of(bob)
    async with bob.tab(earlier) as tab:
        later = (await tab.next()).id
    assert later is not None
    assert int(later.removeprefix("::")) >= int(earlier.removeprefix("::"))


async def test_a_position_ahead_of_the_head_is_a_reset(person: Any, serve: MakePeople) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "x")
    for reader in (bob, (await serve(replay_buffer_seconds=0))("bob")):
        async with reader.tab(f"{conversation_id}:2") as tab:
            assert await reset_of(tab) == "position_unknown"
            assert tab.last_event_id == f"{conversation_id}:1"


@pytest.mark.parametrize("position", ["nobody:3", "::" + "9" * 18, "::0", "::x", ":5", "::"])
async def test_what_names_nothing_is_no_error_and_replays_nothing(
    person: Any, position: str
) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "x")
    async with bob.tab(position) as tab:
        frame = await tab.next()
        assert (frame.event, frame.id) == (None, f"{conversation_id}:1")


async def test_a_moment_of_the_future_is_a_reset(person: Any) -> None:
    ahead = datetime.now(UTC) + timedelta(hours=1)
    async with person("bob").tab(f"::{int(ahead.timestamp() * 1000)}") as tab:
        assert await reset_of(tab) == "position_unknown"


async def test_positions_from_before_a_restore_are_resets(
    person: Any, serve: MakePeople, database: Database
) -> None:
    """Those that name what is gone with it as well. A later moment is one like any other."""
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "before")
    moment = await position_of(person("carol"))
    restored_at = (await alice.send(conversation_id, "the last before"))["createdAt"]
    at = datetime.fromisoformat(restored_at) + timedelta(milliseconds=1)
    await database["settings"].insert_one({"_id": "restored", "at": at})
    later = await serve(replay_buffer_seconds=0)
    for position in (f"{conversation_id}:1", "gone:7", moment):
        async with later("bob").tab(position) as tab:
            assert await reset_of(tab) == "position_unknown", position
    async with asyncio.timeout(PATIENCE):
        while (sent := await alice.send(conversation_id, "after"))["createdAt"] <= restored_at:
            pass
    fresh = await serve(replay_buffer_seconds=0)
    async with fresh("bob").tab(f"{conversation_id}:{sent['seq']}") as tab:
        assert await reset_of(tab) == "position_unknown", "the lost data may have had that number"
    async with fresh("bob").tab(f"::{int(at.timestamp() * 1000) + 1}") as tab:
        await tab.until(lambda frame: frame.id == f"{conversation_id}:{sent['seq']}")
    long_ago = {"$set": {"at": at - timedelta(days=8)}}
    await database["settings"].update_one({"_id": "restored"}, long_ago)
    async with bob.tab("gone:7") as tab:
        assert (await tab.next()).event is None


@pytest.mark.parametrize("noted", [True, False])
async def test_numbers_that_are_given_again(
    person: Any, serve: MakePeople, database: Database, noted: bool
) -> None:
    """A client has seen messages that a restored backup does not have, and comes back when others
    have their numbers. Where nobody has noted the restore, it silently misses some of these."""
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for body in ("kept", "lost", "lost, too"):
        await alice.send(conversation_id, body)
    seen = f"{conversation_id}:3"
    await database["messages"].delete_many({"seq": {"$gt": 1}})
    backup = {"seq": 1, "counted": 1, "sent": {"alice": 1}}
    await database["counters"].update_one({"_id": conversation_id}, {"$set": backup})
    if noted:
        await restored.note(Store(database))
    later = await serve(replay_buffer_seconds=0)
    for body in ("new", "new, too", "newest"):
        await later("alice").send(conversation_id, body)
    fresh = await serve(replay_buffer_seconds=0)
    async with fresh("bob").tab(seen) as tab:
        if noted:
            assert await reset_of(tab) == "position_unknown"
        else:
            frames = await tab.until(lambda frame: frame.event is None)
            assert "new" not in [frame.data["message"]["body"] for frame in frames if frame.data]


async def test_a_position_that_the_ring_holds_may_be_from_before_a_restore(
    person: Any, database: Database
) -> None:
    """The process has told it since: of another message by now, with the same seq."""
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    async with bob.tab() as tab:
        sent = await alice.send(conversation_id, "held")
        await tab.bodies(1)
    at = datetime.fromisoformat(sent["createdAt"]) + timedelta(milliseconds=1)
    await database["settings"].insert_one({"_id": "restored", "at": at})
    async with bob.tab(f"{conversation_id}:1") as tab:
        assert await reset_of(tab) == "position_unknown"


async def test_the_python_client_keeps_a_position_before_any_message(person: Any) -> None:
    alice, bob = person("alice"), person("bob")
    base_url = str(bob.client.make_url(BASE))
    async with ChatClient(base_url, headers={"X-User": "bob"}) as client:
        async with client.stream() as stream:
            async with asyncio.timeout(PATIENCE):
                while stream.last_event_id is None:
                    await stream._read()
            position = stream.last_event_id
        conversation_id = await alice.direct("bob")
        await alice.send(conversation_id, "first")
        async with client.stream(position) as stream:
            event = await anext(stream)
            assert isinstance(event, MessageEvent)
            assert event.message.body == "first"


@pytest.mark.parametrize("cut_behind", ["message.created", "message.updated"])
async def test_a_replay_that_is_cut_loses_nothing(
    person: Any, serve: MakePeople, database: Database, cut_behind: str
) -> None:
    """A replay from storage is in the order of times; of two messages the later one by its time may
    have been told first. Cut between an event and the position behind it, a client comes back with
    the event's own id, perhaps to a process that remembers the order in which they were told."""
    alice, bob = person("alice"), person("bob")
    group, other = await alice.group("bob"), await alice.direct("bob")
    await alice.send(group, "seen")
    await age(database)
    ahead = {"$set": {"activityAt": datetime.now(UTC) + timedelta(seconds=30)}}
    await database["counters"].update_one({"_id": other}, ahead)
    await alice.send(other, "later by its time")
    early = await alice.send(group, "told second")
    if cut_behind == "message.updated":
        await alice.edit(early["id"], "told second, edited")
    forgetful = (await serve(replay_buffer_seconds=0, replay_buffer_bytes=1))("bob")
    async with forgetful.tab(f"{group}:1") as tab:
        frames = await tab.until(lambda frame: frame.event == cut_behind)
        assert tab.last_event_id == f"{group}:2"
        assert "later" not in str(frames)
    async with bob.tab(tab.last_event_id) as tab:
        assert "later by its time" in await tab.bodies(1)
