"""The client's methods: those of the server API, one for each route, with the same results."""

import inspect
import re
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_type_hints

import pytest

from chat_aio import Chat, Hooks, Profile
from chat_aio.actions.answers import ConversationList, MessageList
from chat_aio.actions.api import (
    InboxAPI,
    ModerationAPI,
    ModerationToolsAPI,
    RoomsAPI,
    ServerAPI,
    methods_of,
)
from chat_aio.actions.conversations import Opened
from chat_aio.actions.idempotency import Sent
from chat_aio.client import ChatClient
from chat_aio.client.connection import Connection
from chat_aio.client.inbox import Inbox
from chat_aio.client.moderation import Moderation
from chat_aio.client.moderation_tools import ModerationTools
from chat_aio.client.rooms import Rooms
from chat_aio.errors import (
    AttachmentNotFound,
    ConversationBanned,
    ConversationFrozen,
    ConversationNotFound,
    InvalidInput,
    KeyNotAllowed,
    MessageHeld,
    MetadataConflict,
    NotConversationAdmin,
    SlowMode,
    UserBanned,
)
from chat_aio.plugins import Attachments, BlockedWords, Filter, Notifications, Presence, Typing
from chat_aio.schema.inbox import UnreadNumbers, UnreadTotals
from chat_aio.schema.models import (
    ConversationPage,
    ConversationView,
    ConversationWithUnread,
    Message,
    MessagePage,
    UnreadSummary,
)
from chat_aio.schema.notifications import QuietHours
from chat_aio.schema.room_controls import RoomControls, RoomFields
from chat_aio.web.inbox_routes import INBOX_ROUTES
from chat_aio.web.key_routes import KEY_ROUTES
from chat_aio.web.metadata_routes import METADATA_ROUTES
from chat_aio.web.moderation_tools_routes import MODERATION_TOOLS_ROUTES
from chat_aio.web.optional_routes import DELETION
from chat_aio.web.room_routes import ROOM_ROUTES
from chat_aio.web.routes import ROUTES
from tests.client.conftest import Connect
from tests.plugins.attachments.uploading import PNG
from tests.plugins.notifications.pushing import a_browser, make_push
from tests.support.ageing import next_millisecond

LATER = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)


ANSWERS = {
    Sent: Message,
    Opened: ConversationWithUnread,
    MessageList: MessagePage,
    ConversationList: ConversationPage,
}
"""What is answered of what an action returns."""


@pytest.mark.parametrize(
    ("theirs", "ours", "acting"),
    [
        (ServerAPI, ChatClient, 2),
        (ModerationAPI, Moderation, 2),
        (RoomsAPI, Rooms, 2),
        (InboxAPI, Inbox, 2),
        (ModerationToolsAPI, ModerationTools, 2),
    ],
)
def test_they_are_those_of_the_server_api(theirs: type, ours: type, acting: int) -> None:
    """By name, parameters, defaults and results. The two exceptions are of their routes, and only
    the host's own code sends silently."""
    for name, method in methods_of(theirs).items():
        if name == "list_messages_after":  # The stream's; it has no route.
            continue
        asked = inspect.signature(method)
        given = inspect.signature(getattr(ours, name))
        parameters = list(given.parameters.values())[1:]
        if name == "revoke_invite":
            assert parameters.pop(0).name == "conversation_id"
        theirs_too = [
            parameter for parameter in asked.parameters.values() if parameter.name != "silent"
        ]
        assert parameters == theirs_too[acting:], name
        answered = asked.return_annotation
        assert given.return_annotation == ANSWERS.get(answered, answered), name


def test_keyword_arguments_of_room_controls_are_their_fields() -> None:
    """By name and type; the limits of a text or a number are those of the model alone."""
    written = get_type_hints(RoomFields)
    assert written == get_type_hints(RoomControls)


@pytest.fixture
def requested(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """Method and path of each request of a client."""
    seen: set[tuple[str, str]] = set()
    request = Connection.request

    async def noted(self: Connection, method: str, path: tuple[str, ...], **given: Any) -> Any:
        seen.add((method, "/" + "/".join(path)))
        return await request(self, method, path, **given)

    monkeypatch.setattr(Connection, "request", noted)
    return seen


async def test_each_route_has_one(
    connect: Connect, chat: Chat, requested: set[tuple[str, str]]
) -> None:
    """Each is called, and answers as the server API does."""
    plugins = [
        *(Typing(), Presence(), Filter([BlockedWords(["spam"], action="hold")])),
        *(Notifications(channels=[make_push()]), Attachments()),
    ]
    hooks = Hooks(can_moderate=lambda _: True, profiles=named, search_users=lambda _: ["bob"])
    client_of = await connect(hooks, plugins=plugins, prefix_search=True, search_filters=True)
    ada, bob = await client_of("ada"), await client_of("bob")
    await talk(ada, bob, chat)
    await come_in(ada, bob, chat)
    await look_up(ada)
    await moderate(ada, bob)
    await hold(ada, bob)
    await choose(ada)
    await attach(ada, bob)
    async with ada.stream():
        pass
    expect_all([*ROUTES, *(route for plugin in plugins for route in plugin.routes)], requested)


async def test_each_route_of_room_controls_has_one(
    connect: Connect, requested: set[tuple[str, str]]
) -> None:
    client_of = await connect(room_controls=True)
    await keep_order(await client_of("ada"), await client_of("bob"))
    expect_all(ROOM_ROUTES, requested)


async def test_each_route_of_keys_and_metadata_has_one(
    connect: Connect, requested: set[tuple[str, str]]
) -> None:
    client_of = await connect(
        Hooks(can_set_key=lambda asked: asked.user_id == "ada"),
        conversation_keys=True,
        editable_metadata=True,
        metadata_indexes=("orderId", "is open"),
    )
    ada, bob = await client_of("ada"), await client_of("bob")
    group = await ada.conversations.get_or_create_group(key="order:7", user_ids=["bob"])
    assert group.key == "order:7"
    assert await ada.conversations.get_or_create_group(key="order:7", name="ignored") == group
    assert await ada.conversations.find_conversation(key="order:7") == group
    assert await ada.conversations.find_conversation(key="order:8") is None
    with pytest.raises(KeyNotAllowed):
        await bob.conversations.find_conversation(key="order:7")
    metadata: Any = {"orderId": 7, "is open": True}
    changed = await ada.update_conversation(group.id, metadata=metadata, metadata_version=1)
    assert (changed.metadata, changed.metadata_version) == (metadata, 2)
    with pytest.raises(MetadataConflict):
        await ada.update_conversation(group.id, metadata={}, metadata_version=1)
    for wanted, count in ((metadata, 1), ({"orderId": 8}, 0), ({"is open": False}, 0)):
        page = await bob.list_conversations(metadata=wanted)
        assert len(page.conversations) == count, wanted
    by_id = await bob.list_conversations(ids=[group.id, "other"])
    assert [conversation.id for conversation in by_id.conversations] == [group.id]
    with pytest.raises(InvalidInput):
        await bob.list_conversations(ids=[])
    sent = await ada.send_message(group.id, "pay")
    paid = await ada.edit_message(sent.id, metadata={"paid": True}, metadata_version=1)
    assert (paid.body, paid.metadata, paid.edited_at) == ("pay", {"paid": True}, None)
    after = await ada.conversations.set_participants(group.id, {"bob": "admin", "eve": "member"})
    assert after.roles == {"bob": "admin", "eve": "member"}
    expect_all([*KEY_ROUTES, *METADATA_ROUTES], requested)


async def test_a_deletion_has_one(connect: Connect, requested: set[tuple[str, str]]) -> None:
    client_of = await connect(Hooks(can_delete=lambda asked: asked.user_id == "ada"))
    ada, bob = await client_of("ada"), await client_of("bob")
    direct = await ada.get_or_create_conversation("bob")
    with pytest.raises(NotConversationAdmin):
        await bob.conversations.delete_conversation(direct.id)
    await ada.conversations.delete_conversation(direct.id, reason="over")
    with pytest.raises(ConversationNotFound):
        await bob.get_conversation(direct.id)
    expect_all([DELETION], requested)


async def test_each_route_of_the_inbox_has_one(
    connect: Connect, requested: set[tuple[str, str]]
) -> None:
    client_of = await connect(inbox=True)
    ada, bob = await client_of("ada"), await client_of("bob")
    direct = await ada.get_or_create_conversation("bob")
    sent = await ada.send_message(direct.id, "@bob?", mentions=["bob"])
    await bob.mark_read(direct.id, sent.id)
    (mention,) = (await bob.inbox.list_mentions()).mentions
    assert (mention.message, mention.unread) == (sent, False)
    await bob.inbox.mark_unread(direct.id, sent.id)
    page = await bob.list_conversations(include=["lastMessage", "unread"], query="AD", unread=True)
    assert page.last_messages == {direct.id: sent}
    assert page.unread_summaries == {
        direct.id: UnreadSummary(seq=1, first_unread_seq=1, unread_mention_count=1)
    }
    around = await bob.list_messages(direct.id, around=sent.id)
    assert (around.messages, around.previous_cursor) == ((sent,), None)
    assert (await bob.list_messages(direct.id, after=sent.id)).messages == ()
    await bob.inbox.follow_thread(direct.id, sent.id)
    reply = await ada.send_message(direct.id, "and you?", thread_root_message_id=sent.id)
    (thread,) = (await bob.inbox.list_threads()).threads
    assert (thread.root.id, thread.last_read_seq, thread.unread_reply_count) == (sent.id, 0, 1)
    thread_page = await bob.list_thread(direct.id, sent.id, around=reply.id)
    assert (thread_page.messages, thread_page.previous_cursor) == ((reply,), None)
    assert (await bob.list_thread(direct.id, sent.id, after=reply.id)).messages == ()
    await bob.inbox.mark_thread_read(direct.id, sent.id, reply.id)
    assert (await bob.inbox.list_threads()).threads[0].unread_reply_count == 0
    await bob.inbox.unfollow_thread(direct.id, sent.id)
    assert (await bob.inbox.list_threads()).threads == ()
    await bob.inbox.change_view(direct.id, archived=True)
    viewed = await bob.inbox.change_view(direct.id, favourite=True, clear=True)
    assert viewed.view == ConversationView(archived=True, favourite=True, cleared_up_to_seq=2)
    assert (await bob.list_conversations(archived=True, favourite=True)).conversations == (viewed,)
    assert (await bob.list_conversations(archived=False)).conversations == ()
    none = UnreadNumbers(messages=0, mentions=0, conversations=0)
    assert await bob.inbox.count_unread() == UnreadTotals(all=none, unmuted=none)
    expect_all(INBOX_ROUTES, requested)


async def test_each_route_of_the_desk_has_one(
    connect: Connect, requested: set[tuple[str, str]]
) -> None:
    client_of = await connect(Hooks(can_moderate=lambda _: True), moderation_tools=True)
    await sit_at_the_desk(await client_of("ada"), await client_of("bob"))
    expect_all(MODERATION_TOOLS_ROUTES, requested)


def expect_all(routes: Sequence[Any], requested: set[tuple[str, str]]) -> None:
    named = {(route.method, route.path) for route in routes}
    assert {
        route for route in named if not any(fits(route, request) for request in requested)
    } == set()


def fits(route: tuple[str, str], request: tuple[str, str]) -> bool:
    pattern = re.sub(r"{\w+}", "[^/]+", route[1])
    return route[0] == request[0] and re.fullmatch(pattern, request[1]) is not None


async def talk(ada: ChatClient, bob: ChatClient, chat: Chat) -> None:
    direct = await ada.get_or_create_conversation("bob", metadata={"of": 1})
    assert direct == await chat.api.get_conversation("ada", direct.id)
    group = await ada.create_group_conversation(user_ids=["bob"], name="Crew")
    assert (await ada.list_conversations(limit=1)).conversations == (group,)
    page = await ada.list_conversations(limit=1)
    rest = await ada.list_conversations(cursor=page.next_cursor)
    assert rest == await chat.api.list_conversations("ada", cursor=page.next_cursor)
    renamed = await ada.update_conversation(group.id, visibility="public", join_policy="open")
    assert renamed.name == "Crew"
    assert (await ada.update_conversation(group.id, name=None)).name is None
    await ada.add_participants(group.id, ["cyd", "dan/?é"])
    await ada.set_participant_role(group.id, "cyd", "admin")
    removed = await ada.remove_participant(group.id, "dan/?é")
    assert removed.roles == {"ada": "admin", "bob": "member", "cyd": "admin"}
    assert removed.participants == (await ada.get_conversation(group.id)).participants

    root = await ada.send_message(
        group.id, "a root", mentions=["bob"], metadata={"x": 1.0}, role="assistant"
    )
    assert (root,) == (await chat.api.list_messages("ada", group.id)).messages
    assert root.client_message_id
    reply = await bob.send_message(
        group.id,
        "ahoy",
        reply_to_message_id=root.id,
        thread_root_message_id=root.id,
        also_send_to_main=True,
    )
    forwarded = await bob.forward_message(reply.id, direct.id, metadata={"y": None})
    await bob.mark_read(group.id, root.id)
    await ada.add_reaction(reply.id, "👍")
    await bob.add_reaction(reply.id, "👍")
    assert (await bob.remove_reaction(reply.id, "👍")).reactions[0].user_ids == ("ada",)
    await bob.edit_message(reply.id, "ahoy again", mentions=["ada"])
    assert await ada.list_messages(group.id) == await chat.api.list_messages("ada", group.id)
    assert (await ada.list_thread(group.id, root.id, limit=3)).messages[0].id == reply.id
    found = await ada.search_messages("ahoy", conversation_id=group.id)
    assert [message.id for message in found.messages] == [reply.id]
    typed = await ada.search_messages("aho", prefix=True)
    assert {message.id for message in typed.messages} >= {reply.id}
    filtered = await ada.search_messages(
        sender_id="bob",
        mentions="me",
        since=reply.created_at,
        until=datetime.now(UTC) + timedelta(hours=1),
    )
    assert [message.id for message in filtered.messages] == [reply.id]
    assert (await ada.search_messages("ahoy", has_attachments=True)).messages == ()
    assert (await bob.delete_message(forwarded.id)).deleted_at
    gone = await ada.get_message(direct.id, forwarded.id)
    assert gone.forwarded_from == forwarded.forwarded_from
    await ada.send_typing(group.id, is_typing=False)
    seen = await ada.get_presence(["ada", "bob", "a stranger"])
    assert {name: value.online for name, value in seen.items()} == {"ada": False, "bob": False}


async def keep_order(ada: ChatClient, bob: ChatClient) -> None:
    group = await ada.create_group_conversation(user_ids=["bob"])
    assert (group.frozen, group.slow_mode_seconds) == (False, 0)
    slow = await ada.rooms.update_conversation(group.id, frozen=True, slow_mode_seconds=60)
    assert slow.slow_mode_seconds == 60
    with pytest.raises(ConversationFrozen):
        await bob.send_message(group.id, "no")
    await ada.rooms.update_conversation(group.id, frozen=False)
    await bob.send_message(group.id, "one")
    # Longer than the client repeats: it is told at once.
    with pytest.raises(SlowMode) as refused:
        await bob.send_message(group.id, "two")
    assert 30 < (refused.value.retry_after or 0) <= 60
    ban = await ada.rooms.ban_from_conversation(group.id, "bob", reason="spam")
    page = await ada.rooms.list_conversation_bans(group.id)
    assert (page.conversation_bans, page.next_cursor) == ((ban,), None)
    with pytest.raises(ConversationBanned):
        await ada.add_participants(group.id, ["bob"])
    await ada.rooms.unban_from_conversation(group.id, "bob")
    await ada.add_participants(group.id, ["bob"])
    sent = await ada.send_message(group.id, "read this first")
    named = await ada.rooms.update_conversation(group.id, topic=" Engines ", history="since_join")
    assert (named.topic, named.history, named.pinned_message_ids) == ("Engines", "since_join", ())
    pinned = await ada.rooms.pin_message(group.id, sent.id)
    assert pinned.pinned_message_ids == (sent.id,)
    assert await bob.rooms.list_pins(group.id) == (sent,)
    assert (await ada.rooms.unpin_message(group.id, sent.id)).pinned_message_ids == ()


async def sit_at_the_desk(ada: ChatClient, bob: ChatClient) -> None:
    group = await bob.create_group_conversation(user_ids=["ada"])
    sent = await bob.send_message(group.id, "rude")
    # Another offset than UTC.
    since = sent.created_at.astimezone(timezone(timedelta(hours=5)))
    page = await ada.moderation_tools.find_messages(
        sender_id="bob", since=since, contains="rude", limit=2
    )
    assert (page.messages, page.next_cursor) == ((sent,), None)
    looked = await ada.moderation_tools.look_at_message(sent.id, before=0)
    assert (looked.message, looked.messages) == (sent, (sent,))
    await bob.edit_message(sent.id, "ruder")
    (version,) = await ada.moderation_tools.list_versions(sent.id)
    assert (version.body, version.how) == ("rude", "edited")
    assert (await ada.moderation_tools.remove_message(sent.id, reason="rude")).deleted_at
    assert (await ada.moderation_tools.restore_message(sent.id)).body == "ruder"
    counted = await ada.moderation_tools.remove_messages(
        "bob", conversation_id=group.id, since=since
    )
    assert (counted.messages, counted.dry_run) == (1, True)
    assert (await ada.moderation_tools.remove_messages("bob", dry_run=False)).messages == 1
    report = await bob.moderation.report("user", "ada", "unfair")
    standing = await ada.moderation_tools.get_standing("ada", shared_with="bob")
    assert standing.latest_reports_received == (report,)
    assert (await ada.moderation_tools.find_reports(reporter_id="bob")).reports == (report,)
    (reported,) = (await ada.moderation_tools.list_report_groups(status="open")).report_groups
    assert (reported.latest, reported.count) == (report, 1)
    resolved = await ada.moderation_tools.resolve_reports(
        "user", "ada", "dismissed", until=reported.last_at, moderator_note="it was fair"
    )
    assert (resolved.reports, resolved.more) == (1, False)


def named(user_ids: Sequence[str]) -> dict[str, Profile]:
    return {user_id: Profile(name=user_id.title(), is_bot=user_id == "bob") for user_id in user_ids}


async def look_up(ada: ChatClient) -> None:
    found = await ada.find_users(ids=["bob", "ada"])
    assert [(user.name, user.is_bot) for user in found] == [("Bob", True), ("Ada", False)]
    assert await ada.find_users(query="b", limit=1) == found[:1]
    page = await ada.list_conversations(include=["users"])
    assert page.users is not None
    assert page.users["bob"] == found[0]


async def come_in(ada: ChatClient, bob: ChatClient, chat: Chat) -> None:
    group = await ada.create_group_conversation(visibility="public")
    invite = await ada.create_invite(group.id, max_uses=3, requires_approval=True)
    assert await ada.list_invites(group.id) == (invite,)
    assert invite == (await chat.api.list_invites("ada", group.id))[0]
    assert (await bob.get_invite_preview(invite.code)).invited_by == "ada"
    asked = await bob.accept_invite(invite.code, message="please")
    assert asked.join_request is not None
    assert asked.join_request.message == "please"
    assert (await ada.list_join_requests(group.id)).join_requests == (asked.join_request,)
    denied = await ada.resolve_join_request(group.id, "bob", "deny")
    assert denied.conversation is None
    assert (await ada.list_join_requests(group.id, status="denied")).join_requests
    assert (await bob.request_to_join(group.id)).status == "pending"
    (channel,) = (await bob.list_public_conversations(limit=1)).channels
    assert channel.request_pending
    assert (await bob.list_public_conversations(query="another")).channels == ()
    await ada.update_conversation(group.id, join_policy="open")
    assert (await bob.join_conversation(group.id)).status == "joined"
    await ada.revoke_invite(group.id, invite.code)
    assert await ada.list_invites(group.id) == ()


async def moderate(ada: ChatClient, bob: ChatClient) -> None:
    block = await ada.moderation.block_user("bob")
    assert (await ada.moderation.list_blocked_users()).blocks == (block,)
    await ada.moderation.unblock_user("bob")
    assert (await ada.moderation.list_blocked_users()).blocks == ()
    group = await ada.create_group_conversation()
    mute = await ada.moderation.mute_conversation(group.id)
    assert (await ada.moderation.list_muted_conversations()).mutes == (mute,)
    await ada.moderation.unmute_conversation(group.id)
    report = await ada.moderation.report("user", "bob", "spam")
    noted = await ada.moderation.update_report(report.id, "triaged", moderator_note="hm")
    assert await ada.moderation.get_report(report.id) == noted
    await ada.moderation.update_report(report.id, "resolved")
    cleared = await ada.moderation.update_report(report.id, "resolved", moderator_note=None)
    assert (noted.moderator_note, cleared.moderator_note) == ("hm", None)
    listed = await ada.moderation.list_reports(status="resolved", target_type="user")
    assert listed.reports == (cleared,)
    ban = await ada.moderation.ban_user("bob", reason="spam", expires_at=LATER)
    assert (ban.expires_at, ban.reason) == (LATER, "spam")
    with pytest.raises(UserBanned):
        await bob.list_conversations()
    await ada.moderation.unban_user(ban.id)
    assert (await ada.moderation.list_bans()).bans == ()
    assert (await ada.moderation.list_bans(active_only=False)).bans[0].id == ban.id


async def hold(ada: ChatClient, bob: ChatClient) -> None:
    group = await bob.create_group_conversation()
    for body in ("spam", "more spam"):
        with pytest.raises(MessageHeld):
            await bob.send_message(group.id, body)
        await next_millisecond()
    (newer,) = (page := await ada.list_held_messages(limit=1)).held_messages
    (older,) = (await ada.list_held_messages(cursor=page.next_cursor)).held_messages
    assert (older.body, newer.body, newer.sender_id) == ("spam", "more spam", "bob")
    released = await ada.release_held_message(older.id)
    assert (await bob.list_messages(group.id)).messages == (released,)
    await ada.discard_held_message(newer.id)
    assert (await ada.list_held_messages()).held_messages == ()


async def attach(ada: ChatClient, bob: ChatClient) -> None:
    """A file goes up as it is given, and down as it comes."""
    group = await ada.create_group_conversation(user_ids=["bob"])
    image = await ada.attachments.upload(group.id, PNG, name="naïve.png")
    assert (image.name, image.content_type, image.size) == ("naïve.png", "image/png", len(PNG))

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"some text"

    text = await ada.attachments.upload(group.id, chunks(), name="a.txt")
    sent = await ada.send_message(group.id, "look", attachment_ids=[image.id, text.id])
    assert sent.attachments == (image, text)
    assert await bob.attachments.get(image.id) == PNG
    assert (await bob.attachments.get_thumbnail(image.id)).startswith(b"RIFF")
    async with bob.attachments.open(text.id, start=18) as response:
        assert await response.read() == b"some text"
    with pytest.raises(AttachmentNotFound):
        await bob.attachments.get_thumbnail(text.id)
    with pytest.raises(InvalidInput):
        await ada.attachments.upload(group.id, b"", name="empty")


async def choose(ada: ChatClient) -> None:
    """What she is told of, and where."""
    mine = ada.notifications
    group = await ada.create_group_conversation()
    assert (await mine.get_settings()).quiet_hours is None
    hours = QuietHours(start="22:00", end="07:00", time_zone="Europe/Berlin")
    assert (await mine.set_quiet_hours(hours)) == (await mine.get_settings())
    assert (await mine.get_settings()).quiet_hours == hours
    assert (await mine.set_quiet_hours(None)).quiet_hours is None
    assert (await mine.get_level(group.id)).level == "all"
    assert (await mine.set_level(group.id, "none")) == (await mine.get_level(group.id))
    given = a_browser()
    made = await mine.register_device(**given)
    listed = await mine.list_devices()
    assert (made.kind, listed.devices, listed.kinds) == ("web", (made,), ("web",))
    await mine.remove_device(made.id)
    assert (await mine.list_devices()).devices == ()
