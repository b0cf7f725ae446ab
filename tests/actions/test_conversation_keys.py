"""Groups with keys of the host: found or created once, over HTTP and by `chat.conversations`."""

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat, Hooks, Quotas, SetupError
from chat_aio.capabilities import Capability
from chat_aio.errors import (
    ChannelsUnsupported,
    ChatError,
    ConversationNotFound,
    DirectInteractionBlocked,
    ForbiddenRead,
    GroupLimitExceeded,
    InvalidInput,
    LastAdminRemaining,
    UserNotFound,
)
from chat_aio.hooks import KeyContext, PermissionContext
from chat_aio.store import conversations, indexes
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.people import Answer, Person
from tests.support.verify import verify_action

People = Callable[[str], Person]

PAIR: Any = {"ann": "admin", "bob": "member"}


def is_shop(asked: KeyContext) -> bool:
    return asked.user_id == "shop"


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(Hooks(can_set_key=is_shop), conversation_keys=True)


@pytest.fixture
async def keyed(make_chat: MakeChat) -> Chat:
    return await make_chat(conversation_keys=True)


async def open_group(who: Person, **given: Any) -> Answer:
    return await who.post("/conversations/group", given)


async def listed(who: Person, query: str) -> list[str]:
    answer = await who.get(f"/conversations?{query}")
    return [conversation["id"] for conversation in answer.json["conversations"]]


def refusal(answer: Answer) -> tuple[int, str | None]:
    return answer.status, answer.code


async def test_without_the_option_there_is_nothing_of_it(serve: MakePeople) -> None:
    alice = (await serve(Hooks(can_set_key=lambda _: True)))("alice")
    first, second = [await open_group(alice, key="order:7") for _ in range(2)]
    assert (first.status, second.status) == (201, 201)
    assert first.json["conversation"]["id"] != second.json["conversation"]["id"]
    assert "key" not in first.json["conversation"]
    assert len(await listed(alice, "key=order:7")) == 2
    path = f"/conversations/{first.json['conversation']['id']}/participants"
    answer = await alice.call("PUT", path, json={"participants": PAIR})
    assert refusal(answer) == (404, "NOT_FOUND")
    with pytest.raises(RuntimeError, match="conversation_keys"):
        await alice.chat.conversations.find_conversation("alice", key="order:7")


async def test_a_key_is_not_shown_where_the_option_is_off_again(make_chat: MakeChat) -> None:
    with_it, without = await make_chat(conversation_keys=True), await make_chat()
    made = await with_it.conversations.get_or_create_group("ann", key="k", participants=PAIR)
    assert made.key == "k"
    assert (await without.api.get_conversation("ann", made.id)).key is None


async def test_a_group_is_made_once_and_then_found(keyed: Chat) -> None:
    shop = keyed.conversations
    made = await shop.get_or_create_group(
        "ann", key="order:7", participants=PAIR, name="Order 7", metadata={"total": 9}
    )
    assert (made.key, made.name, made.roles) == ("order:7", "Order 7", PAIR)
    # Everything but the key is ignored: also what would be refused for a new group.
    found = await shop.get_or_create_group(
        "ann", key="order:7", participants={"eve": "member"}, name="Other", metadata={}
    )
    assert found == made
    assert await shop.find_conversation("bob", key="order:7") == made
    with pytest.raises(ConversationNotFound):
        await shop.find_conversation("ann", key="order:8")
    other = await shop.get_or_create_group("ann", key="Order:7", participants=PAIR)
    assert other.id != made.id


async def test_a_finder_outside_gets_the_group_and_may_not_look_it_up(keyed: Chat) -> None:
    shop = keyed.conversations
    made = await shop.get_or_create_group("shop", key="order:7", participants=PAIR)
    await keyed.api.send_message("ann", made.id, "hello")
    assert (made.roles, made.unread_count) == (PAIR, 0)
    found = await shop.get_or_create_group("shop", key="order:7", participants=PAIR)
    assert found == made
    with pytest.raises(ForbiddenRead):
        await shop.find_conversation("shop", key="order:7")
    assert (await shop.find_conversation("bob", key="order:7")).unread_count == 1
    page = await keyed.api.list_conversations("bob", key="order:7")
    assert [conversation.id for conversation in page.conversations] == [made.id]
    assert (await keyed.api.list_conversations("shop", key="order:7")).conversations == ()


async def test_the_hosts_own_rule_is_asked_for_a_look_up(make_chat: MakeChat) -> None:
    def can_read(asked: PermissionContext) -> bool:
        return asked.user_id == "shop" and asked.conversation.key == "order:7"

    chat = await make_chat(Hooks(can_read=can_read), conversation_keys=True)
    for key in ("order:7", "order:8"):
        await chat.conversations.get_or_create_group("shop", key=key, participants=PAIR)
    assert (await chat.conversations.find_conversation("shop", key="order:7")).key == "order:7"
    for user_id, key in (("shop", "order:8"), ("ann", "order:7")):
        with pytest.raises(ForbiddenRead):
            await chat.conversations.find_conversation(user_id, key=key)


@pytest.mark.parametrize("key", ["", " \t", "a\0b", "k" * 201, 7, None, "\ud800"])
async def test_what_can_be_no_key(keyed: Chat, key: Any) -> None:
    with pytest.raises(InvalidInput):
        await keyed.conversations.get_or_create_group("ann", key=key, participants=PAIR)
    with pytest.raises(InvalidInput):
        await keyed.conversations.find_conversation("ann", key=key)


@pytest.mark.parametrize("key", ["k", "🛒" * 200, " order 7 ", "$key", "a.b", "é", "e\u0301"])
async def test_what_can_be_a_key_stays_as_it_is(keyed: Chat, key: str) -> None:
    made = await keyed.conversations.get_or_create_group("ann", key=key, participants=PAIR)
    assert made.key == key
    assert await keyed.conversations.find_conversation("ann", key=key) == made


@pytest.mark.parametrize(
    ("participants", "error"),
    [
        ({}, LastAdminRemaining),
        ({"bob": "member"}, LastAdminRemaining),
        ({"bob": "owner"}, InvalidInput),
        ({"": "admin"}, InvalidInput),
        (["bob"], InvalidInput),
        ({"bob": "admin", **{f"u{n}": "member" for n in range(256)}}, GroupLimitExceeded),
        ({f"u{n}": "boss" for n in range(5000)}, GroupLimitExceeded),
        ({"nobody": "admin"}, UserNotFound),
    ],
)
async def test_who_cannot_make_up_a_group(
    make_chat: MakeChat, database: Database, participants: Any, error: type[ChatError]
) -> None:
    exists = Hooks(user_exists=lambda user_id: user_id != "nobody")
    shop = (await make_chat(exists, conversation_keys=True)).conversations
    with pytest.raises(error):
        await shop.create_group("shop", participants=participants)
    with pytest.raises(error):
        await shop.get_or_create_group("shop", key="k", participants=participants)
    made = await shop.create_group("shop", participants=PAIR)
    with pytest.raises(error):
        await shop.set_participants("ann", made.id, participants)
    assert await database["conversations"].count_documents({}) == 1


async def test_capabilities_and_blocks_hold_for_new_groups(make_chat: MakeChat) -> None:
    chat = await make_chat(
        conversation_keys=True, hide_blocked_users=True, disabled_capabilities={Capability.CHANNELS}
    )
    made = await chat.conversations.get_or_create_group("ann", key="k", participants=PAIR)
    with pytest.raises(ChannelsUnsupported):
        await chat.conversations.create_group("ann", participants=PAIR, visibility="public")
    await chat.api.moderation.block_user("bob", target_user_id="ann")
    with pytest.raises(DirectInteractionBlocked):
        await chat.conversations.get_or_create_group("ann", key="l", participants=PAIR)
    # Finding is no interaction.
    found = await chat.conversations.get_or_create_group("ann", key="k", participants=PAIR)
    assert found.id == made.id


async def test_those_in_a_new_group_are_told_and_its_creator_outside_is_not(
    person: People,
) -> None:
    shop, ann = person("shop"), person("ann")

    async def create() -> None:
        await shop.chat.conversations.create_group("shop", participants={"ann": "admin"})

    async with shop.tab() as tab:
        (event,) = await verify_action(ann, create, "participant.added")
        assert (event.data["actorId"], event.data["affectedUserIds"]) == ("shop", ["ann"])
        own = await shop.group("ann")
        assert (await tab.event("participant.added"))["conversationId"] == own


async def test_keys_over_http_are_for_those_whom_the_hook_names(person: People) -> None:
    shop, eve = person("shop"), person("eve")
    first = await open_group(shop, key="order:7", userIds=["ann"], name="Order 7")
    assert first.status == 201
    made = first.json["conversation"]
    assert (made["key"], made["unreadCount"]) == ("order:7", 0)
    again = await open_group(shop, key="order:7", name="Other")
    assert (again.status, again.json["conversation"]) == (200, made)
    for key in ("order:7", "order:8"):
        assert refusal(await open_group(eve, key=key)) == (403, "KEY_NOT_ALLOWED")
        refused = await eve.get(f"/conversations?key={key}")
        assert refusal(refused) == (403, "KEY_NOT_ALLOWED")
    assert await listed(shop, "key=order:7") == [made["id"]]
    assert await listed(shop, "key=order:8") == []
    assert refusal(await open_group(shop, key="")) == (400, "INVALID_INPUT")
    without = await open_group(eve, userIds=["ann"])
    assert without.status == 201
    assert "key" not in without.json["conversation"]
    shown = (await person("ann").get(f"/conversations/{made['id']}")).json["conversation"]
    assert shown["key"] == "order:7"


async def test_without_the_hook_nobody_uses_keys_over_http(serve: MakePeople) -> None:
    alice = (await serve(conversation_keys=True))("alice")
    assert refusal(await open_group(alice, key="k")) == (403, "KEY_NOT_ALLOWED")
    assert refusal(await alice.get("/conversations?key=k")) == (403, "KEY_NOT_ALLOWED")
    for query in ("key=", "key=k&limit=0", "key=k&cursor=none"):
        assert refusal(await alice.get(f"/conversations?{query}")) == (400, "INVALID_INPUT")


async def test_a_found_group_costs_no_quota(serve: MakePeople) -> None:
    people = await serve(
        Hooks(can_set_key=is_shop),
        conversation_keys=True,
        quotas=Quotas(conversations_per_hour=2),
    )
    shop = people("shop")
    for status in (201, 200, 200, 200):
        assert (await open_group(shop, key="order:7")).status == status
    assert (await open_group(shop, key="order:8")).status == 201
    assert refusal(await open_group(shop, key="order:9")) == (429, "RATE_LIMITED")


async def test_own_conversations_by_their_ids(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    own = [await alice.group() for _ in range(3)]
    foreign = await bob.group()
    assert await listed(alice, f"ids={own[0]},{own[2]},{foreign},x") == [own[2], own[0]]
    page = (await alice.get(f"/conversations?ids={','.join(own)}&limit=2")).json
    assert [conversation["id"] for conversation in page["conversations"]] == [own[2], own[1]]
    assert await listed(alice, f"ids={','.join(own)}&cursor={page['nextCursor']}") == [own[0]]
    many = ",".join(["x"] * 101)
    assert refusal(await alice.get(f"/conversations?ids={many}")) == (400, "INVALID_INPUT")
    assert refusal(await alice.get("/conversations?ids=")) == (400, "INVALID_INPUT")
    by_ids = await alice.chat.api.list_conversations("alice", ids=[own[1], foreign])
    assert [conversation.id for conversation in by_ids.conversations] == [own[1]]
    assert (await alice.chat.api.list_conversations("alice", ids=[])).conversations == ()


async def test_sixty_four_callers_of_two_processes_make_one_group(
    make_chat: MakeChat, database: Database
) -> None:
    chats = [await make_chat(conversation_keys=True) for _ in range(2)]
    names = {index.name for index in indexes.load() if index.collection == "conversations"}
    assert "key" in names & set(await database["conversations"].index_information())

    async def one(key: str, number: int) -> str:
        made = await chats[number % 2].conversations.get_or_create_group(
            f"shop{number}", key=key, participants=PAIR, name=f"by {number}"
        )
        return made.id

    async def storm(key: str) -> None:
        ids = await asyncio.gather(*(one(key, number) for number in range(64)))
        assert len(set(ids)) == 1
        assert await database["conversations"].count_documents({"key": key}) == 1
        heads = await database["counters"].count_documents({"_id": {"$in": ids}})
        assert heads == 1

    for key in ("order:1", "order:2", "order:3"):
        await storm(key)
    await database["conversations"].drop_index("key")
    with pytest.raises(AssertionError):
        await storm("order:4")


async def test_an_edited_database_without_its_index_is_noticed(
    make_chat: MakeChat, database: Database
) -> None:
    await database["conversations"].drop_index("key")
    with pytest.raises(SetupError, match=r"conversations\.key"):
        await make_chat(conversation_keys=True, manage_indexes=False)


async def test_a_key_that_a_deletion_frees_is_used_at_once(keyed: Chat) -> None:
    """The group is deleted after an insert has met its key, and before it is read."""
    shop = keyed.conversations
    first = await shop.get_or_create_group("ann", key="k", participants=PAIR)
    find, looks = conversations._find, 0

    async def late(*given: Any) -> Any:
        nonlocal looks
        looks += 1
        if looks == 1:  # As if the group had not been there yet.
            return None
        if looks == 2:
            await shop.delete_conversation("ann", first.id)
        return await find(*given)

    with patch.object(conversations, "_find", late):
        second = await shop.get_or_create_group("bob", key="k", participants=PAIR)
    assert second.id != first.id
    assert (await shop.find_conversation("bob", key="k")).id == second.id
