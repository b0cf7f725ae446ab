"""Events of messages that change: what is told live, and what whoever comes back is told."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.conftest import Database
from tests.support.membership import change
from tests.support.people import Frame, Person
from tests.support.verify import verify_action

People = Callable[[str], Person]


async def test_verify_changes_of_messages(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob", "carol")
    first = await bob.send(group, "first")
    reply = await alice.send(group, "reply", replyToMessageId=first["id"])
    root: dict[str, Any] = {"threadRootMessageId": first["id"]}
    to_main: dict[str, Any] = {**root, "alsoSendToMain": True}
    one, two = first["id"], reply["id"]
    for act, event in (
        (lambda: bob.send(group, "yes", replyToMessageId=two), "message.created"),
        (lambda: bob.edit(one, "edited", mentions=["carol"]), "message.updated"),
        (lambda: alice.edit(two, "x" * 200), "message.updated"),
        (lambda: bob.send(group, "in the thread", **root), "message.created"),
        (lambda: bob.send(group, "in both", **to_main), "message.created"),
        (lambda: alice.react(one, "👍"), "reaction.added"),
        (lambda: bob.react(two, "👍"), "reaction.added"),
        (lambda: alice.unreact(one, "👍"), "reaction.removed"),
        (lambda: bob.delete(one), "message.deleted"),
        (lambda: bob.react(one, "🕯"), "reaction.added"),
    ):
        await verify_action(alice, act, event)
    path = f"/messages/{reply['id']}/forward"
    given = {"conversationId": await alice.direct("bob")}
    await verify_action(alice, lambda: bob.post(path, given), "message.created")


async def test_frames_of_changes(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    message = await alice.send(conversation_id, "hi")
    await alice.send(conversation_id, "newest")
    await alice.told_all()
    async with bob.tab() as tab:
        assert (await tab.next()).id == f"{conversation_id}:2"
        edited = await alice.edit(message["id"], "ho")
        frame = await tab.next()
        assert (frame.event, frame.id) == ("message.updated", f"{conversation_id}:1")
        assert frame.data == {
            "type": "message.updated",
            "conversationId": conversation_id,
            "message": edited,
        }
        assert await tab.next() == Frame(None, None, f"{conversation_id}:2")
        reacted = await bob.react(message["id"], "👍")
        frame = await tab.next()
        assert (frame.event, frame.id) == ("reaction.added", None)
        assert frame.data == {
            "type": "reaction.added",
            "conversationId": conversation_id,
            "actorId": "bob",
            "emoji": "👍",
            "message": reacted,
        }
        await alice.delete(message["id"])
        frame = await tab.next()
        assert (frame.event, frame.id) == ("message.deleted", f"{conversation_id}:1")
        assert frame.data["message"]["body"] == ""
        assert (await tab.next()).id == f"{conversation_id}:2"
        assert tab.last_event_id == f"{conversation_id}:2"


async def test_what_changes_nothing_tells_nothing(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    message = await alice.send(conversation_id, "hi")
    await bob.react(message["id"], "👍")
    await alice.delete(message["id"])
    await alice.told_all()
    async with alice.tab() as tab:
        await bob.react(message["id"], "👍")
        await bob.unreact(message["id"], "👎")
        await alice.delete(message["id"])
        await alice.call("PATCH", f"/messages/{message['id']}", json={"body": "x"})
        await bob.send(conversation_id, "end")
        assert await tab.bodies(1) == ["end"]


async def test_who_comes_back_is_told_of_changes(person: People) -> None:
    """Edits and deletions of messages from before the position, in all conversations."""
    alice, bob = person("alice"), person("bob")
    one, two = await alice.direct("bob"), await alice.group("bob")
    old = [await alice.send(one, "old"), await alice.send(two, "old too")]
    await alice.send(one, "position")
    await alice.edit(old[0]["id"], "a first edit")
    await alice.edit(old[0]["id"], "edited")
    await alice.send(two, "new")
    await alice.delete(old[1]["id"])
    await alice.told_all()
    async with bob.tab(f"{one}:2") as tab:
        frames = [await tab.next() for _ in range(6)]
    assert [(frame.event, frame.id) for frame in frames] == [
        ("message.updated", f"{one}:1"),
        (None, f"{one}:2"),
        ("message.created", f"{two}:2"),
        ("message.deleted", f"{two}:1"),
        (None, f"{two}:2"),
        (None, f"{two}:2"),
    ]
    assert frames[0].data["message"]["body"] == "edited"


async def test_a_rewinding_id_loses_nothing(person: People) -> None:
    """Told of c:5 and an edit of c:3, cut off between: the position is that of c:3, creation."""
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    sent = [await alice.send(conversation_id, str(number)) for number in range(1, 6)]
    await alice.edit(sent[2]["id"], "3, edited")
    await alice.send(conversation_id, "6")
    await alice.told_all()
    async with bob.tab(f"{conversation_id}:3") as tab:
        assert await tab.bodies(2) == ["4", "5"]
        assert (await tab.event("message.updated"))["message"]["body"] == "3, edited"
        assert await tab.bodies(1) == ["6"]


async def test_what_was_deleted_is_not_told_again(person: People) -> None:
    """Of a message that was sent and deleted meanwhile only the deletion is told."""
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "position")
    message = await alice.send(conversation_id, "a secret")
    await alice.edit(message["id"], "another secret")
    await alice.delete(message["id"])
    await alice.told_all()
    async with bob.tab(f"{conversation_id}:1") as tab:
        deleted, position = await tab.next(), await tab.next()
        assert (deleted.event, position.event) == ("message.deleted", None)
        assert deleted.data["message"]["body"] == ""
        assert deleted.data["message"]["deletedAt"] is not None
        assert position.id == f"{conversation_id}:2"


async def test_what_was_deleted_is_not_quoted_again(person: People) -> None:
    """A reply that is replayed shows its parent as it is now; so does an edit of the reply."""
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "position")
    parent = await alice.send(conversation_id, "a secret")
    reply = await bob.send(conversation_id, "what?", replyToMessageId=parent["id"])
    await bob.edit(reply["id"], "what??")
    await alice.delete(parent["id"])
    await alice.told_all()
    async with bob.tab(f"{conversation_id}:1") as tab:
        frames = await tab.until(lambda frame: frame.event == "message.deleted")
    told = [frame.data["message"] for frame in frames if frame.data]
    assert [message["body"] for message in told] == ["what??", "what??", ""]
    assert "secret" not in str(told)
    quotes = [message["replyTo"] for message in told if message["replyTo"]]
    assert [quote["deleted"] for quote in quotes] == [True, True]


async def test_hundreds_of_reactions_end_in_the_complete_set(person: People) -> None:
    users = [f"user {number}" for number in range(100)]
    alice = person("alice")
    group = await alice.group(*users)
    message = await alice.send(group, "hi")
    await alice.told_all()
    async with alice.tab() as tab:
        await asyncio.gather(*(person(user).react(message["id"], "👍") for user in users))
        told = [await tab.event("reaction.added") for _ in users]
    assert sorted(event["actorId"] for event in told) == sorted(users)
    (complete,) = told[-1]["message"]["reactions"]
    assert (complete["count"], sorted(complete["userIds"])) == (100, sorted(users))
    counts = [entry["message"]["reactions"][0]["count"] for entry in told]
    assert counts == sorted(counts)


async def test_who_has_left_hears_of_no_change(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, other = await alice.group("bob"), await alice.direct("bob")
    message = await alice.send(group, "hi")
    await alice.told_all()
    async with bob.tab() as tab:
        await change(alice.chat, group, remove=("bob",))
        await alice.edit(message["id"], "secret")
        await alice.react(message["id"], "👍")
        await alice.send(other, "end")
        await tab.event("participant.removed")
        assert await tab.bodies(1) == ["end"]


@pytest.mark.parametrize("kind", ["message.updated", "message.deleted"])
async def test_another_programs_change_reaches_the_streams(
    person: People, database: Database, kind: str
) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    message = await alice.send(conversation_id, "hi")
    await alice.told_all()
    async with bob.tab() as tab:
        stamp = {"id": "1", "at": datetime.now(UTC), "kind": kind, "actorId": "moderator"}
        await database["messages"].update_one(
            {"_id": message["id"]}, {"$set": {"body": "other", "change": stamp}}
        )
        assert (await tab.event(kind))["message"]["body"] == "other"
