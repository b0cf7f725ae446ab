"""Editing and deleting, in both doors, and against one another."""

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Changed, Chat, Hooks, MessageRejected
from chat_aio.errors import ChatError, MessageDeleted
from chat_aio.hooks import BeforeMessageSend, MessageMutation, PermissionContext
from chat_aio.store import edits
from chat_aio.store.tokenizer import search_fields
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.membership import change
from tests.support.people import PATIENCE, Person
from tests.support.saboteurs import prove

People = Callable[[str], Person]


async def test_the_sender_edits_and_everyone_reads_it(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    message = await alice.send(conversation_id, "helo", metadata={"$a": 1}, mentions=["bob"])
    edited = await alice.edit(message["id"], " hello ")
    assert edited == {**message, "body": " hello ", "editedAt": edited["editedAt"]}
    assert edited["editedAt"] >= message["createdAt"]
    assert await bob.listed(f"/conversations/{conversation_id}/messages") == [edited]


async def test_a_deleted_message_is_a_tombstone_in_its_place(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    message = await alice.send(conversation_id, "a secret", metadata={"a": 1}, mentions=["bob"])
    await bob.react(message["id"], "👍")
    tombstone = await alice.delete(message["id"])
    assert tombstone == {
        **message,
        "body": "",
        "deletedAt": tombstone["deletedAt"],
        "reactions": [{"emoji": "👍", "count": 1, "userIds": ["bob"]}],
    }
    assert tombstone["deletedAt"] is not None
    assert await alice.delete(message["id"]) == tombstone
    assert await bob.listed(f"/conversations/{conversation_id}/messages") == [tombstone]
    assert await bob.unread(conversation_id) == 1
    assert (await bob.react(message["id"], "🕯"))["reactions"][1]["userIds"] == ["bob"]


async def test_the_terms_of_an_edit_are_made_once(person: People) -> None:
    """However often others come between: those of a long text take a while."""
    alice = person("alice")
    message = await alice.send(await alice.group("bob"), "old")
    change_live, outrun = edits.change_live, [None, None]

    async def change(*given: Any, history: None) -> Any:
        return outrun.pop() if outrun else await change_live(*given, history=history)

    with (
        patch.object(edits, "change_live", change),
        patch("chat_aio.actions.editing.search_fields", wraps=search_fields) as make,
    ):
        assert (await alice.edit(message["id"], "new"))["body"] == "new"
    assert not outrun
    assert make.call_count == 1


async def test_nothing_of_a_deleted_body_stays(person: People, database: Database) -> None:
    conversation_id = await person("alice").direct("bob")
    message = await person("alice").send(conversation_id, "a secret")
    await person("alice").delete(message["id"])
    stored = await database["messages"].find_one({"_id": message["id"]})
    assert stored is not None
    assert not {"terms", "search"} & set(stored)
    assert "secret" not in str(stored)


@pytest.mark.parametrize("body", [{}, {"body": " \n"}, {"body": 7}, {"body": "x" * 16_385}])
async def test_edits_that_are_refused(person: People, body: dict[str, Any]) -> None:
    message = await person("alice").send(await person("alice").direct("bob"), "hi")
    answer = await person("alice").call("PATCH", f"/messages/{message['id']}", json=body)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")


async def test_who_may_edit_and_delete(person: People) -> None:
    alice, bob, eve = person("alice"), person("bob"), person("eve")
    group = await alice.group("bob")
    message = await bob.send(group, "hi")
    path = f"/messages/{message['id']}"
    edit: dict[str, Any] = {"json": {"body": "x"}}
    assert (await alice.call("PATCH", path, **edit)).code == "NOT_MESSAGE_SENDER"
    assert (await eve.call("PATCH", path, **edit)).code == "NOT_MESSAGE_SENDER"
    assert (await eve.call("DELETE", path)).code == "NOT_MESSAGE_SENDER"
    assert (await bob.call("PATCH", "/messages/none", **edit)).code == "MESSAGE_NOT_FOUND"
    assert (await bob.call("DELETE", "/messages/" + "x" * 300)).code == "MESSAGE_NOT_FOUND"
    await change(alice.chat, group, remove=("bob",))
    assert (await bob.call("PATCH", path, **edit)).code == "FORBIDDEN_WRITE"
    assert (await bob.call("DELETE", path)).code == "FORBIDDEN_WRITE"
    await change(alice.chat, group, add=("bob",))
    await bob.delete(message["id"])
    for who in (alice, bob, eve):
        answer = await who.call("PATCH", path, **edit)
        assert (answer.status, answer.code) == (409, "MESSAGE_DELETED")


async def test_the_host_is_asked_about_an_edit_and_told(serve: MakePeople) -> None:
    asked: list[BeforeMessageSend] = []
    told: list[MessageMutation] = []

    def before(context: BeforeMessageSend) -> Changed | None:
        asked.append(context)
        if context.body == "spam":
            raise MessageRejected("no")
        return Changed(metadata={"seen": True}) if context.kind == "edit" else None

    person = await serve(Hooks(before_message_send=before, after_message_mutation=told.append))
    alice = person("alice")
    message = await alice.send(await alice.direct("bob"), "hi", mentions=["bob"], role="system")
    edited = await alice.edit(message["id"], "hello")
    assert edited["metadata"] == {"seen": True}
    assert (asked[1].kind, asked[1].body, asked[1].role) == ("edit", "hello", "system")
    assert asked[1].mentions == ("bob",)
    answer = await alice.call("PATCH", f"/messages/{message['id']}", json={"body": "spam"})
    assert (answer.status, answer.code) == (422, "MESSAGE_REJECTED")
    await alice.delete(message["id"])
    await alice.delete(message["id"])
    assert [(event.kind, event.message.body) for event in told] == [
        ("created", "hi"),
        ("updated", "hello"),
        ("deleted", ""),
    ]
    assert told[2].recipient_ids == ("bob",)


async def test_an_edit_and_a_delete_at_once_leave_no_body(make_chat: MakeChat) -> None:
    """Many edits and one deletion, from two processes; the check and the write are far apart."""
    chats = [await make_chat(), await make_chat()]
    direct = await chats[0].api.get_or_create_conversation("alice", "bob")

    async def scenario() -> None:
        message = await chats[0].api.send_message("alice", direct.id, "hi")

        async def edit(number: int) -> str:
            try:
                edited = await chats[number % 2].api.edit_message(
                    "alice", message.id, f"edit {number}", mentions=["bob"] if number % 3 else None
                )
            except MessageDeleted:
                return ""
            return edited.body

        async def delete(chat: Chat) -> str:
            return (await chat.api.delete_message("alice", message.id)).body

        bodies = await asyncio.gather(*map(edit, range(20)), *map(delete, chats))
        (now,) = (await chats[0].api.list_messages("alice", direct.id, limit=1)).messages
        assert (now.body, now.deleted_at is None) == ("", False)
        assert bodies[-2:] == ["", ""]

    await prove(scenario, sabotage=patch.object(edits, "_live", lambda m, _: {"_id": m["_id"]}))


async def test_a_tombstone_never_gets_a_body_again(serve: MakePeople, database: Database) -> None:
    """The message is deleted while the host thinks about the edit of it."""

    async def before(context: BeforeMessageSend) -> None:
        if context.kind == "edit":
            await alice.delete(sent["id"])

    people = await serve(Hooks(before_message_send=before))
    alice = people("alice")
    for place in (await alice.group("bob"), await alice.direct("bob")):
        sent = await alice.send(place, "hi")
        answer = await alice.call("PATCH", f"/messages/{sent['id']}", json={"body": "again"})
        assert (answer.status, answer.code) == (409, "MESSAGE_DELETED")
        found = await database["messages"].find_one({"_id": sent["id"]})
        assert found is not None
        assert (found["body"], found["deletedAt"] is None) == ("", False)


async def test_the_hosts_rule_sees_the_message(serve: MakePeople) -> None:
    asked: list[PermissionContext] = []

    def can_write(context: PermissionContext) -> bool:
        asked.append(context)
        return context.message is None or context.message.body != "locked"

    person = await serve(Hooks(can_write=can_write))
    alice = person("alice")
    locked = await alice.send(await alice.direct("bob"), "locked")
    path = f"/messages/{locked['id']}"
    for answer in (
        await alice.call("PATCH", path, json={"body": "x"}),
        await alice.call("DELETE", path),
        await alice.post(f"{path}/reactions", {"emoji": "x"}),
        await alice.call("DELETE", f"{path}/reactions", json={"emoji": "x"}),
    ):
        assert (answer.status, answer.code) == (403, "FORBIDDEN_WRITE")
    assert asked[0].message is None
    assert asked[-1].message is not None


async def test_the_hosts_rule_sees_the_message_when_it_is_called_again(serve: MakePeople) -> None:
    """The host allows edits only. One edit meets somebody who joins, another mentions a stranger:
    both are checked on a fresh snapshot, as edits."""
    joined = asyncio.Event()

    async def before(context: BeforeMessageSend) -> None:
        if context.body == "slow":
            await alice.post(f"/conversations/{group}/participants", {"userIds": ["bob"]})
            joined.set()

    is_closed = False

    def can_write(context: PermissionContext) -> bool:
        return context.message is not None or not is_closed

    person = await serve(Hooks(can_write=can_write, before_message_send=before), room_controls=True)
    alice = person("alice")
    group = await alice.group()
    message = await alice.send(group, "hi")
    is_closed = True
    assert (await alice.edit(message["id"], "slow"))["body"] == "slow"
    assert joined.is_set()
    answer = await alice.call(
        "PATCH", f"/messages/{message['id']}", json={"body": "x", "mentions": ["stranger"]}
    )
    assert (answer.status, answer.code) == (400, "MENTION_NOT_PARTICIPANT")
    refused = await alice.post(f"/conversations/{group}/messages", {"body": "x"})
    assert (refused.status, refused.code) == (403, "FORBIDDEN_WRITE")


async def test_an_edit_keeps_what_the_host_does_not_replace(serve: MakePeople) -> None:
    """Of two edits at once neither undoes what the host made of the other's metadata."""
    gate, arrived = asyncio.Event(), asyncio.Event()

    async def before(context: BeforeMessageSend) -> Changed | None:
        if context.body == "slow":
            arrived.set()
            await asyncio.wait_for(gate.wait(), PATIENCE)
        return Changed(metadata={"checked": True}) if context.body == "quick" else None

    person = await serve(Hooks(before_message_send=before))
    alice = person("alice")
    message = await alice.send(await alice.direct("bob"), "hi")
    slow = asyncio.create_task(alice.edit(message["id"], "slow"))
    await asyncio.wait_for(arrived.wait(), PATIENCE)
    await alice.edit(message["id"], "quick")
    gate.set()
    assert (await slow)["metadata"] == {"checked": True}


async def test_the_server_api_edits_by_the_same_rules(chat: Chat) -> None:
    direct = await chat.api.get_or_create_conversation("alice", "bob")
    message = await chat.api.send_message("alice", direct.id, "hi")
    assert (await chat.api.edit_message("alice", message.id, "ho")).body == "ho"
    with pytest.raises(ChatError) as refused:
        await chat.api.edit_message("bob", message.id, "x")
    assert refused.value.code == "NOT_MESSAGE_SENDER"
    assert (await chat.api.delete_message("alice", message.id)).deleted_at is not None
