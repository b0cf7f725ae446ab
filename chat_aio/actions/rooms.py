"""Room controls: what admins of a group can do about its members and about users who want to join.

They freeze it, set slow mode and ban users from it. Everything here needs the option
`room_controls` (decision 0058).
"""

from typing import Any, Unpack

from pydantic.alias_generators import to_camel

from chat_aio.actions.context import Context
from chat_aio.actions.groups import fields_of, load_changeable, require_channels, set_fields
from chat_aio.actions.guards import load_manageable, within
from chat_aio.actions.membership import (
    apply_change,
    new_change,
    require_another_admin,
    require_still_managing,
    write_locked,
)
from chat_aio.actions.metadata import require_editable
from chat_aio.actions.optional_events import publish_conversation_ban, publish_resolved
from chat_aio.errors import BanNotFound, InvalidInput, StorageUnavailable
from chat_aio.schema import inputs, pagination
from chat_aio.schema.fields import MAX_SLOW_SECONDS, is_id
from chat_aio.schema.inputs import KEEP, Keep
from chat_aio.schema.models import (
    ConversationBan,
    ConversationBanPage,
    ConversationWithUnread,
    JoinPolicy,
    Visibility,
)
from chat_aio.schema.room_controls import RoomFields
from chat_aio.store import conversation_bans, join_requests
from chat_aio.store.documents import ConversationBanDocument, JoinRequestDocument
from chat_aio.store.mapping import conversation_ban_from
from chat_aio.store.membership import Locked, MembershipChange
from chat_aio.store.shapes import readable

*MOST, LAST = (to_camel(name) for name in inputs.RoomChange.model_fields)
NOTHING_GIVEN = f"{', '.join(MOST)} and {LAST} are missing: give at least one"


async def update_conversation(
    context: Context,
    user_id: str,
    conversation_id: str,
    *,
    name: str | Keep | None = KEEP,
    visibility: Visibility | None = None,
    join_policy: JoinPolicy | None = None,
    metadata: dict[str, Any] | None = None,
    metadata_version: int | None = None,
    **controls: Unpack[RoomFields],
) -> ConversationWithUnread:
    """Rename a group (None clears the name), publish it, set how users join it, freeze it (only
    admins can write), set slow mode (the seconds between two messages of a member, 0 to 3600), its
    topic (up to 500 characters, "" clears it) or its history (`since_join`: users who join from
    then on cannot see earlier messages); with `editable_metadata` also replace its metadata, if
    they have this version.

    Raises InvalidInput (also when nothing is given), ChannelsUnsupported, ConversationNotFound,
    NotGroupConversation, NotConversationAdmin and MetadataConflict (specification 13.1).
    """
    require_editable(context, metadata, metadata_version)
    named = {} if name is KEEP else {"name": name}
    given = inputs.read(
        inputs.RoomChangeWithMetadata,
        metadata_within=context.options.max_metadata_bytes,
        **named,
        visibility=visibility,
        join_policy=join_policy,
        metadata=metadata,
        metadata_version=metadata_version,
        **controls,
    )
    fields = fields_of(given, named)
    if not fields and given.metadata is None:
        raise InvalidInput(NOTHING_GIVEN)
    require_channels(context, given.visibility, given.join_policy)
    still = await load_changeable(context, user_id, conversation_id, only_metadata=not fields)
    # After the permission: users without it get 403 for every value.
    if not 0 <= fields.get("slowModeSeconds", 0) <= MAX_SLOW_SECONDS:
        raise InvalidInput(f"slowModeSeconds must be a whole number from 0 to {MAX_SLOW_SECONDS}")
    return await set_fields(context, user_id, conversation_id, fields, given, require_still=still)


async def ban_from_conversation(
    context: Context,
    user_id: str,
    conversation_id: str,
    target_user_id: str,
    *,
    reason: str | None = None,
) -> ConversationBan:
    """Ban a user from a group; if they are banned already, return that ban.

    A participant is removed, and a pending join request is denied. Until the ban is lifted they can
    neither join, be added, redeem an invite nor request to join. Raises InvalidInput (also for
    banning yourself), ConversationNotFound, NotGroupConversation, NotConversationAdmin and
    LastAdminRemaining (specification 13.4).
    """
    given = inputs.read(inputs.NewConversationBan, target_user_id=target_user_id, reason=reason)
    banned_id = given.target_user_id
    snapshot = await load_manageable(context, user_id, conversation_id)
    if banned_id == user_id:
        raise InvalidInput("userId must be another user: you cannot ban yourself")
    ban: ConversationBanDocument = {
        "_id": context.new_id(),
        "conversationId": conversation_id,
        "userId": banned_id,
        "createdByUserId": user_id,
        "reason": given.reason,
        "createdAt": context.clock(),
    }
    is_inside = banned_id in snapshot.conversation.roles
    for _ in within(context):
        try:
            stands = await (_ban_participant if is_inside else _ban_outsider)(context, ban)
        except _Moved:
            # They can join and leave again, so this may take several rounds until the time is over.
            is_inside = not is_inside
            continue
        if stands["_id"] == ban["_id"]:
            await publish_conversation_ban(context, "conversation_ban.created", ban)
        return conversation_ban_from(stands)
    raise StorageUnavailable


class _Moved(Exception):
    """The user has joined or left since it was decided how to ban them."""


async def _ban_participant(
    context: Context, ban: ConversationBanDocument
) -> ConversationBanDocument:
    """Ban a participant and remove them, in one transaction. Raises _Moved if they have left."""
    admin_id, banned_id = ban["createdByUserId"], ban["userId"]

    async def decide(locked: Locked) -> MembershipChange:
        require_still_managing(context, locked, admin_id)
        if locked.role_of(banned_id) is None:
            raise _Moved
        # A group without an admin could never be managed again.
        require_another_admin(locked, banned_id)
        await conversation_bans.put(locked, ban)
        change = new_change(context, "participant.removed", admin_id)
        change["removedUserIds"] = [banned_id]
        return MembershipChange(change=change, removed=(banned_id,))

    await apply_change(context, ban["conversationId"], decide)
    return ban


async def _ban_outsider(context: Context, ban: ConversationBanDocument) -> ConversationBanDocument:
    """Ban a user who is not a participant, and deny their pending request; returns the ban in
    force. Raises _Moved if they are a participant."""
    admin_id, banned_id = ban["createdByUserId"], ban["userId"]

    async def write(locked: Locked) -> list[JoinRequestDocument]:
        require_still_managing(context, locked, admin_id)
        if locked.role_of(banned_id):
            raise _Moved
        if stands := await conversation_bans.find(locked, banned_id):
            # An error ends the transaction without a write, and the earlier ban is the answer.
            raise _Banned(stands)
        await conversation_bans.put(locked, ban)
        request = await join_requests.find(locked, banned_id)
        if request is None or request["status"] != "pending":
            return []
        at = context.clock()
        return [await join_requests.resolve(locked, request, "denied", by=admin_id, at=at)]

    try:
        denied = await write_locked(context, ban["conversationId"], write)
    except _Banned as found:
        return found.ban
    await publish_resolved(context, denied)
    return ban


class _Banned(Exception):
    """The user is banned already."""

    def __init__(self, ban: ConversationBanDocument) -> None:
        super().__init__()
        self.ban = ban


async def unban_from_conversation(
    context: Context, user_id: str, conversation_id: str, target_user_id: str
) -> None:
    """Lift the ban of a user from a group. It does not make them a member again.

    Raises ConversationNotFound, NotGroupConversation, NotConversationAdmin and BanNotFound.
    """
    await load_manageable(context, user_id, conversation_id)
    if not is_id(target_user_id):
        raise BanNotFound

    async def write(locked: Locked) -> ConversationBanDocument:
        require_still_managing(context, locked, user_id)
        lifted = await conversation_bans.lift(locked, target_user_id)
        if lifted is None:
            raise BanNotFound
        return lifted

    lifted = await write_locked(context, conversation_id, write)
    # A malformed row is lifted like any other, but it has no shape to publish.
    for ban in readable("conversation_bans", [lifted]):
        await publish_conversation_ban(context, "conversation_ban.removed", ban)


async def list_conversation_bans(
    context: Context,
    user_id: str,
    conversation_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> ConversationBanPage:
    """The bans from a group, newest first.

    Raises InvalidInput, ConversationNotFound, NotGroupConversation and NotConversationAdmin.
    """
    size = pagination.limit_from(limit)
    position = pagination.after_from("conversation_bans", cursor)
    await load_manageable(context, user_id, conversation_id)
    found = await conversation_bans.list_newest(
        context.database, conversation_id, position=position, limit=size + 1
    )
    page, last = pagination.cut(found, size)
    return ConversationBanPage(
        conversation_bans=tuple(map(conversation_ban_from, readable("conversation_bans", page))),
        next_cursor=last
        and pagination.cursor_after("conversation_bans", last["createdAt"], last["_id"]),
    )
