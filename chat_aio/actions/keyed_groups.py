"""Groups that the host's own code creates and finds: by a key, and with any set of participants.

Keys need the option `conversation_keys` (specification 17).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from chat_aio.actions.context import Context
from chat_aio.actions.conversations import Opened, get_conversation
from chat_aio.actions.groups import (
    apply_participants,
    make_group,
    require_sound,
    with_creator,
)
from chat_aio.actions.guards import load_manageable, require_leave
from chat_aio.errors import ConversationNotFound
from chat_aio.schema import inputs
from chat_aio.schema.models import (
    ConversationWithUnread,
    JoinPolicy,
    ParticipantRole,
    Visibility,
)
from chat_aio.store import conversations


async def open_group(
    context: Context,
    user_id: str,
    *,
    key: str | None = None,
    user_ids: Sequence[str] | None = None,
    name: str | None = None,
    visibility: Visibility | None = None,
    join_policy: JoinPolicy | None = None,
    metadata: dict[str, Any] | None = None,
) -> Opened:
    """Create a group with the acting user as its admin and `user_ids` as members; with a `key`, get
    the group that has it, if there is one. The other parameters are then ignored.

    Raises InvalidInput, KeyNotAllowed, ChannelsUnsupported, CreateNotAllowed, GroupLimitExceeded,
    UserNotFound, DirectInteractionBlocked (with `hide_blocked_users`) and ConversationNotFound (for
    one that cannot be read) (specification 17.2).
    """
    given = inputs.read(
        inputs.KeyedGroup,
        metadata_within=context.options.max_metadata_bytes,
        key=key,
        user_ids=user_ids,
        name=name,
        visibility=visibility,
        join_policy=join_policy,
        metadata=metadata,
    )
    if given.key is not None:
        await context.permissions.require_key(user_id, given.key)
    return await make_group(context, user_id, given, with_creator(user_id, given), key=given.key)


async def get_or_create_group(
    context: Context,
    user_id: str,
    *,
    key: str,
    participants: Mapping[str, ParticipantRole],
    name: str | None = None,
    visibility: Visibility | None = None,
    join_policy: JoinPolicy | None = None,
    metadata: dict[str, Any] | None = None,
) -> Opened:
    """Get the group that has a key, or create it with exactly these participants, of whom one is an
    admin. The acting user is a participant only if named, and gets the group in any case.

    Everything but the key is used for a new group only. Raises InvalidInput, ChannelsUnsupported,
    CreateNotAllowed, GroupLimitExceeded, LastAdminRemaining, UserNotFound, DirectInteractionBlocked
    (with `hide_blocked_users`) and ConversationNotFound (for one that cannot be read)
    (specification 17.1).
    """
    given = inputs.read(
        inputs.KeyedGroupOf,
        metadata_within=context.options.max_metadata_bytes,
        key=key,
        participants=participants,
        name=name,
        visibility=visibility,
        join_policy=join_policy,
        metadata=metadata,
    )
    return await make_group(context, user_id, given, given.participants, key=given.key)


async def create_group(
    context: Context,
    user_id: str,
    *,
    participants: Mapping[str, ParticipantRole],
    name: str | None = None,
    visibility: Visibility | None = None,
    join_policy: JoinPolicy | None = None,
    metadata: dict[str, Any] | None = None,
) -> Opened:
    """Create a group without a key, with exactly these participants, of whom one is an admin. The
    acting user is a participant only if named.

    Raises InvalidInput, ChannelsUnsupported, CreateNotAllowed, GroupLimitExceeded,
    LastAdminRemaining, UserNotFound and DirectInteractionBlocked (with `hide_blocked_users`)
    (specification 17.4).
    """
    given = inputs.read(
        inputs.GroupOf,
        metadata_within=context.options.max_metadata_bytes,
        participants=participants,
        name=name,
        visibility=visibility,
        join_policy=join_policy,
        metadata=metadata,
    )
    return await make_group(context, user_id, given, given.participants)


async def find_conversation(context: Context, user_id: str, *, key: str) -> ConversationWithUnread:
    """Get the group that has a key, if the user may read it.

    Raises InvalidInput, KeyNotAllowed, ConversationNotFound and ForbiddenRead (specification
    17.3).
    """
    given = inputs.read(inputs.KeyLookup, key=key)
    await context.permissions.require_key(user_id, given.key)
    found = await conversations.id_of_key(context.database, given.key)
    if found is None:
        raise ConversationNotFound
    return await get_conversation(context, user_id, found)


async def set_participants(
    context: Context,
    user_id: str,
    conversation_id: str,
    participants: Mapping[str, ParticipantRole],
) -> ConversationWithUnread:
    """Set all participants of a group and their roles in one step: others are removed. Users who
    stay keep their read state.

    Raises InvalidInput, ConversationNotFound, NotGroupConversation, NotConversationAdmin,
    LeaveNotAllowed, LastAdminRemaining (for a set without an admin), UserNotFound,
    GroupLimitExceeded, DirectInteractionBlocked (with `hide_blocked_users`) and ConversationBanned
    (with `room_controls`) (specification 17.5).
    """
    given = inputs.read(inputs.ParticipantSet, participants=participants)
    snapshot = await load_manageable(context, user_id, conversation_id)
    if user_id not in given.participants:
        snapshot = await require_leave(context, user_id, snapshot)
    return await apply_participants(context, user_id, snapshot, require_sound(given.participants))
