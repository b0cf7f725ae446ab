"""Idempotency keys: a repeated request is answered with its message, also many at once."""

import asyncio
from collections.abc import Callable
from typing import Any

from chat_aio import Chat
from chat_aio.errors import MessageConflict
from tests.conftest import Database, MakeChat
from tests.support.people import Person

People = Callable[[str], Person]


async def test_a_repeated_request_is_answered_with_the_message(person: People) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    path = f"/conversations/{conversation_id}/messages"
    request: dict[str, Any] = {"body": "once", "metadata": {"b": 1, "a": 2}, "clientMessageId": "k"}
    first = await alice.post(path, request)
    assert (first.status, first.json["message"]["clientMessageId"]) == (201, "k")
    for again in (
        await alice.post(path, request),
        await alice.post(path, {**request, "metadata": {"a": 2, "b": 1}}),
        await alice.post(
            path, {"body": "once", "metadata": {"b": 1, "a": 2}}, headers={"Idempotency-Key": "k"}
        ),
        await alice.post(path, request, headers={"Idempotency-Key": "k"}),
    ):
        assert (again.status, again.json) == (200, first.json)
    for other in ({"body": "twice"}, {"role": "system"}, {"metadata": {"a": 2}}):
        answer = await alice.post(path, {**request, **other})
        assert (answer.status, answer.code) == (409, "MESSAGE_CONFLICT")
    answer = await alice.post(path, request, headers={"Idempotency-Key": "another"})
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    assert (await person("bob").post(path, request)).status == 201
    elsewhere = await alice.direct("carol")
    assert (await alice.post(f"/conversations/{elsewhere}/messages", request)).status == 201
    assert await person("bob").unread(conversation_id) == 1


async def test_equal_keys_at_once_store_one_message(
    make_chat: MakeChat, database: Database
) -> None:
    chats = [await make_chat(), await make_chat()]
    group = await chats[0].api.create_group_conversation("alice", user_ids=["bob"])

    async def send(number: int) -> Any:
        return await chats[number % 2].api.send_message(
            "alice", group.id, f"body {number // 32}", client_message_id=f"key {number // 32}"
        )

    sent = await asyncio.gather(*map(send, range(128)))
    assert len({message.id for message in sent}) == 4
    assert sorted({message.seq for message in sent}) == [1, 2, 3, 4]
    assert await database["messages"].count_documents({}) == 4
    assert (await chats[0].api.get_conversation("bob", group.id)).unread_count == 4


async def test_equal_keys_with_other_bodies_at_once_conflict(chat: Chat) -> None:
    group = await chat.api.create_group_conversation("alice")

    async def send(number: int) -> str:
        try:
            sent = await chat.api.send_message(
                "alice", group.id, f"body {number}", client_message_id="key"
            )
        except MessageConflict as conflict:
            return conflict.code
        return sent.body

    outcomes = await asyncio.gather(*map(send, range(20)))
    assert sorted(outcomes)[:19] == ["MESSAGE_CONFLICT"] * 19
    assert sorted(outcomes)[19].startswith("body")
