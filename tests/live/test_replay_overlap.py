"""Replays from storage beside all else that goes on: older states are not told behind them, and
what is too much for one client costs the others nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio.live.replay.from_storage import StorageReplays
from chat_aio.live.replay.missed_events import MissedEvents, ReplayRequest
from chat_aio.live.replay.replay import Replay
from chat_aio.store import replay_queries
from tests.conftest import Database, MakePeople
from tests.support.ageing import age
from tests.support.people import Person


@pytest.mark.parametrize("where", ["list_changed", "list_created"])
@pytest.mark.parametrize("deed", ["deleted", "edited"])
async def test_a_reaction_shows_nothing_older_than_the_replay(
    person: Any, serve: MakePeople, database: Database, deed: str, where: str
) -> None:
    """Both happen while the replay is read, and the reaction waits to be told behind it."""
    alice: Person = person("alice")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "seen")
    changed = await alice.send(conversation_id, "secret")
    kept = await alice.send(conversation_id, "kept")
    await age(database)
    later = await serve(replay_buffer_seconds=0)
    bob = later("bob")
    read = getattr(replay_queries, where)

    async def meanwhile(*args: Any, **options: Any) -> Any:
        await alice.react(changed["id"], "+1")
        await alice.react(kept["id"], "+1")
        await bob.told_all()
        if deed == "deleted":
            await alice.delete(changed["id"])
        else:
            await alice.edit(changed["id"], "harmless")
        await bob.told_all()
        return await read(*args, **options)

    with patch.object(replay_queries, where, meanwhile):
        async with bob.tab(f"{conversation_id}:1") as tab:
            await alice.send(conversation_id, "the end")
            frames = await tab.until(lambda frame: "the end" in str(frame.data))
    now = "" if deed == "deleted" else "harmless"
    told = [(str(frame.event), frame.data["message"]) for frame in frames if frame.event]
    assert {message["body"] for _, message in told if message["id"] == changed["id"]} == {now}
    of_kept = [name for name, message in told if message["id"] == kept["id"]]
    assert of_kept == ["message.created", "reaction.added"]


async def told_during(
    bob: Person, alice: Person, place: str, meanwhile: Callable[[], Awaitable[None]]
) -> list[tuple[str, str]]:
    """The message events of somebody who comes back, while whose replay is read something happens;
    the last one is sent when the stream is open."""
    read = replay_queries.list_changed

    async def late(*args: Any, **options: Any) -> Any:
        await meanwhile()
        await bob.told_all()
        return await read(*args, **options)

    with patch.object(replay_queries, "list_changed", late):
        async with bob.tab(f"{place}:1") as tab:
            await alice.send(place, "the end")
            frames = await tab.until(lambda frame: "the end" in str(frame.data))
    return [(frame.event, frame.data["message"]["body"]) for frame in frames if frame.event]


async def test_what_the_replay_shows_as_deleted_is_not_told_as_new(
    person: Any, serve: MakePeople, database: Database
) -> None:
    """It is sent and deleted while the replay is read: its text would stay for good."""
    alice: Person = person("alice")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "seen")
    await age(database)
    bob = (await serve(replay_buffer_seconds=0))("bob")

    async def meanwhile() -> None:
        sent = await alice.send(conversation_id, "secret")
        await bob.told_all()
        await alice.delete(sent["id"])

    told = await told_during(bob, alice, conversation_id, meanwhile)
    assert told == [("message.deleted", ""), ("message.created", "the end")]


async def test_a_message_of_a_silent_conversation_is_told_as_new(
    person: Any, serve: MakePeople, database: Database
) -> None:
    """It is sent and edited after the replay has seen where anybody has spoken."""
    alice: Person = person("alice")
    seen, silent = await alice.direct("bob"), await alice.group("bob")
    await alice.send(seen, "seen")
    await age(database)
    bob = (await serve(replay_buffer_seconds=0))("bob")

    async def meanwhile() -> None:
        sent = await alice.send(silent, "draft")
        await alice.edit(sent["id"], "final")

    told = await told_during(bob, alice, seen, meanwhile)
    assert ("message.created", "final") in told
    assert told[-1] == ("message.created", "the end")


def wish(user_id: str, ids: Iterable[str], since: dict[str, Any]) -> ReplayRequest:
    return ReplayRequest(
        user_id=user_id,
        ids=frozenset(ids),
        since=(since["conversationId"], since["seq"]),
        at=datetime.fromisoformat(since["createdAt"]),
        began=datetime.fromisoformat(since["createdAt"]),
        newest=None,
    )


def told_by(replay: Replay) -> str:
    return b"".join(frame.plain for frame in replay.frames).decode()


async def granted(past: StorageReplays, wishes: Iterable[ReplayRequest]) -> list[str]:
    """What is told to those who come back at once: their wishes go in one round."""
    return [told_by(result) for result in await asyncio.gather(*map(past.replay, wishes))]


async def test_what_is_too_much_for_many_lets_others_have_their_turn(
    person: Any, serve: MakePeople
) -> None:
    """Of what is too much for a client no more is put together than shows that it is."""
    users = [f"user {number}" for number in range(12)]
    alice: Person = person("alice")
    groups = [await alice.group(*users) for _ in range(2)]
    seen = await alice.send(groups[0], "seen")
    for number in range(6):
        for group in groups:
            await alice.send(group, str(number))
    later = await serve(replay_buffer_seconds=0, replay_limit=3)
    turns = 0
    looks: list[tuple[int, int]] = []
    missed_by = MissedEvents.missed_by

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def noted(self: MissedEvents, *args: Any, **options: Any) -> Any:
        found = missed_by(self, *args, **options)
        looks.append((turns, len(found)))
        return found

    others = asyncio.create_task(take_turns())
    with patch.object(MissedEvents, "missed_by", noted):
        past = later("alice").chat._live._resuming._past
        told = await granted(past, [wish(user, groups, seen) for user in users])
    others.cancel()
    assert all("too_many_missed" in line for line in told)
    assert [found for _, found in looks] == [4] * len(users)
    assert len({turn for turn, _ in looks}) == len(users)


async def test_more_conversations_than_may_be_told_are_not_read(
    person: Any, serve: MakePeople
) -> None:
    alice: Person = person("alice")
    many, theirs = [await alice.group("bob") for _ in range(4)], await alice.group("eve")
    seen = [await alice.send(conversation_id, "seen") for conversation_id in (many[0], theirs)]
    for conversation_id in (*many, theirs):
        await alice.send(conversation_id, "missed")
    later = await serve(replay_buffer_seconds=0, replay_limit=3)
    asked: set[str] = set()
    read = {name: getattr(replay_queries, name) for name in ("list_created", "list_changed")}

    def noting(name: str) -> Any:
        def noted(database: Any, ids: Iterable[str], **options: Any) -> Any:
            asked.update(ids)
            return read[name](database, ids, **options)

        return patch.object(replay_queries, name, noted)

    with noting("list_created"), noting("list_changed"):
        past = later("alice").chat._live._resuming._past
        wishes = [wish("bob", many, seen[0]), wish("eve", [theirs], seen[1])]
        bobs, eves = await granted(past, wishes)
    assert "too_many_missed" in bobs
    assert "message" not in bobs
    assert '"body":"missed"' in eves
    assert asked == {theirs}
