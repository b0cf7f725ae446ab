"""Mentions: a set of participants, true at the moment of the write."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest

from chat_aio import Chat
from chat_aio.errors import ChatError, ForbiddenWrite, MentionNotParticipant
from chat_aio.store import edits
from chat_aio.store.conversations import find_head
from chat_aio.store.sequencer import Sequencer
from tests.conftest import Database, MakeChat
from tests.support.membership import change
from tests.support.people import Person
from tests.support.saboteurs import append_without_fence, prove

People = Callable[[str], Person]


async def test_mentions_are_a_set_of_participants(person: People) -> None:
    alice = person("alice")
    group = await alice.group("bob", "carol")
    message = await alice.send(group, "hi", mentions=["carol", "bob", "carol", "alice"])
    assert message["mentions"] == ["alice", "bob", "carol"]
    edited = await alice.edit(message["id"], "ho")
    assert edited["mentions"] == ["alice", "bob", "carol"]
    assert (await alice.edit(message["id"], "ho", mentions=[]))["mentions"] == []
    assert (await alice.edit(message["id"], "ho", mentions=["carol"]))["mentions"] == ["carol"]
    later = await alice.edit(message["id"], "ho", mentions=["alice", "carol"])
    assert later["mentions"] == ["carol", "alice"]
    assert await person("carol").listed(f"/conversations/{group}/messages") == [later]


@pytest.mark.parametrize(
    ("mentions", "code"),
    [
        (["eve"], "MENTION_NOT_PARTICIPANT"),
        (["bob", "eve"], "MENTION_NOT_PARTICIPANT"),
        (["bob", ""], "INVALID_INPUT"),
        (["bob", " "], "INVALID_INPUT"),
        (["bob", 7], "INVALID_INPUT"),
        (["bob", None], "INVALID_INPUT"),
        ([{"$gt": ""}], "INVALID_INPUT"),
        ("bob", "INVALID_INPUT"),
        ({"bob": 1}, "INVALID_INPUT"),
        ([f"user {number}" for number in range(257)], "INVALID_INPUT"),
        (["bob"] * 257, "INVALID_INPUT"),
        ([None] * 100_000, "INVALID_INPUT"),
        (["x" * 257], "INVALID_INPUT"),
    ],
)
async def test_mentions_that_are_refused(
    person: People, database: Database, mentions: Any, code: str
) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    message = await alice.send(conversation_id, "hi", mentions=["bob"])
    body = {"body": "ho", "mentions": mentions}
    forward = {"conversationId": conversation_id, "mentions": mentions}
    for answer in (
        await alice.post(f"/conversations/{conversation_id}/messages", body),
        await alice.call("PATCH", f"/messages/{message['id']}", json=body),
        await alice.post(f"/messages/{message['id']}/forward", forward),
    ):
        assert (answer.status, answer.code) == (400, code)
    assert await alice.listed(f"/conversations/{conversation_id}/messages") == [message]
    assert await database["messages"].count_documents({}) == 1


async def test_a_message_mentions_at_most_256_users(person: People) -> None:
    alice = person("alice")
    path = f"/conversations/{await alice.group()}/messages"
    for count, code in ((257, "INVALID_INPUT"), (256, "MENTION_NOT_PARTICIPANT")):
        names = [f"user {number}" for number in range(count)]
        assert (await alice.post(path, {"body": "hi", "mentions": names})).code == code


async def test_everybody_in_a_full_group_can_be_mentioned(person: People) -> None:
    users = [f"user {number}" for number in range(255)]
    group = await person("alice").group(*users)
    message = await person("alice").send(group, "all", mentions=[*users, "alice"])
    assert message["mentions"] == sorted([*users, "alice"])


async def test_who_has_left_stays_mentioned(person: People) -> None:
    alice = person("alice")
    group = await alice.group("bob", "carol")
    message = await alice.send(group, "hi", mentions=["bob"])
    await change(alice.chat, group, remove=("bob",))
    edited = await alice.edit(message["id"], "ho", mentions=["bob", "carol"])
    assert edited["mentions"] == ["bob", "carol"]
    await alice.edit(message["id"], "ho", mentions=["carol"])
    answer = await alice.call(
        "PATCH", f"/messages/{message['id']}", json={"body": "ho", "mentions": ["bob"]}
    )
    assert answer.code == "MENTION_NOT_PARTICIPANT"


async def test_who_has_just_joined_elsewhere_can_be_mentioned(make_chat: MakeChat) -> None:
    here, there = await make_chat(), await make_chat()
    group = await here.api.create_group_conversation("alice", user_ids=["bob"])
    await here.api.send_message("alice", group.id, "cached here")
    await change(there, group.id, add=("carol",))
    message = await here.api.send_message("alice", group.id, "hi", mentions=["carol"])
    assert message.mentions == ("carol",)


async def test_no_mention_follows_a_removal(make_chat: MakeChat) -> None:
    """Sends of two processes that mention somebody, against his removal."""
    chats = [await make_chat(), await make_chat()]

    async def scenario() -> None:
        group = await chats[0].api.create_group_conversation("alice", user_ids=["bob"])
        removed = asyncio.Event()

        async def mention(number: int) -> None:
            while not removed.is_set():
                with suppress(MentionNotParticipant):
                    await chats[number % 2].api.send_message(
                        "alice", group.id, "bob?", mentions=["bob"]
                    )

        async def remove() -> int:
            await change(chats[1], group.id, remove=("bob",))
            head = await find_head(chats[0]._context.database, group.id)
            removed.set()
            return head["seq"] if head else 0

        last, *_ = await asyncio.gather(remove(), *map(mention, range(16)))
        later = await chats[0].api.list_messages_after("alice", group.id, last or 0)
        assert [message.seq for message in later if message.mentions] == []

    await scenario()
    await prove(
        lambda: mention_who_was_removed(chats),
        sabotage=patch.object(Sequencer, "append", append_without_fence),
    )


async def mention_who_was_removed(chats: list[Chat]) -> None:
    """The other process has not heard of the removal yet: what it caches says he is there."""
    here, there = chats
    group = await here.api.create_group_conversation("alice", user_ids=["bob"])
    cached = await here._context.snapshots.find(group.id)
    await change(there, group.id, remove=("bob",))
    old = patch.object(here._context.snapshots, "find", AsyncMock(return_value=cached))
    with old, suppress(MentionNotParticipant):
        await here.api.send_message("alice", group.id, "bob?", mentions=["bob"])
    assert (await here.api.list_messages("alice", group.id)).messages == ()


async def test_no_edit_mentions_who_was_removed_meanwhile(make_chat: MakeChat) -> None:
    """The removal is answered between the edit's check and its write."""
    chat = await make_chat()

    async def scenario() -> None:
        group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
        message = await chat.api.send_message("alice", group.id, "hi")
        fenced = edits.change_live_fenced

        async def late(*args: Any, **kwargs: Any) -> Any:
            await change(chat, group.id, remove=("bob",))
            return await fenced(*args, **kwargs)

        with patch.object(edits, "change_live_fenced", late), suppress(MentionNotParticipant):
            await chat.api.edit_message("alice", message.id, "bob?", mentions=["bob"])
        (now,) = (await chat.api.list_messages("alice", group.id)).messages
        assert now == message

    await prove(scenario, sabotage=patch.object(edits, "_fenced", unfenced))


async def unfenced(database: Any, message: Any, update: Any, *rest: Any) -> Any:
    """The epoch guard removed."""
    return await database.messages.find_one_and_update(
        {"_id": message["_id"]}, update, return_document=True, session=rest[-1]
    )


async def test_an_edit_by_who_was_removed_meanwhile(make_chat: MakeChat) -> None:
    """An edit with new mentions is fenced by who may write as well."""
    chat = await make_chat()
    group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
    message = await chat.api.send_message("bob", group.id, "hi")
    fenced = edits.change_live_fenced

    async def late(*args: Any, **kwargs: Any) -> Any:
        await change(chat, group.id, remove=("bob",))
        return await fenced(*args, **kwargs)

    with patch.object(edits, "change_live_fenced", late), pytest.raises(ForbiddenWrite):
        await chat.api.edit_message("bob", message.id, "ho", mentions=["alice"])


async def test_edits_at_once_keep_the_mentions_whole(make_chat: MakeChat) -> None:
    """Each edit's mentions are the ones it names, whatever the others did meanwhile."""
    chats = [await make_chat(), await make_chat()]
    users = [f"user {number}" for number in range(6)]
    group = await chats[0].api.create_group_conversation("alice", user_ids=users)
    message = await chats[0].api.send_message("alice", group.id, "hi")

    async def edit(number: int) -> None:
        named = users[: number % 7]
        with suppress(ChatError):
            edited = await chats[number % 2].api.edit_message(
                "alice", message.id, str(number), mentions=named
            )
            assert sorted(edited.mentions) == named

    await asyncio.gather(*map(edit, range(24)))
    (now,) = (await chats[0].api.list_messages("alice", group.id)).messages
    assert sorted(now.mentions) == users[: int(now.body) % 7]
