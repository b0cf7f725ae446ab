"""Moderation across processes and under storms: nothing slips past what was answered."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest
from bson import DatetimeMS

from chat_aio import Chat, Hooks
from chat_aio.errors import ChatError, DirectInteractionBlocked
from chat_aio.hooks import BeforeMessageSend, ModerationContext
from chat_aio.store import bans, blocks, conversations
from chat_aio.store.sequencer import Sequencer
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.checking import expect_no_violation
from tests.support.people import PATIENCE, Person
from tests.support.saboteurs import append_without_fence, prove


def is_mod(asked: ModerationContext) -> bool:
    return asked.user_id == "mod"


HOOKS = Hooks(can_moderate=is_mod)


async def test_a_ban_ends_streams_in_every_process(serve: MakePeople, database: Database) -> None:
    """Made here, or by another program: refused there, and cut off by the feed, long before a
    heartbeat."""
    one, other = [await serve(HOOKS, heartbeat_interval_ms=3_600_000) for _ in range(2)]

    async def by_a_moderator() -> None:
        answer = await one("mod").post("/moderation/bans", {"targetUserId": "mallory"})
        assert answer.status == 200

    async def by_another_program() -> None:
        row = {"_id": "b", "userId": "mallory", "revokedAt": None, "expiresAt": None}
        await database["bans"].insert_one(row)

    for act in (by_a_moderator, by_another_program):
        async with other("mallory").tab() as tab, other("bob").tab() as stays:
            await act()
            await tab.end()
            await other("mallory").told_all()
            assert (await other("mallory").get("/conversations")).code == "USER_BANNED"
            assert (await other("mallory").get("/stream")).code == "USER_BANNED"
            group = await other("bob").group("carol")
            await other("carol").send(group, "goes on")
            await stays.event("participant.added")
            assert await stays.bodies(1) == ["goes on"]
        await database["bans"].delete_many({})
        for place in (one, other):
            await place("mallory").told_all()
            assert (await place("mallory").get("/conversations")).status == 200


async def test_a_heartbeat_notices_a_ban(serve: MakePeople, database: Database) -> None:
    """Also where the change stream has not told of it."""
    person = await serve(HOOKS, heartbeat_interval_ms=100)
    live = person("mallory").chat._live
    with patch.object(live, "_changed", AsyncMock()):
        object.__setattr__(live.feed._listener, "changed", AsyncMock())
        async with person("mallory").tab() as tab:
            row = {"_id": "b", "userId": "mallory", "revokedAt": None, "expiresAt": None}
            await database["bans"].insert_one(row)
            await tab.end()


async def test_heartbeats_go_on_whatever_is_the_matter_with_bans(serve: MakePeople) -> None:
    person = await serve(HOOKS, heartbeat_interval_ms=50)
    known = person("alice").chat._context.bans
    beats = 0
    went_on = asyncio.Event()

    async def failing(_: object) -> set[str]:
        nonlocal beats
        beats += 1
        if beats == 4:
            went_on.set()
        raise RuntimeError

    async with person("alice").tab() as tab:
        group = await person("bob").group("alice")
        await tab.event("participant.added")
        with patch.object(known, "banned_among", failing):
            await asyncio.wait_for(went_on.wait(), PATIENCE)
        await person("bob").send(group, "end")
        assert await tab.bodies(1) == ["end"]
        assert len(tab.comments) > 3


@pytest.mark.parametrize(
    ("collection", "row"),
    [
        ("bans", {"userId": ["carol", {"a": 1}], "revokedAt": None}),
        ("bans", {"userId": {"a": 1}, "revokedAt": None}),
        ("bans", {"userId": "x", "revokedAt": None, "expiresAt": [1]}),
        ("bans", {"userId": "x", "expiresAt": DatetimeMS(8_640_000_000_000_000)}),
        ("blocks", {"nothing": 1}),
        ("messages", {"replyToMessageId": {"a": 1}}),
        ("messages", {"conversationId": 7, "seq": "x"}),
        ("conversations", {"participants": "nobody"}),
        ("conversations", {"_id": {"a": 1}}),
    ],
)
async def test_what_other_programs_write_does_not_stop_the_feed(
    serve: MakePeople, database: Database, collection: str, row: dict[str, Any]
) -> None:
    person = await serve(HOOKS)
    alice, bob = person("alice"), person("bob")
    direct = await alice.direct("bob")
    async with bob.tab() as tab:
        await database[collection].insert_one(row, bypass_document_validation=True)
        await alice.send(direct, "goes on")
        assert await tab.bodies(1) == ["goes on"]
    assert (await alice.get("/conversations")).status == 200


async def test_an_edit_does_not_go_past_a_block(serve: MakePeople) -> None:
    """The host takes its time over the edit; the block is answered before."""

    async def before(context: BeforeMessageSend) -> None:
        if context.kind == "edit":
            await alice.post("/moderation/blocks", {"targetUserId": "bob"})

    person = await serve(Hooks(before_message_send=before))
    alice, bob = person("alice"), person("bob")
    direct = await alice.direct("bob")
    message = await bob.send(direct, "hi")
    answer = await bob.call("PATCH", f"/messages/{message['id']}", json={"body": "abuse"})
    assert (answer.status, answer.code) == (403, "DIRECT_INTERACTION_BLOCKED")
    assert (await alice.listed(f"/conversations/{direct}/messages")) == [message]


async def test_one_active_ban_and_one_open_report_at_once(make_chat: MakeChat) -> None:
    chats = [await make_chat(HOOKS), await make_chat(HOOKS)]

    async def scenario(user_id: str = "mallory") -> None:
        banned = await asyncio.gather(
            *(chats[n % 2].api.moderation.ban_user("mod", user_id) for n in range(30))
        )
        assert len({ban.id for ban in banned}) == 1
        assert len((await chats[0].api.moderation.list_bans("mod")).bans) == 1

    await scenario()
    await expect_no_violation(chats[0]._context.database.handle)
    for ban in (await chats[0].api.moderation.list_bans("mod")).bans:
        await chats[0].api.moderation.unban_user("mod", ban.id)
    drop = chats[0]._context.database.bans.drop_index

    @asynccontextmanager
    async def without_the_index() -> AsyncIterator[None]:
        await drop("active_user")
        yield

    async with without_the_index():
        with pytest.raises(AssertionError):
            await scenario()
    reported = await asyncio.gather(
        *(chats[n % 2].api.moderation.report("alice", "user", "mallory", str(n)) for n in range(30))
    )
    assert len({report.id for report in reported}) == 1


async def test_nothing_slips_past_a_block(make_chat: MakeChat) -> None:
    """Sends of two processes against a block: none commits after it was answered."""
    chats = [await make_chat(), await make_chat()]

    async def scenario() -> None:
        direct = await chats[0].api.get_or_create_conversation("alice", "bob")
        blocked = asyncio.Event()

        async def send(number: int) -> None:
            with suppress(DirectInteractionBlocked):
                while not blocked.is_set():
                    await chats[number % 2].api.send_message("bob", direct.id, "hi")

        async def block() -> int:
            await asyncio.sleep(0)
            await chats[1].api.moderation.block_user("alice", "bob")
            head = await conversations.find_head(chats[0]._context.database, direct.id)
            blocked.set()
            return head["seq"] if head else 0

        last, *_ = await asyncio.gather(block(), *map(send, range(16)))
        assert await chats[0].api.list_messages_after("bob", direct.id, last or 0) == ()
        await chats[0].api.moderation.unblock_user("alice", "bob")

    for _ in range(3):
        await scenario()
    await expect_no_violation(chats[0]._context.database.handle)
    await prove(
        lambda: send_on_an_old_snapshot(chats),
        sabotage=patch.object(Sequencer, "append", append_without_fence),
    )


async def send_on_an_old_snapshot(chats: list[Chat]) -> None:
    """The other process has not heard of the block yet."""
    here, there = chats
    direct = await here.api.get_or_create_conversation("alice", "bob")
    before = await conversations.find_head(here._context.database, direct.id)
    cached = await here._context.snapshots.find_fresh(direct.id)
    await there.api.moderation.block_user("alice", "bob")
    with (
        patch.object(here._context.snapshots, "find", AsyncMock(return_value=cached)),
        suppress(DirectInteractionBlocked),
    ):
        await here.api.send_message("bob", direct.id, "hi")
    after = await conversations.find_head(here._context.database, direct.id)
    await there.api.moderation.unblock_user("alice", "bob")
    assert after is not None
    assert before is not None
    assert after["seq"] == before["seq"]


async def test_no_direct_conversation_is_made_past_a_block(make_chat: MakeChat) -> None:
    """The block is answered between the check and the write; there is no conversation yet."""
    chat = await make_chat()
    create = conversations.create
    turn = iter(range(100))

    async def scenario() -> None:
        user_id = f"user {next(turn)}"

        async def late(*args: Any, **kwargs: Any) -> Any:
            await chat.api.moderation.block_user(user_id, "alice")
            return await create(*args, **kwargs)

        with (
            patch.object(conversations, "create", late),
            suppress(DirectInteractionBlocked),
        ):
            await chat.api.get_or_create_conversation("alice", user_id)
        listed = await chat.api.list_conversations("alice", limit=200)
        assert [
            conversation for conversation in listed.conversations if user_id in conversation.roles
        ] == []

    await prove(
        scenario, sabotage=patch.object(blocks, "is_blocked", AsyncMock(return_value=False))
    )


async def test_blocking_and_opening_at_once(make_chat: MakeChat) -> None:
    """Either the conversation is there and blocked, or it is not there; never open and blocked."""
    chats = [await make_chat(), await make_chat()]
    for number in range(8):
        user_id = f"user {number}"
        await asyncio.gather(
            chats[0].api.moderation.block_user("alice", user_id),
            chats[1].api.get_or_create_conversation(user_id, "alice"),
            chats[0].api.get_or_create_conversation("alice", user_id),
            chats[1].api.moderation.block_user("alice", user_id),
            return_exceptions=True,
        )
        with pytest.raises(ChatError):
            await open_and_send(chats, user_id)
        page = await chats[0].api.moderation.list_blocked_users("alice", limit=1)
        assert page.blocks[0].blocked_user_id == user_id
    await expect_no_violation(chats[0]._context.database.handle)


async def open_and_send(chats: list[Chat], user_id: str) -> None:
    direct = await chats[0].api.get_or_create_conversation("alice", user_id)
    await chats[1].api.send_message(user_id, direct.id, "hi")


async def test_a_block_by_another_process_is_heard_of(serve: MakePeople) -> None:
    """Reactions are checked on snapshots: the change stream tells of blocks."""
    one, other = await serve(), await serve()
    people: list[Callable[[str], Person]] = [one, other]
    direct = await one("alice").direct("bob")
    message = await other("alice").send(direct, "hi")
    await one("bob").react(message["id"], "x")
    for place in people:
        await place("bob").unread(direct)
    await other("alice").post("/moderation/blocks", {"targetUserId": "bob"})
    await one("bob").told_all()
    answer = await one("bob").post(f"/messages/{message['id']}/reactions", {"emoji": "y"})
    assert answer.code == "DIRECT_INTERACTION_BLOCKED"


async def test_who_is_known_is_not_asked_again(make_chat: MakeChat) -> None:
    """A request costs no query for bans, until one has changed."""
    chat = await make_chat(HOOKS)
    known = chat._context.bans
    await chat.api.list_conversations("alice")
    with patch.object(bans.Bans, "_load", AsyncMock(return_value=None)) as load:
        for _ in range(5):
            assert await known.is_banned("alice") is False
        assert load.await_count == 0
        known.forget()
        assert await known.is_banned("alice") is False
        assert load.await_count == 1
