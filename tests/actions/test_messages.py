"""Sending, listing, reading one, marking read: over HTTP and in process."""

import io
from collections.abc import Callable
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest

from chat_aio import Changed, Chat, Hooks, MessageRejected
from chat_aio.errors import ForbiddenWrite, InvalidInput
from chat_aio.hooks import BeforeMessageSend, MessageMutation, PermissionContext
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.membership import change
from tests.support.people import Person

People = Callable[[str], Person]


async def test_a_message_as_it_is_returned(person: People) -> None:
    conversation_id = await person("alice").direct("bob")
    answer = await person("alice").post(
        f"/conversations/{conversation_id}/messages",
        {"body": "  hi\0 ", "role": "assistant", "metadata": {"": 1}, "senderId": "bob", "seq": 9},
    )
    message = answer.json["message"]
    assert answer.status == 201
    assert message == {
        "id": message["id"],
        "conversationId": conversation_id,
        "senderId": "alice",
        "body": "  hi\0 ",
        "role": "assistant",
        "seq": 1,
        "createdAt": message["createdAt"],
        "editedAt": None,
        "deletedAt": None,
        "replyToMessageId": None,
        "replyTo": None,
        "reactions": [],
        "mentions": [],
        "forwardedFrom": None,
        "metadata": {"": 1},
        "threadRootMessageId": None,
        "alsoSendToMain": False,
        "threadSummary": None,
        "clientMessageId": None,
    }
    found = await person("bob").get(f"/conversations/{conversation_id}/messages/{message['id']}")
    assert found.json == answer.json
    listed = await person("bob").get(f"/conversations/{conversation_id}/messages")
    assert listed.json == {"messages": [message], "nextCursor": None}


REFUSED: list[dict[str, Any]] = [
    {},
    {"body": ""},
    {"body": " \n\u2003"},
    {"body": None},
    {"body": 7},
    {"body": {"$gt": ""}},
    {"body": "x" * 16_385},
    {"body": "x", "role": "admin"},
    {"body": "x", "role": 7},
    {"body": "x", "metadata": "x"},
    {"body": "x", "metadata": {"x": "y" * 16_384}},
    {"body": "x", "clientMessageId": ""},
    {"body": "x", "clientMessageId": "k" * 129},
    {"body": "x", "clientMessageId": 7},
]
REFUSED_BYTES = [
    (b"", 400, "INVALID_INPUT"),
    (b"{", 400, "INVALID_INPUT"),
    (b'{"body":"x","body":"y"}', 400, "INVALID_INPUT"),
    (b'{"body":"x","metadata":{"n":1e999}}', 400, "INVALID_INPUT"),
    (b'{"body":"' + b"x" * (1024 * 1024) + b'"}', 413, "PAYLOAD_TOO_LARGE"),
]


async def test_messages_that_are_refused(person: People, database: Database) -> None:
    conversation_id = await person("alice").direct("bob")
    otherwise = {}
    for body in REFUSED:
        answer = await person("alice").post(f"/conversations/{conversation_id}/messages", body)
        if (answer.status, answer.code) != (400, "INVALID_INPUT"):
            otherwise[str(body)[:80]] = answer.status
    assert otherwise == {}
    assert await database["messages"].count_documents({}) == 0
    assert (await database["counters"].find_one({}))["seq"] == 0  # type: ignore[index]


async def test_lengths_are_counted_in_code_points(person: People) -> None:
    conversation_id = await person("alice").direct("bob")
    body = "😀" * 16_384
    assert (await person("alice").send(conversation_id, body))["body"] == body


@pytest.mark.parametrize("chunked", [False, True])
async def test_bodies_that_are_refused(person: People, chunked: bool) -> None:
    async def pieces(raw: bytes) -> Any:
        for start in range(0, len(raw), 65_536):
            yield raw[start : start + 65_536]

    alice = person("alice")
    conversation_id = await alice.direct("bob")
    path = f"/conversations/{conversation_id}/messages"
    otherwise = {}
    for alive, (raw, status, code) in enumerate(REFUSED_BYTES, start=1):
        answer = await alice.call("POST", path, data=pieces(raw) if chunked else io.BytesIO(raw))
        if (answer.status, answer.code) != (status, code):
            otherwise[raw[:80]] = (answer.status, answer.code)
        assert (await alice.send(conversation_id, "still alive"))["seq"] == alive
    assert otherwise == {}


async def test_only_participants_write_and_read(person: People) -> None:
    conversation_id = await person("alice").direct("bob")
    message = await person("alice").send(conversation_id, "hi")
    mallory = person("mallory")
    path = f"/conversations/{conversation_id}"
    for answer, code in (
        (await mallory.post(f"{path}/messages", {"body": "x"}), "FORBIDDEN_WRITE"),
        (await mallory.get(f"{path}/messages"), "FORBIDDEN_READ"),
        (await mallory.get(f"{path}/messages/{message['id']}"), "FORBIDDEN_READ"),
        (await mallory.post(f"{path}/read", {"messageId": message["id"]}), "FORBIDDEN_READ"),
    ):
        assert (answer.status, answer.code) == (403, code)
    answer = await mallory.post("/conversations/unknown/messages", {"body": "x"})
    assert (answer.status, answer.code) == (404, "CONVERSATION_NOT_FOUND")
    answer = await mallory.post("/conversations/unknown/messages", {"body": ""})
    assert answer.status == 400


async def test_history_is_paged_by_seq(person: People) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for number in range(7):
        await alice.send(conversation_id, str(number))
    path = f"/conversations/{conversation_id}/messages"
    bodies, cursor = [], ""
    for _ in range(10):
        page = (await alice.get(f"{path}?limit=3{cursor}")).json
        bodies.append([message["body"] for message in page["messages"]])
        if page["nextCursor"] is None:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert bodies == [["6", "5", "4"], ["3", "2", "1"], ["0"]]


async def test_one_message_of_another_conversation_is_not_found(person: People) -> None:
    alice = person("alice")
    here, there = await alice.direct("bob"), await alice.direct("carol")
    message = await alice.send(there, "hi")
    for message_id in (message["id"], "unknown", "x" * 300):
        answer = await alice.get(f"/conversations/{here}/messages/{message_id}")
        assert (answer.status, answer.code) == (404, "MESSAGE_NOT_FOUND")
    answer = await alice.post(f"/conversations/{here}/read", {"messageId": message["id"]})
    assert (answer.status, answer.code) == (404, "MESSAGE_NOT_FOUND")
    for wrong in ({}, {"messageId": 7}, {"messageId": ""}, {"messageId": {"$ne": 1}}):
        answer = await alice.post(f"/conversations/{here}/read", wrong)
        assert (answer.status, answer.code) == (400, "INVALID_INPUT")


async def test_unread_counts_what_others_sent_since(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    sent = [
        await (bob if number % 3 else alice).send(conversation_id, str(number))
        for number in range(9)
    ]
    assert (await alice.unread(conversation_id), await bob.unread(conversation_id)) == (6, 3)
    await alice.read(conversation_id, sent[4]["id"])
    assert await alice.unread(conversation_id) == 3
    await alice.read(conversation_id, sent[1]["id"])
    assert await alice.unread(conversation_id) == 3
    await alice.read(conversation_id, sent[8]["id"])
    assert await alice.unread(conversation_id) == 0
    await alice.send(conversation_id, "mine")
    assert await alice.unread(conversation_id) == 0
    found = (await bob.get(f"/conversations/{conversation_id}")).json["conversation"]
    read = {
        participant["userId"]: participant["lastReadMessageId"]
        for participant in found["participants"]
    }
    assert read == {"alice": sent[8]["id"], "bob": None}


async def test_assistant_and_system_messages_count(person: People) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for role in ("user", "assistant", "system"):
        await alice.send(conversation_id, "x", role=role)
    assert await person("bob").unread(conversation_id) == 3


async def test_the_host_may_refuse_or_change_a_message(serve: MakePeople) -> None:
    asked: list[BeforeMessageSend] = []
    told: list[MessageMutation] = []

    def before(context: BeforeMessageSend) -> Changed | None:
        asked.append(context)
        if "spam" in context.body:
            raise MessageRejected("no advertising here")
        if "bug" in context.body:
            raise ValueError("a secret")
        if "long" in context.body:
            return Changed(body="x" * 20_000)
        return Changed(body=context.body.upper(), metadata={"$seen": True})

    async def after(context: MessageMutation) -> None:
        told.append(context)

    person = await serve(Hooks(before_message_send=before, after_message_mutation=after))
    alice = person("alice")
    conversation_id = await alice.group("bob", "carol")
    message = await alice.send(conversation_id, "hello", clientMessageId="k")
    assert (message["body"], message["metadata"]) == ("HELLO", {"$seen": True})
    assert (asked[0].user_id, asked[0].kind, asked[0].role) == ("alice", "send", "user")
    assert (asked[0].conversation.id, asked[0].metadata, asked[0].mentions) == (
        conversation_id,
        {},
        (),
    )
    assert [(event.user_id, event.kind, event.message.body) for event in told] == [
        ("alice", "created", "HELLO")
    ]
    assert sorted(told[0].recipient_ids) == ["bob", "carol"]
    path = f"/conversations/{conversation_id}/messages"
    again = await alice.post(path, {"body": "hello", "clientMessageId": "k"})
    assert (again.status, len(asked), len(told)) == (200, 1, 1)
    for body, status, text in (
        ("spam", 422, "no advertising here"),
        ("bug", 500, "Something went wrong on our side"),
    ):
        answer = await alice.post(path, {"body": body})
        assert (answer.status, answer.json["error"]["message"]) == (status, text)
    assert (await alice.post(path, {"body": "long"})).status == 400
    assert len(told) == 1


async def test_a_failing_after_hook_changes_nothing(serve: MakePeople) -> None:
    def after(_: MessageMutation) -> None:
        raise ValueError

    person = await serve(Hooks(after_message_mutation=after))
    conversation_id = await person("alice").direct("bob")
    assert (await person("alice").send(conversation_id, "hi"))["seq"] == 1


async def test_messages_after_a_seq(chat: Chat) -> None:
    group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
    for number in range(5):
        await chat.api.send_message("alice", group.id, str(number))
    found = await chat.api.list_messages_after("bob", group.id, 2)
    assert [message.seq for message in found] == [3, 4, 5]
    assert [
        message.seq for message in await chat.api.list_messages_after("bob", group.id, 0, limit=2)
    ] == [
        1,
        2,
    ]
    for wrong in (-1, True, "1", 2**63):
        with pytest.raises(InvalidInput):
            await chat.api.list_messages_after("bob", group.id, wrong)  # type: ignore[arg-type]
    with pytest.raises(ForbiddenWrite):
        await chat.api.send_message("mallory", group.id, "x")


async def test_a_chat_is_used_while_it_is_open(database: Database) -> None:
    chat = Chat(database)
    with pytest.raises(RuntimeError, match="not open"):
        _ = chat.api
    async with chat:
        with pytest.raises(RuntimeError, match="open already"):
            await chat.open()
    with pytest.raises(RuntimeError, match="not open"):
        _ = chat.api


async def test_a_send_follows_a_majority_that_lags(make_chat: MakeChat) -> None:
    """The counters know of a change before the majority does; the check, which the host's own rule
    needs again, waits for it."""
    chat = await make_chat(Hooks(can_write=lambda asked: asked.user_id == "bob"))
    group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
    await chat.api.send_message("bob", group.id, "cached")
    snapshots = chat._context.snapshots
    old = await snapshots.find(group.id)
    find_fresh, stale = snapshots.find_fresh, 20

    async def lagging(conversation_id: str) -> Any:
        nonlocal stale
        stale -= 1
        return old if stale > 0 else await find_fresh(conversation_id)

    await change(chat, group.id, add=("carol",))
    with (
        patch.object(snapshots, "find", AsyncMock(return_value=old)),
        patch.object(snapshots, "find_fresh", lagging),
    ):
        assert (await chat.api.send_message("bob", group.id, "after")).seq == 2
    assert stale == 0


async def test_what_a_host_does_to_what_it_is_shown_changes_nothing(serve: MakePeople) -> None:
    def meddle(asked: PermissionContext) -> bool:
        asked.conversation.metadata["poison"] = 2**70
        return True

    def before(context: BeforeMessageSend) -> None:
        context.metadata["poison"] = object()

    person = await serve(Hooks(can_read=meddle, can_write=meddle, before_message_send=before))
    alice = person("alice")
    conversation_id = await alice.group("bob", metadata={"a": 1})
    assert (await alice.send(conversation_id, "x", metadata={"b": 2}))["metadata"] == {"b": 2}
    found = await alice.get(f"/conversations/{conversation_id}")
    assert found.json["conversation"]["metadata"] == {"a": 1}
