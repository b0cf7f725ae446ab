"""Groups: creating and changing them, and their participants."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from chat_aio.actions.blocks import require_together
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_fresh, load_group, load_manageable, within
from chat_aio.actions.membership import (
    admit,
    change_membership,
    new_change,
    require_another_admin,
    require_still_managing,
)
from chat_aio.actions.users import require_users
from chat_aio.capabilities import Capability, require
from chat_aio.errors import (
    GroupLimitExceeded,
    InvalidInput,
    NotConversationAdmin,
    StorageUnavailable,
)
from chat_aio.schema import inputs
from chat_aio.schema.fields import MAX_PARTICIPANTS
from chat_aio.schema.inputs import KEEP, Keep
from chat_aio.schema.models import (
    JoinPolicy,
    ParticipantRole,
    ViewedConversation,
    Visibility,
)
from chat_aio.store import conversations
from chat_aio.store.documents import ROOM_CONTROLS, ConversationDocument, ParticipantDocument
from chat_aio.store.mapping import viewed_conversation_from
from chat_aio.store.membership import Locked, MembershipChange
from chat_aio.store.metadata import escaped

AUTHORS = {"name": "namedBy", "topic": "topicBy"}
"""The texts of a group, and the fields with the users who wrote them: an erasure finds them so."""


async def create_group_conversation(
    context: Context,
    user_id: str,
    *,
    user_ids: Sequence[str] | None = None,
    name: str | None = None,
    visibility: Visibility | None = None,
    join_policy: JoinPolicy | None = None,
    metadata: dict[str, Any] | None = None,
) -> ViewedConversation:
    """Create a group with the acting user as its admin and `user_ids` as members
    (docs/behaviour.md 3.5).

    Raises InvalidInput, ChannelsUnsupported, GroupLimitExceeded, UserNotFound and
    DirectInteractionBlocked (with `separate_blocked`).
    """
    given = inputs.read(
        inputs.GroupConversation,
        metadata_within=context.options.max_metadata_bytes,
        name=name,
        user_ids=user_ids,
        metadata=metadata,
        visibility=visibility,
        join_policy=join_policy,
    )
    require_channels(context, given.visibility, given.join_policy)
    members = _members(user_id, given.user_ids or ())
    await require_users(context, user_id, members)
    new = conversations.new_conversation(
        context.new_id(),
        creator_id=user_id,
        roles={user_id: "admin", **dict.fromkeys(members, "member")},
        at=context.clock(),
        change_id=context.new_id(),
        name=given.name,
        metadata=escaped(given.metadata or {}),
        visibility=given.visibility or "private",
        join_policy=given.join_policy or "approval",
    )
    return await _create(context, user_id, new, members)


async def _create(
    context: Context, user_id: str, new: ConversationDocument, members: Sequence[str]
) -> ViewedConversation:
    """Write a new group; DirectInteractionBlocked if its creator and a member are kept apart."""
    allowed = partial(require_together, context, user_id, members)
    await conversations.create(context.database, new, allowed=allowed)
    return viewed_conversation_from(new, 0, room_controls=context.options.room_controls)


async def update_conversation(
    context: Context,
    user_id: str,
    conversation_id: str,
    *,
    name: str | Keep | None = KEEP,
    visibility: Visibility | None = None,
    join_policy: JoinPolicy | None = None,
) -> ViewedConversation:
    """Rename a group (None clears the name), publish it, or set how users join it.

    Raises InvalidInput (also when nothing is given), ChannelsUnsupported, ConversationNotFound,
    NotGroupConversation and NotConversationAdmin (docs/behaviour.md 8.2).
    """
    named = {} if name is KEEP else {"name": name}
    given = inputs.read(
        inputs.ConversationChange,
        metadata_within=None,
        **named,
        visibility=visibility,
        join_policy=join_policy,
    )
    fields = fields_of(given, named)
    if not fields:
        raise InvalidInput("name, visibility and joinPolicy are missing: give at least one")
    require_channels(context, given.visibility, given.join_policy)
    await load_manageable(context, user_id, conversation_id)
    return await set_fields(context, user_id, conversation_id, fields)


def fields_of(given: inputs.ConversationChange, named: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a conversation that are to be set; `named` has the name if that is given."""
    wanted = given.model_dump(by_alias=True, exclude_none=True)
    return {**wanted, "name": given.name} if named else wanted


async def set_fields(
    context: Context, user_id: str, conversation_id: str, fields: Mapping[str, Any]
) -> ViewedConversation:
    """Set fields of a group, with one event; nothing happens if all are set so already."""

    async def decide(locked: Locked) -> MembershipChange | None:
        require_still_managing(context, locked, user_id)
        if fields.items() <= {**ROOM_CONTROLS, **locked.conversation}.items():
            return None
        change = new_change(context, "conversation.updated", user_id)
        authors = {
            author: user_id
            for text, author in AUTHORS.items()
            if text in fields and fields[text] != locked.conversation.get(text)
        }
        return MembershipChange(change=change, fields={**fields, **authors})

    return await change_membership(context, user_id, conversation_id, decide)


async def add_participants(
    context: Context, user_id: str, conversation_id: str, user_ids: Sequence[str]
) -> ViewedConversation:
    """Add users to a group as members; participants keep their role and read state.

    If one user cannot be added, none is. Raises InvalidInput, ConversationNotFound,
    NotGroupConversation, NotConversationAdmin, UserNotFound, GroupLimitExceeded,
    DirectInteractionBlocked (with `separate_blocked`) and ConversationBanned (with `room_controls`)
    (docs/behaviour.md 8.3).
    """
    given = inputs.read(inputs.Participants, user_ids=user_ids)
    snapshot = await load_manageable(context, user_id, conversation_id)
    if len(given.user_ids) > MAX_PARTICIPANTS:
        # All of them would be in the group: none needs to be looked up.
        raise GroupLimitExceeded
    for _ in within(context):
        inside = snapshot.conversation.roles.keys() & given.user_ids
        new = [joining for joining in given.user_ids if joining not in inside]
        await require_users(context, user_id, new)
        try:
            return await _add(context, user_id, conversation_id, given.user_ids, inside)
        except _Left as left:
            snapshot = await load_fresh(context, conversation_id, epoch=left.epoch)
    raise StorageUnavailable


class _Left(Exception):
    """A user who was in the group when the others were looked up has left it, by `epoch`."""

    def __init__(self, epoch: int) -> None:
        super().__init__()
        self.epoch = epoch


async def _add(
    context: Context,
    user_id: str,
    conversation_id: str,
    user_ids: Sequence[str],
    inside: Collection[str],
) -> ViewedConversation:
    """Add users. Raises _Left if one of `inside` has left, who was not checked to exist."""

    async def decide(locked: Locked) -> MembershipChange | None:
        require_still_managing(context, locked, user_id)
        if any(locked.role_of(user_id) is None for user_id in inside):
            raise _Left(locked.conversation["epoch"])
        new = [user_id for user_id in user_ids if locked.role_of(user_id) is None]
        await require_together(context, user_id, new, locked.session)
        return await admit(context, locked, user_ids, actor_id=user_id)

    return await change_membership(context, user_id, conversation_id, decide)


async def remove_participant(
    context: Context, user_id: str, conversation_id: str, target_user_id: str
) -> ViewedConversation:
    """Remove a user from a group, or leave it with one's own id; returns the group without them.

    Raises InvalidInput, ConversationNotFound, NotGroupConversation, NotConversationAdmin and
    LastAdminRemaining (docs/behaviour.md 8.4).
    """
    given = inputs.read(inputs.Leaver, target_user_id=target_user_id)
    leaving = given.target_user_id == user_id
    if leaving:
        await load_group(context, conversation_id)
    else:
        await load_manageable(context, user_id, conversation_id)

    async def decide(locked: Locked) -> MembershipChange | None:
        if not leaving:
            require_still_managing(context, locked, user_id)
        if locked.role_of(given.target_user_id) is None:
            if leaving:
                # As for anybody else who may not change this group (docs/behaviour.md 8.4).
                raise NotConversationAdmin
            return None
        require_another_admin(locked, given.target_user_id)
        change = new_change(context, "participant.removed", user_id)
        change["removedUserIds"] = [given.target_user_id]
        return MembershipChange(change=change, removed=(given.target_user_id,))

    return await change_membership(context, user_id, conversation_id, decide)


async def set_participant_role(
    context: Context,
    user_id: str,
    conversation_id: str,
    target_user_id: str,
    role: ParticipantRole,
) -> ViewedConversation:
    """Make a participant an admin or a member.

    Raises InvalidInput (also for users who are not in the group), ConversationNotFound,
    NotGroupConversation, NotConversationAdmin and LastAdminRemaining (docs/behaviour.md 8.5).
    """
    given = inputs.read(inputs.ParticipantChange, target_user_id=target_user_id, role=role)
    await load_manageable(context, user_id, conversation_id)

    async def decide(locked: Locked) -> MembershipChange | None:
        require_still_managing(context, locked, user_id)
        held = locked.role_of(given.target_user_id)
        if held is None:
            raise InvalidInput("userId must be a participant of this group")
        if held == given.role:
            return None
        if given.role == "member":
            require_another_admin(locked, given.target_user_id)
        change = new_change(context, "conversation.updated", user_id)
        change["affectedUserIds"] = [given.target_user_id]
        return MembershipChange(change=change, roles={given.target_user_id: given.role})

    return await change_membership(context, user_id, conversation_id, decide)


def require_channels(
    context: Context, visibility: Visibility | None, join_policy: JoinPolicy | None
) -> None:
    if visibility == "public" or join_policy == "open":
        require(context, Capability.CHANNELS)


def _members(creator_id: str, user_ids: Sequence[str]) -> list[str]:
    """The members of a new group, without its creator. Raises GroupLimitExceeded."""
    members = [name for name in user_ids if name != creator_id]
    if len(members) >= MAX_PARTICIPANTS:
        raise GroupLimitExceeded
    return members


def without_erased(
    participants: Sequence[ParticipantDocument], user_id: str
) -> list[ParticipantDocument]:
    """Who stays in a group when a user is erased. An erased user cannot be refused as the only
    admin (`require_another_admin`): if no admin stays, the participant who joined first becomes
    one."""
    staying = [participant for participant in participants if participant["userId"] != user_id]
    if staying and not any(participant["role"] == "admin" for participant in staying):
        heir = min(staying, key=seniority)
        return [
            {**participant, "role": "admin"} if participant is heir else participant
            for participant in staying
        ]
    return staying


def seniority(participant: ParticipantDocument) -> tuple[datetime, str]:
    """The order of participants: by when they joined, then by id (docs/behaviour.md 3.4)."""
    return participant["joinedAt"], participant["userId"]
