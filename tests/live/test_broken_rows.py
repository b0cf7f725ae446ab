"""Rows of other programs, not as they must be: everybody else is told all there is to tell."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from chat_aio.live.ephemeral import ephemeral_deliveries_from
from tests.conftest import Database, MakePeople

LONG_AGO = datetime(2026, 1, 31, 12, tzinfo=UTC)
NOTE: dict[str, Any] = {
    "name": "typing.started",
    "data": "{}",
    "conversationIds": [],
    "needsExchange": False,
    "forModerators": False,
    "userIds": ["bob"],
    "but": None,
}
NO_IDS: list[Any] = [None, 7, [None], [{"a": 1}], [[]]]
NOTES: list[dict[str, Any]] = [
    *({**NOTE, "conversationIds": no_id} for no_id in NO_IDS),
    *({**NOTE, "userIds": no_id} for no_id in NO_IDS),
    *({key: value for key, value in NOTE.items() if key != name} for name in NOTE),
    *({**NOTE, name: {"a": 1}} for name in NOTE),
]


def broken_signals() -> Iterator[dict[str, Any]]:
    """Of now: old ones are passed over anyway."""
    now = datetime.now(UTC)
    yield from ({}, {"kind": "notes"}, {"kind": "notes", "at": now})
    yield {"kind": "notes", "at": None, "notes": [NOTE]}
    yield {"kind": {"a": 1}, "at": now, "notes": [NOTE]}
    for name, data in ((7, {}), ("a name", None), ("a name", [7])):
        yield {"kind": "plugins", "at": now, "name": name, "data": data}
    yield {"kind": "plugins", "at": now}
    for notes in (None, 7, [None], ["note"], *([note] for note in NOTES)):
        yield {"kind": "notes", "at": now, "notes": notes}


CHANGE: dict[str, Any] = {
    "id": "an id",
    "at": LONG_AGO,
    "kind": "message.updated",
    "actorId": "alice",
}
CHANGES: list[Any] = [
    *(None, 7, "text", [], {}),
    *({key: value for key, value in CHANGE.items() if key != name} for name in CHANGE),
    *({**CHANGE, name: {"a": 1}} for name in CHANGE),
]
MOVES: list[Any] = [
    {**CHANGE, "kind": "participant.added", name: users}
    for name in ("addedUserIds", "removedUserIds", "affectedUserIds")
    for users in NO_IDS
]


def test_the_sender_of_an_ephemeral_event_is_an_id() -> None:
    """Else the next look-up of who is kept apart from whom fails, for the whole batch."""
    now = datetime.now(UTC)
    for but in (7, {"a": 1}, ["bob"]):
        signal = {"kind": "notes", "at": now, "notes": [{**NOTE, "but": but}]}
        with pytest.raises(ValueError):
            list(ephemeral_deliveries_from(signal, now=now))


async def test_signals_that_cannot_be_read(serve: MakePeople, database: Database) -> None:
    person = await serve()
    alice = person("alice")
    group = await alice.group("bob")
    await alice.told_all()
    async with person("bob").tab() as tab:
        await database["signals"].insert_many(
            [
                {**broken_signal, "_id": f"broken {number}"}
                for number, broken_signal in enumerate(broken_signals())
            ],
            bypass_document_validation=True,
        )
        await alice.send(group, "hi")
        told = await tab.until(lambda frame: frame.event == "message.created")
        assert told[-1].data["message"]["body"] == "hi"


@pytest.mark.parametrize("collection", ["messages", "conversations"])
async def test_changes_that_cannot_be_read(
    serve: MakePeople, database: Database, collection: str
) -> None:
    person = await serve()
    alice = person("alice")
    group = await alice.group("bob")
    sent = await alice.send(group, "first")
    broken = sent["id"] if collection == "messages" else group
    await alice.told_all()
    async with person("bob").tab() as tab:
        for change in [*CHANGES, *(MOVES if collection == "conversations" else ())]:
            await database[collection].update_one(
                {"_id": broken}, {"$set": {"change": change}}, bypass_document_validation=True
            )
        await alice.send(group, "hi")
        told = await tab.until(lambda frame: frame.event == "message.created")
        assert told[-1].data["message"]["body"] == "hi"


def broken_from(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Rows like this one that cannot be told, as if they had been changed just now."""
    row = {**row, "changedAt": datetime.now(UTC)}
    lacking = ("deletedAt", "seq", "createdAt", "body", "senderId", "reactions", "metadata")
    for number, name in enumerate(lacking):
        broken = {**row, "_id": f"without {name}", "seq": 100 + number}
        del broken[name]
        yield broken
    for number, name in enumerate(("createdAt", "deletedAt")):
        yield {**row, "_id": f"wrong {name}", "seq": 200 + number, name: "noon"}


async def test_messages_that_cannot_be_read_among_what_was_missed(
    person: Any, serve: MakePeople, database: Database
) -> None:
    alice = person("alice")
    groups = {"bob": await alice.group("bob"), "eve": await alice.group("eve")}
    for group in groups.values():
        await alice.send(group, "seen")
        await alice.send(group, "missed")
    stored = await database["messages"].find_one({"conversationId": groups["bob"], "seq": 2})
    assert stored is not None
    await database["messages"].insert_many(
        list(broken_from(stored)), bypass_document_validation=True
    )
    later = await serve(replay_buffer_seconds=0)

    async def told(user_id: str) -> list[str]:
        async with later(user_id).tab(f"{groups[user_id]}:1") as tab:
            await alice.send(groups[user_id], "the end")
            return await tab.bodies(2)

    assert await asyncio.gather(*map(told, groups)) == [["missed", "the end"]] * 2
