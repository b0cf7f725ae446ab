"""Forwarding: a copy with an origin, and nothing else of what it copies."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Changed, Chat, Hooks
from chat_aio.hooks import BeforeMessageSend, PermissionContext
from chat_aio.schema.models import ForwardedFrom
from chat_aio.store.tokenizer import indexed_terms_of
from tests.conftest import Database, MakePeople
from tests.support.membership import change
from tests.support.people import Person

People = Callable[[str], Person]


async def test_a_forward_copies_the_body_and_names_its_origin(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    source, target = await alice.direct("bob"), await bob.group("carol")
    parent = await alice.send(source, "parent")
    message = await alice.send(
        source,
        " hi ",
        role="system",
        metadata={"a": 1},
        mentions=["bob"],
        replyToMessageId=parent["id"],
    )
    await bob.react(message["id"], "👍")
    answer = await bob.post(f"/messages/{message['id']}/forward", {"conversationId": target})
    assert answer.status == 201
    copy = answer.json["message"]
    plain = await bob.send(target, " hi ")
    origin = {"messageId": message["id"], "conversationId": source, "senderId": "alice"}
    assert copy == {
        **plain,
        "id": copy["id"],
        "seq": 1,
        "createdAt": copy["createdAt"],
        "forwardedFrom": origin,
    }
    assert await person("carol").unread(target) == 2
    await alice.delete(message["id"])
    listed = await person("carol").listed(f"/conversations/{target}/messages")
    assert listed == [plain, copy]


async def test_a_forward_of_a_forward_names_that(person: People) -> None:
    alice = person("alice")
    here = await alice.direct("bob")
    message = await person("bob").send(here, "hi")
    path = f"/messages/{message['id']}/forward"
    first = (await alice.post(path, {"conversationId": here})).json["message"]
    path = f"/messages/{first['id']}/forward"
    given = {"conversationId": here, "role": "assistant", "mentions": ["bob"], "metadata": {"b": 2}}
    second = (await alice.post(path, given)).json["message"]
    assert second["forwardedFrom"] == {
        "messageId": first["id"],
        "conversationId": here,
        "senderId": "alice",
    }
    assert (second["role"], second["mentions"], second["metadata"]) == (
        "assistant",
        ["bob"],
        {"b": 2},
    )
    assert [first["seq"], second["seq"]] == [2, 3]


async def test_who_may_forward_what_where(person: People, database: Database) -> None:
    alice, bob, eve = person("alice"), person("bob"), person("eve")
    source, target = await alice.direct("bob"), await bob.group("carol")
    message = await alice.send(source, "hi")
    path = f"/messages/{message['id']}/forward"
    hers = await eve.group()
    for who, where, status, code in (
        (eve, hers, 403, "FORBIDDEN_READ"),
        (eve, target, 403, "FORBIDDEN_READ"),
        (alice, target, 403, "FORBIDDEN_WRITE"),
        (alice, "none", 404, "CONVERSATION_NOT_FOUND"),
        (eve, "none", 404, "CONVERSATION_NOT_FOUND"),
        (alice, "", 400, "INVALID_INPUT"),
        (alice, 7, 400, "INVALID_INPUT"),
    ):
        answer = await who.post(path, {"conversationId": where})
        assert (answer.status, answer.code) == (status, code)
    answer = await alice.post("/messages/none/forward", {"conversationId": source})
    assert answer.code == "MESSAGE_NOT_FOUND"
    answer = await bob.post(path, {"conversationId": target, "mentions": ["alice"]})
    assert answer.code == "MENTION_NOT_PARTICIPANT"
    await alice.delete(message["id"])
    answer = await bob.post(path, {"conversationId": target})
    assert (answer.status, answer.code) == (409, "MESSAGE_DELETED")
    answer = await alice.post(path, {"conversationId": target})
    assert answer.code == "FORBIDDEN_WRITE"
    assert await database["messages"].count_documents({}) == 1


async def test_a_repeated_forward_is_answered_with_the_copy(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    here = await alice.direct("bob")
    message, other = await alice.send(here, "hi"), await alice.send(here, "hi")
    path = f"/messages/{message['id']}/forward"
    given = {"conversationId": here, "clientMessageId": "k", "mentions": ["bob"]}
    first = await bob.post(path, given)
    await alice.delete(message["id"])
    again = await bob.post(
        path, {**given, "clientMessageId": None}, headers={"Idempotency-Key": "k"}
    )
    assert (first.status, again.status) == (201, 200)
    assert again.json == first.json
    for where, body in (
        (path, {**given, "role": "system"}),
        (f"/messages/{other['id']}/forward", given),
        (f"/conversations/{here}/messages", {"body": "hi", "clientMessageId": "k"}),
    ):
        assert (await bob.post(where, body)).code == "MESSAGE_CONFLICT"
    answer = await bob.post(path, given, headers={"Idempotency-Key": "other"})
    assert answer.code == "INVALID_INPUT"


async def test_the_host_is_asked_about_a_forward(serve: MakePeople) -> None:
    asked: list[BeforeMessageSend] = []
    read: list[PermissionContext] = []

    def before(context: BeforeMessageSend) -> Changed | None:
        asked.append(context)
        return Changed(body="changed") if context.kind == "forward" else None

    def can_read(context: PermissionContext) -> bool:
        read.append(context)
        return context.message is None or "secret" not in context.message.body

    person = await serve(
        Hooks(before_message_send=before, can_read=can_read, can_read_messages=True)
    )
    alice = person("alice")
    here = await alice.direct("bob")
    message, secret = await alice.send(here, "hi"), await alice.send(here, "a secret")
    answer = await alice.post(f"/messages/{message['id']}/forward", {"conversationId": here})
    assert answer.json["message"]["body"] == "changed"
    assert (asked[-1].kind, asked[-1].body, asked[-1].conversation.id) == ("forward", "hi", here)
    assert read[-1].message is not None
    source = {"message_id": message["id"], "conversation_id": here, "sender_id": "alice"}
    assert asked[0].forwarded_from is None
    assert asked[-1].forwarded_from == ForwardedFrom(**source)
    await alice.edit(answer.json["message"]["id"], "edited")
    assert (asked[-1].kind, asked[-1].forwarded_from) == ("edit", ForwardedFrom(**source))
    answer = await alice.post(f"/messages/{secret['id']}/forward", {"conversationId": here})
    assert answer.code == "FORBIDDEN_READ"


async def test_what_is_deleted_meanwhile_is_not_forwarded(serve: MakePeople) -> None:
    """The host takes its time over the forward; the deletion is answered before."""

    async def before(context: BeforeMessageSend) -> None:
        if context.kind == "forward":
            await alice.delete(message["id"])

    person = await serve(Hooks(before_message_send=before))
    alice = person("alice")
    here = await alice.direct("bob")
    message = await alice.send(here, "a secret")
    answer = await person("bob").post(
        f"/messages/{message['id']}/forward", {"conversationId": here}
    )
    assert (answer.status, answer.code) == (409, "MESSAGE_DELETED")
    assert len(await alice.listed(f"/conversations/{here}/messages")) == 1


async def test_the_server_api_forwards(chat: Chat) -> None:
    direct = await chat.api.get_or_create_conversation("alice", "bob")
    group = await chat.api.create_group_conversation("bob")
    message = await chat.api.send_message("alice", direct.id, "hi")
    copy = await chat.api.forward_message("bob", message.id, group.id, client_message_id="k")
    assert copy.forwarded_from is not None
    assert copy.forwarded_from.message_id == message.id
    again = await chat.api.forward_message("bob", message.id, group.id, client_message_id="k")
    assert again == copy


async def test_who_has_left_forwards_nothing(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    source = await alice.group("bob")
    message = await alice.send(source, "hi")
    await change(alice.chat, source, remove=("bob",))
    target: dict[str, Any] = {"conversationId": await bob.group()}
    answer = await bob.post(f"/messages/{message['id']}/forward", target)
    assert answer.code == "FORBIDDEN_READ"


@pytest.mark.parametrize(
    "given", [{}, {"role": "admin"}, {"metadata": [1]}, {"clientMessageId": 7}]
)
async def test_forwards_that_are_refused(person: People, given: dict[str, Any]) -> None:
    alice = person("alice")
    here = await alice.direct("bob")
    message = await alice.send(here, "hi")
    body = {"conversationId": here, **given} if given else {}
    answer = await alice.post(f"/messages/{message['id']}/forward", body)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")


async def test_a_forward_keeps_the_terms_of_what_it_copies(serve: MakePeople) -> None:
    """They are not looked for in the body again, unless the host has changed that."""
    texts: list[str] = []

    def shouted(asked: BeforeMessageSend) -> Changed | None:
        return Changed(body="loud") if asked.kind == "forward" and "shout" in asked.body else None

    def noted(text: str) -> list[str]:
        texts.append(text)
        return indexed_terms_of(text)

    alice = (await serve(Hooks(before_message_send=shouted)))("alice")
    here, there = await alice.direct("bob"), await alice.group()
    sent = [await alice.send(here, body) for body in ("a word", "a shout")]
    with patch("chat_aio.store.tokenizer.indexed_terms_of", noted):
        for message in sent:
            path = f"/messages/{message['id']}/forward"
            assert (await alice.post(path, {"conversationId": there})).status == 201
    assert texts == ["loud"]
    for query, found in (("word", ["a word"]), ("loud", ["loud"]), ("shout", [])):
        page = await alice.listed(f"/search/messages?q={query}&conversationId={there}")
        assert [message["body"] for message in page] == found
