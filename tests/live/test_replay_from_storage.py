"""Replays of what the process does not remember: its buffer is empty, as after a restart."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio.store import replay_queries
from chat_aio.store.database import Database as Kept
from chat_aio.store.time_slices import Slices
from tests.conftest import Database, MakePeople
from tests.support.ageing import age
from tests.support.membership import change
from tests.support.people import Frame, Person, Tab
from tests.support.saboteurs import prove

RETURNING = 120


@asynccontextmanager
async def returning(
    serve: MakePeople, user_id: str, last_event_id: str, **options: Any
) -> AsyncIterator[Tab]:
    """A stream of a process that was not there before."""
    later = await serve(replay_buffer_seconds=0, **options)
    async with later(user_id).tab(last_event_id) as tab:
        yield tab


async def told_until(tab: Tab, position: str) -> list[Frame]:
    """The events up to the frame that names this position; before it, each is followed by where
    the client began."""
    frames = await tab.until(lambda frame: frame.event is None and frame.id == position)
    return [frame for frame in frames if frame.event]


def short(frames: list[Frame]) -> list[tuple[str, str]]:
    """What happened, and what it is about."""
    return [(str(frame.event).partition(".")[2], frame.data["message"]["body"]) for frame in frames]


async def test_others_are_served_while_a_replay_is_made(
    person: Any, serve: MakePeople, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Encoding what many have missed is work: between the messages, others have their turn."""
    alice = person("alice")
    group = await alice.group("bob")
    for number in range(13):
        sent = await alice.send(group, f"message {number}")
    await alice.edit(sent["id"], "edited")
    turns: list[Slices] = []
    gave_way = Slices.give_way

    async def counted(slices: Slices) -> None:
        turns.append(slices)
        await gave_way(slices)

    monkeypatch.setattr(Slices, "give_way", counted)
    async with returning(serve, "bob", f"{group}:1") as tab:
        assert len(await told_until(tab, f"{group}:13")) == 13
    (slices,) = {id(turn) for turn in turns if turns.count(turn) > 4}
    assert [id(turn) for turn in turns].count(slices) == 14


async def test_replay_covers_all_conversations(
    person: Any, serve: MakePeople, database: Database
) -> None:
    alice, bob = person("alice"), person("bob")
    one, two, quiet = [await alice.group("bob", name=name) for name in ("one", "two", "quiet")]
    stranger = await alice.group()
    await alice.send(two, "long ago")
    await alice.send(quiet, "long ago as well")
    await age(database)
    await alice.send(one, "seen")
    await age(database)
    await alice.send(two, "missed 1")
    await alice.send(stranger, "secret")
    await alice.send(one, "missed 2")
    reply = await bob.send(two, "missed 3")
    async with returning(serve, "bob", f"{one}:1") as tab:
        frames = await tab.until(lambda frame: frame.id == f"{two}:3" and frame.event is None)
        assert short([frame for frame in frames if frame.event]) == [
            *(("created", "missed 1"), ("created", "missed 2"), ("created", "missed 3"))
        ]
        assert frames[4].data["message"] == reply
        assert [frame.id for frame in frames[1:-1:2]] == [f"{one}:1"] * 3
        await alice.send(one, "live")
        assert await tab.bodies(1) == ["live"]


async def test_edits_and_deletes_are_told_at_any_age(
    person: Any, serve: MakePeople, database: Database
) -> None:
    alice = person("alice")
    one, two = await alice.group("bob"), await alice.group("bob")
    sent = [await alice.send(two, f"old {n}") for n in range(3)]
    await alice.edit(sent[2]["id"], "edited before")
    await age(database)
    await alice.send(one, "seen")
    await age(database)
    await alice.edit(sent[0]["id"], "edited")
    await alice.delete(sent[1]["id"])
    new = await alice.send(one, "new")
    await alice.edit(new["id"], "new, edited")
    async with returning(serve, "bob", f"{one}:1") as tab:
        assert short(await told_until(tab, f"{one}:2")) == [
            ("updated", "edited"),
            ("deleted", ""),
            ("created", "new, edited"),
            ("updated", "new, edited"),
        ]


async def test_an_id_that_rewinds_loses_nothing(
    person: Any, serve: MakePeople, database: Database
) -> None:
    """Seen c:5; c:6, c:7 and an edit of c:5 were missed; back with c:5."""
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    sent = [await alice.send(conversation_id, str(n)) for n in range(1, 6)]
    await age(database)
    await alice.send(conversation_id, "6")
    await alice.edit(sent[4]["id"], "5, edited")
    await alice.send(conversation_id, "7")
    async with returning(serve, "bob", f"{conversation_id}:5") as tab:
        told = short(await told_until(tab, f"{conversation_id}:7"))
        assert told == [("created", "6"), ("updated", "5, edited"), ("created", "7")]


async def test_a_cut_replay_starts_over(person: Any, serve: MakePeople, database: Database) -> None:
    alice = person("alice")
    one, two = await alice.group("bob"), await alice.group("bob")
    await alice.send(one, "seen")
    await age(database)
    for conversation_id in (two, one, two):
        await alice.send(conversation_id, "missed")
    async with returning(serve, "bob", f"{one}:1") as tab:
        await tab.bodies(2)
        await tab.next()
        position = tab.last_event_id
    assert position == f"{one}:1"
    async with returning(serve, "bob", position) as tab:
        assert await tab.bodies(3) == ["missed"] * 3


async def test_the_minute_before_is_told_again_elsewhere(
    person: Any, serve: MakePeople, database: Database
) -> None:
    """Clocks may differ by a minute: what is that new may not have been told yet."""
    alice = person("alice")
    one, two = await alice.group("bob"), await alice.group("bob")
    await alice.send(two, "long before")
    await age(database)
    await alice.send(two, "just before")
    await alice.send(one, "before, in the same")
    await alice.send(one, "seen")
    async with returning(serve, "bob", f"{one}:2") as tab:
        assert await tab.bodies(1) == ["just before"]
        assert (await tab.next()).event is None


async def test_only_what_was_said_since_one_joined(
    person: Any, serve: MakePeople, database: Database
) -> None:
    alice = person("alice")
    one, two = await alice.group("bob"), await alice.group()
    await alice.send(one, "seen")
    await age(database)
    await alice.send(two, "before bob")
    await age(database)
    await change(alice.chat, two, add=("bob",))
    await alice.send(two, "with bob")
    async with returning(serve, "bob", f"{one}:1") as tab:
        assert short(await told_until(tab, f"{two}:2")) == [("created", "with bob")]


async def test_a_position_of_a_conversation_one_is_not_in(
    person: Any, serve: MakePeople, database: Database
) -> None:
    alice = person("alice")
    theirs, own = await alice.group("carol"), await alice.direct("bob")
    await alice.send(theirs, "position")
    await age(database)
    await alice.send(theirs, "secret")
    await alice.send(own, "new")
    async with returning(serve, "bob", f"{theirs}:1") as tab:
        assert short(await told_until(tab, f"{own}:1")) == [("created", "new")]
    await age(database)
    async with returning(serve, "bob", f"{own}:1") as tab:
        assert await tab.next() == Frame(None, None, f"{own}:1")
        await alice.send(own, "live")
        assert await tab.bodies(1) == ["live"]


async def test_a_position_without_a_message_of_ones_own(
    person: Any, serve: MakePeople, database: Database
) -> None:
    """The client's own position is named on: nothing newer is known of its user's."""
    alice = person("alice")
    theirs = await alice.group("carol")
    await alice.send(theirs, "position")
    async with returning(serve, "bob", f"{theirs}:1") as tab:
        assert await tab.next() == Frame(None, None, f"{theirs}:1")


async def test_a_row_that_cannot_be_told_is_passed_over(
    person: Any, serve: MakePeople, database: Database
) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "seen")
    sent = await alice.send(conversation_id, "missed")
    stored = await database["messages"].find_one({"_id": sent["id"]})
    assert stored is not None
    await database["messages"].insert_one(
        {**stored, "_id": "broken", "seq": "x"}, bypass_document_validation=True
    )
    async with returning(serve, "bob", f"{conversation_id}:1") as tab:
        assert short(await told_until(tab, f"{conversation_id}:2")) == [("created", "missed")]


async def test_what_happens_meanwhile_is_told_once(
    person: Any, serve: MakePeople, database: Database
) -> None:
    """Written while the replay is read: it is in the replay, or comes live, and never older than
    what was told of it before."""
    alice: Person = person("alice")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "seen")
    old = await alice.send(conversation_id, "old")
    await age(database)
    later = await serve(replay_buffer_seconds=0)
    bob = later("bob")
    read = replay_queries.list_created

    async def meanwhile(*args: Any, **options: Any) -> Any:
        await alice.send(conversation_id, "in between")
        await alice.edit(old["id"], "old, edited")
        await bob.told_all()
        found = await read(*args, **options)
        await alice.send(conversation_id, "afterwards")
        await bob.told_all()
        return found

    with patch.object(replay_queries, "list_created", meanwhile):
        async with bob.tab(f"{conversation_id}:1") as tab:
            told = [await tab.next() for _ in range(8)]
    assert short([event for event in told if event.event]) == [
        ("created", "old, edited"),
        ("created", "in between"),
        ("updated", "old, edited"),
        ("created", "afterwards"),
    ]


async def test_who_is_removed_meanwhile_is_told_no_more(
    person: Any, serve: MakePeople, database: Database
) -> None:
    async def scenario() -> None:
        alice: Person = person("alice")
        group = await alice.group("bob")
        await alice.send(group, "seen")
        await age(database)
        later = await serve(replay_buffer_seconds=0)
        read = replay_queries.list_created

        async def meanwhile(*args: Any, **options: Any) -> Any:
            await change(alice.chat, group, remove=("bob",))
            await alice.send(group, "not for bob")
            return await read(*args, **options)

        with patch.object(replay_queries, "list_created", meanwhile):
            async with later("bob").tab(f"{group}:1") as tab:
                told = await tab.until(lambda frame: frame.event == "participant.removed")
        assert "not for bob" not in str(told)

    async def as_it_was(*args: Any) -> Any:
        found = await members(*args)
        for conversation in found:
            conversation["participants"].append(
                {**conversation["participants"][0], "userId": "bob"}
            )
        return found

    members = replay_queries.members_of
    await prove(scenario, sabotage=patch.object(replay_queries, "members_of", as_it_was))


async def test_many_who_return_at_once_share_their_reads(
    person: Any, serve: MakePeople, database: Database
) -> None:
    """At most two reads of the database for each stream, that of its conversations among them."""
    users = [f"user {number}" for number in range(RETURNING)]
    alice: Person = person("alice")
    groups = [await alice.group(*users) for _ in range(5)]
    await alice.send(groups[0], "seen")
    await age(database)
    for number in range(20):
        await alice.send(groups[number % 5], f"missed {number}")
    later = await serve(replay_buffer_seconds=0)
    kept = later("anyone").chat._database
    reads = 0
    read = Kept.read

    async def counted(self: Kept, call: Any, **options: Any) -> Any:
        nonlocal reads
        reads += self is kept
        return await read(self, call, **options)

    async def come_back(user_id: str) -> list[str]:
        async with later(user_id).tab(f"{groups[0]}:1") as tab:
            return sorted(await tab.bodies(20))

    with patch.object(Kept, "read", counted):
        told = await asyncio.gather(*map(come_back, users))
    assert told == [sorted(f"missed {number}" for number in range(20))] * RETURNING
    assert RETURNING <= reads <= 2 * RETURNING
