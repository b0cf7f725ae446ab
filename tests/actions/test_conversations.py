"""Opening, making, listing and reading conversations, over HTTP and in process."""

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat, Hooks, Options
from chat_aio.actions import conversations as actions
from chat_aio.errors import (
    ConversationNotFound,
    ForbiddenRead,
    InvalidInput,
    StorageUnavailable,
)
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.people import Person

People = Callable[[str], Person]


async def test_a_direct_conversation_is_found_or_made(person: People) -> None:
    made = await person("bob").post(
        "/conversations", {"otherUserId": "alice", "metadata": {"a": 1.0}}
    )
    conversation = made.json["conversation"]
    assert made.status == 200
    assert conversation == {
        "id": conversation["id"],
        "type": "direct",
        "pairKey": "alice:bob",
        "name": None,
        "createdAt": conversation["createdAt"],
        "metadata": {"a": 1.0},
        "participants": [
            {
                "conversationId": conversation["id"],
                "userId": user_id,
                "role": "admin",
                "joinedAt": conversation["createdAt"],
                "lastReadMessageId": None,
            }
            for user_id in ("alice", "bob")
        ],
        "visibility": "private",
        "joinPolicy": "approval",
        "unreadCount": 0,
    }
    again = await person("alice").post(
        "/conversations", {"otherUserId": "bob", "metadata": {"b": 2}}
    )
    assert again.json == made.json


async def test_pairs_whose_keys_read_the_same_are_two(person: People) -> None:
    first = await person("a").post("/conversations", {"otherUserId": "b:c"})
    second = await person("a:b").post("/conversations", {"otherUserId": "c"})
    keys = [answer.json["conversation"]["pairKey"] for answer in (first, second)]
    assert keys == ["a:b:c", "a:b:c"]
    assert first.json["conversation"]["id"] != second.json["conversation"]["id"]
    assert ":" not in first.json["conversation"]["id"]


async def test_a_pair_opening_at_once_gets_one_conversation(
    make_chat: MakeChat, database: Database
) -> None:
    chats = [await make_chat(), await make_chat()]
    pairs = [("alice", "bob"), ("bob", "alice")] * 16
    found = await asyncio.gather(
        *(
            chats[number % 2].api.get_or_create_conversation(one, other)
            for number, (one, other) in enumerate(pairs)
        )
    )
    assert len({conversation.id for conversation in found}) == 1
    assert await database["conversations"].count_documents({}) == 1
    assert await database["counters"].count_documents({}) == 1
    assert await database["settings"].count_documents({"value": {"$exists": True}}) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"otherUserId": None},
        {"otherUserId": 7},
        {"otherUserId": ""},
        {"otherUserId": " "},
        {"otherUserId": "x" * 257},
        {"otherUserId": "a\0b"},
        {"otherUserId": {"$ne": "x"}},
        {"otherUserId": "alice"},
        {"otherUserId": "bob", "metadata": []},
        {"otherUserId": "bob", "metadata": {"x": "y" * 16_384}},
    ],
)
async def test_direct_conversations_that_are_refused(
    person: People, database: Database, body: dict[str, Any]
) -> None:
    answer = await person("alice").post("/conversations", body)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    assert await database["conversations"].count_documents({}) == 0


async def test_the_host_knows_its_users(serve: MakePeople, database: Database) -> None:
    asked: list[str] = []

    async def exists(user_id: str) -> bool:
        asked.append(user_id)
        return not user_id.startswith("no")

    person = await serve(Hooks(user_exists=exists))
    answer = await person("alice").post(
        "/conversations/group", {"userIds": ["bob", "nora", "bob", "noah", "alice"]}
    )
    assert (answer.status, answer.code) == (404, "USER_NOT_FOUND")
    assert "'nora'" in answer.json["error"]["message"]
    assert asked == ["bob", "nora", "noah"]
    answer = await person("alice").post("/conversations", {"otherUserId": "nobody"})
    assert (answer.status, answer.code) == (404, "USER_NOT_FOUND")
    assert await database["conversations"].count_documents({}) == 0
    conversation_id = await person("alice").direct("bob")
    asked.clear()
    assert await person("alice").direct("bob") == conversation_id
    assert asked == []


async def test_the_host_is_asked_about_eight_users_at_a_time(make_chat: MakeChat) -> None:
    under_way = most = 0

    async def exists(_: str) -> bool:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return True

    chat = await make_chat(Hooks(user_exists=exists))
    await chat.api.create_group_conversation("a", user_ids=[f"u{n}" for n in range(50)])
    assert most == 8


async def test_the_list_is_ordered_by_activity(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    made = [await alice.group("bob", name=f"g{number}") for number in range(5)]
    await bob.send(made[1], "hello")
    await bob.send(made[3], "hello")
    found = []
    cursor = None
    while True:
        query = {"limit": "2", **({"cursor": cursor} if cursor else {})}
        page = (await alice.get("/conversations", params=query)).json
        found += [conversation["id"] for conversation in page["conversations"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert found[:2] == [made[3], made[1]]
    assert sorted(found) == sorted(made)
    unread = {
        conversation["id"]: conversation["unreadCount"]
        for conversation in (await alice.get("/conversations")).json["conversations"]
    }
    assert unread == {
        conversation_id: int(conversation_id in (made[1], made[3])) for conversation_id in made
    }


async def test_ties_are_ordered_by_id_and_the_last_page_is_full(
    person: People, database: Database
) -> None:
    made = [await person("alice").group() for _ in range(4)]
    moment = (await database["counters"].find_one({}))["activityAt"]  # type: ignore[index]
    await database["counters"].update_many({}, {"$set": {"activityAt": moment}})
    first = (await person("alice").get("/conversations?limit=2")).json
    second = (
        await person("alice").get(f"/conversations?limit=2&cursor={first['nextCursor']}")
    ).json
    ids = [conversation["id"] for page in (first, second) for conversation in page["conversations"]]
    assert ids == sorted(made, reverse=True)
    assert second["nextCursor"] is None


async def test_a_cursor_survives_its_row(person: People, database: Database) -> None:
    for _ in range(3):
        await person("alice").group()
    first = (await person("alice").get("/conversations?limit=1")).json
    gone = first["conversations"][0]["id"]
    await database["counters"].delete_one({"_id": gone})
    await database["conversations"].delete_one({"_id": gone})
    rest = (await person("alice").get(f"/conversations?cursor={first['nextCursor']}")).json
    assert len(rest["conversations"]) == 2


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=-1", "limit=", "limit=x", "limit=1.5", "cursor=", "cursor=abc"]
)
async def test_bad_pages_are_refused(person: People, query: str) -> None:
    answer = await person("alice").get(f"/conversations?{query}")
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")


async def test_a_conversation_is_for_its_participants(person: People) -> None:
    conversation_id = await person("alice").group("bob")
    answer = await person("bob").get(f"/conversations/{conversation_id}")
    assert (answer.status, answer.json["conversation"]["id"]) == (200, conversation_id)
    answer = await person("mallory").get(f"/conversations/{conversation_id}")
    assert (answer.status, answer.code) == (403, "FORBIDDEN_READ")
    answer = await person("mallory").get("/conversations/unknown")
    assert (answer.status, answer.code) == (404, "CONVERSATION_NOT_FOUND")


async def test_the_server_api_has_the_same_rules(chat: Chat) -> None:
    group = await chat.api.create_group_conversation(
        "alice", user_ids=("bob",), name="x", metadata={"a.b": 1}
    )
    assert group.metadata == {"a.b": 1}
    assert group.created_at.tzinfo is not None
    with pytest.raises(ForbiddenRead):
        await chat.api.get_conversation("mallory", group.id)
    with pytest.raises(ConversationNotFound):
        await chat.api.get_conversation("alice", "x" * 400)
    with pytest.raises(InvalidInput):
        await chat.api.get_conversation("", group.id)
    with pytest.raises(InvalidInput):
        await chat.api.list_conversations("alice", limit=0)
    page = await chat.api.list_conversations("bob")
    assert [conversation.id for conversation in page.conversations] == [group.id]
    assert page.conversations[0].unread_count == 0


async def test_a_host_may_let_others_read(serve: MakePeople) -> None:
    person = await serve(
        Hooks(
            can_read=lambda asked: (
                asked.user_id == "auditor" or asked.user_id in asked.conversation.roles
            )
        )
    )
    conversation_id = await person("alice").direct("bob")
    answer = await person("auditor").get(f"/conversations/{conversation_id}")
    assert (answer.status, answer.json["conversation"]["unreadCount"]) == (200, 0)
    answer = await person("auditor").post(
        f"/conversations/{conversation_id}/messages", {"body": "x"}
    )
    assert (answer.status, answer.code) == (403, "FORBIDDEN_WRITE")


@pytest.mark.new_database
async def test_collections_may_have_a_prefix(database: Database) -> None:
    async with Chat(database, options=Options(collection_prefix="chat_")) as chat:
        await chat.api.create_group_conversation("alice")
    names = await database.list_collection_names()
    assert all(name.startswith("chat_") for name in names)
    assert await database["chat_conversations"].count_documents({}) == 1


async def test_what_was_made_is_not_called_unwritten(chat: Chat) -> None:
    """Whatever cannot be read once a direct conversation is there: it was made, and says so."""
    with patch.object(actions, "count_viewed", side_effect=StorageUnavailable):
        made = await chat.api.get_or_create_conversation("alice", "bob")
    assert (made.unread_count, list(made.roles)) == (0, ["alice", "bob"])
