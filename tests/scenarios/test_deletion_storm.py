"""Deleting a conversation while others write to it, over two processes: nothing is left of it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat, Hooks
from chat_aio.actions import mutes, thread_inbox
from chat_aio.actions.deletion import hide
from chat_aio.actions.maintenance.legal_holds import place
from chat_aio.errors import ChatError, ConversationNotFound, LegalHold
from chat_aio.hooks import BeforeMessageSend, PermissionContext
from chat_aio.store import blocks, conversations, deleted_conversations, deletion
from chat_aio.store.direct_conversations import direct_conversation_id
from chat_aio.store.maintenance import legal_holds
from chat_aio.store.maintenance.legal_holds import Target
from chat_aio.store.settings import Settings
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.checking import expect_no_violation
from tests.support.deleted import KEPT, naming, settled
from tests.support.people import Person
from tests.support.saboteurs import prove

MEMBERS = [f"member-{number}" for number in range(16)]
Calls = Callable[[], Awaitable[object]]


async def until_gone(call: Calls, done: Callable[[], None]) -> int:
    """Repeat a call until it fails, which must be 404; the number of times that it succeeded."""
    count = 0
    while True:
        try:
            await call()
        except ChatError as error:
            if error.status != 404:
                raise
            return count
        count += 1
        done()


async def expect_gone(database: Database, conversation_id: str) -> None:
    await settled(database, conversation_id)
    assert (await naming(database, conversation_id)).keys() <= KEPT
    await expect_no_violation(database)


async def test_a_storm_of_writes(make_chat: MakeChat, database: Database) -> None:
    options: dict[str, Any] = {"room_controls": True, "inbox": True, "moderation_tools": True}
    hooks = Hooks(can_moderate=lambda _: True)
    chats = [await make_chat(hooks, **options) for _ in range(2)]
    api = chats[0].api
    group = (
        await api.create_group_conversation(
            "admin", user_ids=MEMBERS, visibility="public", join_policy="open"
        )
    ).id
    other = (await api.create_group_conversation("admin", user_ids=MEMBERS)).id
    sent = {name: (await api.send_message(name, group, "x")).id for name in (*MEMBERS, "admin")}
    invite = (await api.create_invite("admin", group)).code
    elsewhere = (await api.send_message("admin", other, "forwarded")).id
    enough, left = asyncio.Event(), 120

    def done() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            enough.set()

    def calls(number: int, name: str) -> dict[str, Calls]:
        chat = chats[number % 2]
        own, api, guest = sent[name], chat.api, f"guest-{number}"

        async def react() -> None:
            await api.add_reaction(name, own, "👍")
            await api.remove_reaction(name, own, "👍")

        async def mark() -> None:
            latest = await api.send_message("admin", group, "mark")
            await api.mark_read(name, group, latest.id)

        async def mute() -> None:
            await api.moderation.mute_conversation(name, group)

        async def follow() -> None:
            await chat.inbox.follow_thread(name, group, own)
            await chat.inbox.mark_thread_read(name, group, own, own)

        async def join() -> None:
            with suppress(ConversationNotFound):
                await api.remove_participant("admin", group, guest)
            await api.join_conversation(guest, group)

        async def accept() -> None:
            await api.remove_participant("admin", group, guest)
            await api.accept_invite(guest, invite)

        async def invites() -> None:
            made = await api.create_invite("admin", group, max_uses=1)
            await api.revoke_invite("admin", made.code)

        async def rename() -> None:
            await api.update_conversation("admin", group, name=f"name {chat.api}")
            await api.update_conversation("admin", group, name=None)

        return {
            "send": lambda: api.send_message(name, group, "more"),
            "reply": lambda: api.send_message(name, group, "r", thread_root_message_id=own),
            "edit": lambda: api.edit_message(name, own, "edited", mentions=["admin"]),
            "forward": lambda: api.forward_message(name, elsewhere, group),
            "react": react,
            "mark": mark,
            "mute": mute,
            "follow": follow,
            "join": join,
            "accept": accept,
            "rename": rename,
            "unread": lambda: chat.inbox.mark_unread(name, group, own),
            "pin": lambda: chat.rooms.pin_message("admin", group, own),
            "invite": invites,
            "ban": lambda: chat.rooms.ban_from_conversation("admin", group, f"banned-{number}"),
            "request": lambda: api.request_to_join(f"asking-{number}", group),
        }

    every = [*calls(0, MEMBERS[0])]
    assert len(every) == len(MEMBERS)
    storm = [
        until_gone(calls(number, name)[every[number]], done) for number, name in enumerate(MEMBERS)
    ]

    async def delete() -> None:
        await enough.wait()
        await chats[1].conversations.delete_conversation("host", group, reason="storm")

    counts, _ = await asyncio.gather(asyncio.gather(*storm), delete())
    assert sum(counts) >= 120
    await expect_gone(database, group)


async def test_one_of_many_deletes_it(make_chat: MakeChat, database: Database) -> None:
    chats = [await make_chat() for _ in range(2)]
    group = (await chats[0].api.create_group_conversation("alice", user_ids=["bob"])).id

    async def delete(number: int) -> bool:
        try:
            await chats[number % 2].conversations.delete_conversation(f"host-{number}", group)
        except ConversationNotFound:
            return False
        return True

    assert sum(await asyncio.gather(*map(delete, range(32)))) == 1
    assert await database["audit"].count_documents({"action": "delete-conversation"}) == 1
    await expect_gone(database, group)


async def test_a_pair_finds_itself_again_under_deletions(
    make_chat: MakeChat, database: Database
) -> None:
    """32 finders, and one who deletes what they find: no id comes back."""
    chats = [await make_chat() for _ in range(2)]
    deleted: list[str] = []

    async def find(number: int) -> None:
        pair = ("alice", "bob") if number % 3 else ("bob", "alice")
        for _ in range(2):
            gone = set(deleted)
            found = await chats[number % 2].api.get_or_create_conversation(*pair)
            assert found.id not in gone

    async def delete(number: int, conversation_id: str) -> None:
        await chats[number % 2].conversations.delete_conversation("host", conversation_id)
        deleted.append(conversation_id)

    for number in range(6):
        found = await chats[number % 2].api.get_or_create_conversation("alice", "bob")
        await asyncio.gather(*map(find, range(32)), delete(number, found.id))
    last = await chats[0].api.get_or_create_conversation("alice", "bob")
    assert len({*deleted, last.id}) == 7
    for conversation_id in deleted:
        await expect_gone(database, conversation_id)


async def test_a_key_finds_a_group_under_deletions(make_chat: MakeChat, database: Database) -> None:
    """Another process creates the group with the key first, and deletes it once it is found."""
    chats = [await make_chat(conversation_keys=True) for _ in range(2)]
    create = conversations.create
    people: Any = {"ann": "admin", "bob": "member"}
    made: list[str] = []

    async def open_it(chat: Chat) -> str:
        opened = chat.conversations.get_or_create_group
        return (await opened("ann", key="order:7", participants=people)).id

    async def exists(_: str) -> bool:
        if not made:
            made.append("")
            made[0] = await open_it(chats[1])
        return True

    async def delete_found(*given: Any, **named: Any) -> Any:
        found, is_new = await create(*given, **named)
        if not is_new:
            await chats[1].conversations.delete_conversation("host", found["_id"])
        return found, is_new

    late = await make_chat(Hooks(user_exists=exists), conversation_keys=True)
    with patch.object(conversations, "create", delete_found):
        found = await open_it(late)
    assert found != made[0]
    assert (await chats[0].conversations.find_conversation("ann", key="order:7")).id == found
    await expect_gone(database, made[0])


@contextmanager
def without_lock() -> Iterator[None]:
    """The head is neither locked nor removed."""

    async def look(database: Any, conversation_id: str, session: Any) -> Any:
        return await database.counters.find_one({"_id": conversation_id}, session=session)

    with patch.object(deletion, "_take_head", look):
        yield


async def test_a_send_that_was_checked_before(serve: MakePeople, database: Database) -> None:
    """The host takes its time over a message, and deletes the conversation meanwhile."""

    async def before(context: BeforeMessageSend) -> None:
        if context.body == "late":
            chat = person("host").chat
            await chat.conversations.delete_conversation("host", context.conversation.id)
            await settled(database, context.conversation.id)

    person = await serve(Hooks(before_message_send=before))

    async def scenario() -> None:
        group = await person("alice").group("bob")
        answer = await person("bob").post(f"/conversations/{group}/messages", {"body": "late"})
        assert answer.code == "CONVERSATION_NOT_FOUND"
        await expect_gone(database, group)

    await prove(scenario, sabotage=without_lock())


@pytest.mark.parametrize("row", ["mute", "thread"])
async def test_a_row_that_was_checked_before(
    serve: MakePeople, database: Database, row: str
) -> None:
    """A row that does not lock its conversation is withdrawn."""

    async def may_read(context: PermissionContext) -> bool:
        if context.user_id == "slow":
            chat = person("host").chat
            with suppress(ConversationNotFound):
                await chat.conversations.delete_conversation("host", context.conversation.id)
            await settled(database, context.conversation.id)
        return True

    async def never(*_: object) -> None:
        pass

    person = await serve(Hooks(can_read=may_read), inbox=True)
    module = mutes if row == "mute" else thread_inbox

    async def scenario() -> None:
        group = await person("alice").group("slow")
        if row == "mute":
            answer = await person("slow").post("/moderation/mutes", {"conversationId": group})
            assert answer.code == "CONVERSATION_NOT_FOUND"
        else:
            root = await person("alice").send(group, "root")
            context = person("host").chat._context
            await person("host").chat.conversations.delete_conversation("host", group)
            await settled(database, group)
            document: Any = {"_id": root["id"], "conversationId": group}
            with suppress(ConversationNotFound):
                await thread_inbox._put(context, "slow", document, follows=True)
        await expect_gone(database, group)

    await prove(scenario, sabotage=patch.object(module, "withdraw_if_deleted", never))


async def nothing(*_: object) -> None:
    """In place of a guard."""


async def test_a_pair_that_was_looked_up_before(serve: MakePeople, database: Database) -> None:
    """Between computing an id and creating the conversation, another one has it and is deleted."""
    deleted: list[str] = []

    async def exists(_: str) -> bool:
        chat = person("host").chat
        if not deleted and inner:
            inner.clear()
            found = await chat.api.get_or_create_conversation("bob", "alice")
            await chat.conversations.delete_conversation("host", found.id)
            await settled(database, found.id)
            deleted.append(found.id)
        return True

    inner: list[bool] = []
    person = await serve(Hooks(user_exists=exists))

    async def scenario() -> None:
        deleted.clear()
        inner.append(True)
        found = await person("alice").direct("bob")
        assert deleted
        assert found not in deleted
        await person("host").chat.conversations.delete_conversation("host", found)
        await settled(database, found)
        await expect_no_violation(database)

    await prove(scenario, sabotage=patch.object(conversations, "require_unused", nothing))


async def test_a_block_that_was_looked_up_before(make_chat: MakeChat, database: Database) -> None:
    """It counts for the pair's next conversation, and leaves no stub under the old id."""
    chat = await make_chat()

    async def scenario() -> None:
        await chat.api.moderation.unblock_user("alice", "bob")
        old = (await chat.api.get_or_create_conversation("alice", "bob")).id
        await chat.conversations.delete_conversation("host", old)
        await settled(database, old)
        stale = [old]

        async def computed(settings: Settings, *pair: str) -> str:
            return stale.pop() if stale else await direct_conversation_id(settings, *pair)

        with patch.object(blocks, "direct_conversation_id", computed):
            await chat.api.moderation.block_user("alice", "bob")
        with pytest.raises(ChatError, match="blocked"):
            await chat.api.get_or_create_conversation("bob", "alice")
        assert (await naming(database, old)).keys() <= KEPT

    await prove(scenario, sabotage=patch.object(blocks, "require_unused", nothing))


TARGETS: tuple[Target, ...] = ("conversation", "user")


async def placed(chat: Chat, target: Target, group: str) -> bool:
    """Place a hold on a group or on its member `bob`; False if there is no such group."""
    try:
        await place(
            chat._context, "mod", target, group if target == "conversation" else "bob", "12"
        )
    except ConversationNotFound:
        return False
    return True


async def deleted_by(chat: Chat, group: str) -> bool:
    """Delete a group; False if a legal hold keeps it."""
    try:
        await chat.conversations.delete_conversation("host", group)
    except LegalHold:
        return False
    return True


@pytest.mark.parametrize("target", TARGETS)
async def test_a_hold_or_a_deletion(
    make_chat: MakeChat, database: Database, target: Target
) -> None:
    """At the same moment: what is there once a hold is placed stays."""
    chats = [await make_chat() for _ in range(2)]

    async def hold(group: str) -> bool:
        """Place a hold, and return whether the group was there afterwards."""
        assert await placed(chats[0], target, group) or target == "conversation"
        return await database["conversations"].count_documents({"_id": group}) == 1

    for number in range(24):
        await database["legal_holds"].delete_many({})
        group = (await chats[0].api.create_group_conversation("alice", user_ids=["bob"])).id
        async with asyncio.TaskGroup() as both:
            if number % 2:
                deleting = both.create_task(deleted_by(chats[1], group))
                holding = both.create_task(hold(group))
            else:
                holding = both.create_task(hold(group))
                deleting = both.create_task(deleted_by(chats[1], group))
        assert holding.result() is not deleting.result()


@pytest.mark.parametrize(
    ("place_of", "guard"), [(deletion, "pass_fence"), (legal_holds, "_raise_fences")]
)
async def test_a_hold_within_a_deletion(
    make_chat: MakeChat, database: Database, place_of: Any, guard: str
) -> None:
    """It is placed on a user after the deletion has read the holds."""
    chats = [await make_chat() for _ in range(2)]
    read = legal_holds.keeps

    async def scenario() -> None:
        await database["legal_holds"].delete_many({})
        group = (await chats[0].api.create_group_conversation("alice", user_ids=["bob"])).id
        answers: list[bool] = []

        async def keeps(*given: Any) -> bool:
            is_kept = await read(*given)
            if not answers:
                answers.append(await asyncio.create_task(placed(chats[0], "user", group)))
            return is_kept

        with patch.object(legal_holds, "keeps", keeps):
            assert not await deleted_by(chats[1], group)
        assert answers == [True]
        assert await database["conversations"].count_documents({"_id": group}) == 1

    await prove(scenario, sabotage=patch.object(place_of, guard, nothing))


def stays(_: str) -> None:
    """In place of `Snapshots.forget`: the change stream has not delivered the deletion yet."""


async def test_writes_of_a_process_that_has_not_heard_of_it(
    serve: MakePeople, database: Database
) -> None:
    """Its snapshot still shows the conversation: nothing is added to it, and nothing stays."""
    options: dict[str, Any] = {"room_controls": True, "inbox": True, "moderation_tools": True}
    one, two = await serve(**options), await serve(**options)
    alice, bob = two("alice"), two("bob")
    group = await alice.group("bob", visibility="public")
    other = await alice.group("bob")
    elsewhere = (await alice.send(other, "elsewhere"))["id"]
    sent = (await alice.send(group, "before"))["id"]
    here, message = f"/conversations/{group}", f"/messages/{sent}"
    await bob.post(f"{message}/reactions", {"emoji": "👍"})
    snapshots = alice.chat._context.snapshots
    kept = await snapshots.find_fresh(group)
    assert kept is not None
    context = one("host").chat._context
    with patch.object(snapshots, "forget", stays), patch.dict(snapshots._kept, {group: kept}):
        # Only hidden: nothing has removed its rows yet.
        await hide(context, "host", group, None)
        writes: list[tuple[Person, str, str, Any]] = [
            (alice, "POST", f"{here}/messages", {"body": "late"}),
            (alice, "POST", f"{here}/messages", {"body": "late", "threadRootMessageId": sent}),
            (alice, "POST", f"/messages/{elsewhere}/forward", {"conversationId": group}),
            (alice, "PATCH", message, {"body": "late"}),
            (bob, "POST", f"{here}/threads/{sent}/follow", None),
            (bob, "POST", "/moderation/mutes", {"conversationId": group}),
            (alice, "POST", f"{here}/pins", {"messageId": sent}),
            (alice, "POST", f"{here}/invites", None),
            (alice, "POST", f"{here}/bans", {"userId": "mallory"}),
            (two("carol"), "POST", f"{here}/join-requests", None),
            (alice, "PATCH", here, {"name": "late"}),
            (alice, "POST", f"{here}/participants", {"userIds": ["carol"]}),
            (bob, "DELETE", f"{here}/participants", {"userId": "bob"}),
        ]
        changes: list[tuple[Person, str, str, Any]] = [
            (alice, "DELETE", message, None),
            (alice, "POST", f"{message}/reactions", {"emoji": "👍"}),
            (bob, "DELETE", f"{message}/reactions", {"emoji": "👍"}),
            (bob, "POST", f"{here}/read", {"messageId": sent}),
            (bob, "POST", f"{here}/unread", {"messageId": sent}),
        ]
        for who, method, path, body in writes:
            answer = await who.call(method, path, **({"json": body} if body else {}))
            assert answer.code == "CONVERSATION_NOT_FOUND", (method, path, body, answer)
        # These find the rows that are about to be removed.
        assert (await bob.get(f"{here}/messages")).status == 200
        for who, method, path, body in changes:
            assert (await who.call(method, path, json=body)).status == 200
    row = await deleted_conversations.find(context.database, group)
    assert row is not None
    await context.removals.remove(row)
    assert (await naming(database, group)).keys() <= KEPT
    await expect_no_violation(database)
