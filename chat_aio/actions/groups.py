"""Groups: creating and changing them, and their participants."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from chat_aio.actions.blocks import require_together
from chat_aio.actions.context import Context
from chat_aio.actions.conversations import (
    Opened,
    create_or_find,
    find_viewed,
    past_deletions,
)
from chat_aio.actions.guards import (
    load_conversation,
    load_fresh,
    load_group,
    load_leavable,
    load_manageable,
    may_set_metadata,
    require_managing,
    within,
)
from chat_aio.actions.membership import (
    admit,
    change_membership,
    let_in,
    new_change,
    require_another_admin,
    require_still_inside,
    require_still_managing,
)
from chat_aio.actions.metadata import MetadataGiven, metadata_to_set, require_editable
from chat_aio.actions.users import require_users
from chat_aio.capabilities import Capability, require
from chat_aio.errors import (
    DirectInteractionBlocked,
    GroupLimitExceeded,
    InvalidInput,
    LastAdminRemaining,
    NotConversationAdmin,
    StorageUnavailable,
)
from chat_aio.schema import inputs
from chat_aio.schema.fields import MAX_PARTICIPANTS
from chat_aio.schema.inputs import KEEP, Keep
from chat_aio.schema.models import (
    ConversationWithUnread,
    JoinPolicy,
    ParticipantRole,
    Visibility,
)
from chat_aio.store import conversations
from chat_aio.store.documents import ROOM_CONTROLS, ParticipantDocument
from chat_aio.store.membership import Locked, MembershipChange
from chat_aio.store.metadata import escaped
from chat_aio.store.snapshots import Snapshot

RequireStill = Callable[[Context, Locked, str], None]

Roles = dict[str, ParticipantRole]
"""Participants by user id, with their roles."""

AUTHORS = {"name": "namedBy", "topic": "topicBy"}
"""The texts of a group, and the fields with their authors: an erasure finds the texts by these."""


async def create_group_conversation(
    context: Context,
    user_id: str,
    *,
    user_ids: Sequence[str] | None = None,
    name: str | None = None,
    visibility: Visibility | None = None,
    join_policy: JoinPolicy | None = None,
    metadata: dict[str, Any] | None = None,
) -> ConversationWithUnread:
    """Create a group with the acting user as its admin and `user_ids` as members
    (specification 3.5).

    Raises InvalidInput, ChannelsUnsupported, CreateNotAllowed, GroupLimitExceeded, UserNotFound
    and DirectInteractionBlocked (with `hide_blocked_users`).
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
    opened = await make_group(context, user_id, given, with_creator(user_id, given))
    return opened.conversation


async def make_group(
    context: Context,
    user_id: str,
    given: inputs.GroupConversation | inputs.GroupOf,
    roles: Roles,
    *,
    key: str | None = None,
) -> Opened:
    """Create a group with these participants; or with a `key`, find the group that has it, without
    regard to anything else that is given."""
    # Finding it needs no right to read, as with a direct conversation: by creating it, the caller
    # would have got the same.
    taken = None if key is None else await conversations.id_of_key(context.database, key)
    if taken and (found := await find_viewed(context, user_id, taken)):
        return Opened(found, is_new=False)
    require_channels(context, given.visibility, given.join_policy)
    others = [name for name in roles if name != user_id]
    await context.permissions.require_create(user_id, "group", others, given.metadata)
    require_sound(roles)
    await require_users(context, user_id, others)
    new = conversations.new_conversation(
        context.new_id(),
        creator_id=user_id,
        roles=roles,
        at=context.clock(),
        change_id=context.new_id(),
        name=given.name,
        metadata=escaped(given.metadata or {}),
        visibility=given.visibility or "private",
        join_policy=given.join_policy or "approval",
        key=key,
    )
    # Within the transaction: a block that was acknowledged before it keeps the users apart.
    allowed = partial(require_together, context, user_id, others)
    return await past_deletions(context, lambda: create_or_find(context, user_id, new, allowed))


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
) -> ConversationWithUnread:
    """Rename a group (None clears the name), publish it, or set how users join it; with
    `editable_metadata` also replace its metadata, if they have this version.

    Raises InvalidInput (also when nothing is given), ChannelsUnsupported, ConversationNotFound,
    NotGroupConversation, NotConversationAdmin and MetadataConflict (specification 8.2).
    """
    require_editable(context, metadata, metadata_version)
    named = {} if name is KEEP else {"name": name}
    given = inputs.read(
        inputs.ConversationChangeWithMetadata,
        metadata_within=context.options.max_metadata_bytes,
        **named,
        visibility=visibility,
        join_policy=join_policy,
        metadata=metadata,
        metadata_version=metadata_version,
    )
    fields = fields_of(given, named)
    if not fields and given.metadata is None:
        raise InvalidInput("name, visibility and joinPolicy are missing: give at least one")
    require_channels(context, given.visibility, given.join_policy)
    still = await load_changeable(context, user_id, conversation_id, only_metadata=not fields)
    return await set_fields(context, user_id, conversation_id, fields, given, require_still=still)


def fields_of(given: inputs.ConversationChange, named: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a conversation to set, without the metadata; `named` contains the name if that
    is given."""
    without = {"metadata", "metadata_version"}
    wanted = given.model_dump(by_alias=True, exclude_none=True, exclude=without)
    return {**wanted, "name": given.name} if named else wanted


async def load_changeable(
    context: Context, user_id: str, conversation_id: str, *, only_metadata: bool
) -> RequireStill:
    """Check that a user may change a group; `only_metadata` may also be changed by participants for
    whom `can_set_metadata` returns True. Returns the check to repeat under the lock. Raises as
    `load_manageable`."""
    snapshot = await load_group(context, conversation_id)
    if only_metadata and await may_set_metadata(context, user_id, snapshot):
        return require_still_inside
    await require_managing(context, user_id, snapshot)
    return require_still_managing


async def set_metadata(
    context: Context,
    user_id: str,
    conversation_id: str,
    metadata: dict[str, Any],
    *,
    metadata_version: int | None = None,
) -> ConversationWithUnread:
    """Replace the metadata of a group or a direct conversation, if they have this version.

    Raises InvalidInput, ConversationNotFound, NotConversationAdmin, DirectInteractionBlocked and
    MetadataConflict (specification 18.3).
    """
    given = inputs.read(
        inputs.MetadataChange,
        metadata_within=context.options.max_metadata_bytes,
        metadata=metadata,
        metadata_version=metadata_version,
    )
    snapshot = await load_conversation(context, conversation_id)
    await require_managing(context, user_id, snapshot)
    return await set_fields(context, user_id, conversation_id, {}, given)


async def set_fields(
    context: Context,
    user_id: str,
    conversation_id: str,
    fields: Mapping[str, Any],
    given: MetadataGiven,
    *,
    require_still: RequireStill = require_still_managing,
) -> ConversationWithUnread:
    """Set fields of a conversation and the metadata that are given, with one event; nothing happens
    if all are so already. `require_still` repeats the caller's check under the lock."""

    async def decide(locked: Locked) -> MembershipChange | None:
        require_still(context, locked, user_id)
        if locked.conversation.get("blockedBy"):
            raise DirectInteractionBlocked
        replaced = metadata_to_set(locked.conversation, given)
        # With the defaults: most conversations have never had their room controls stored.
        is_so = fields.items() <= {**ROOM_CONTROLS, **locked.conversation}.items()
        if is_so and not replaced:
            return None
        change = new_change(context, "conversation.updated", user_id)
        authors = {
            author: user_id
            for text, author in AUTHORS.items()
            if text in fields and fields[text] != locked.conversation.get(text)
        }
        return MembershipChange(change=change, fields={**fields, **authors, **replaced})

    return await change_membership(context, user_id, conversation_id, decide)


async def add_participants(
    context: Context, user_id: str, conversation_id: str, user_ids: Sequence[str]
) -> ConversationWithUnread:
    """Add users to a group as members; participants keep their role and read state.

    If one user cannot be added, none is. Raises InvalidInput, ConversationNotFound,
    NotGroupConversation, NotConversationAdmin, UserNotFound, GroupLimitExceeded,
    DirectInteractionBlocked (with `hide_blocked_users`) and ConversationBanned (with
    `room_controls`) (specification 8.3).
    """
    given = inputs.read(inputs.Participants, user_ids=user_ids)
    snapshot = await load_manageable(context, user_id, conversation_id)
    if len(given.user_ids) > MAX_PARTICIPANTS:
        # Together they exceed the limit, so none needs to be looked up.
        raise GroupLimitExceeded
    for _ in within(context):
        inside = snapshot.conversation.roles.keys() & given.user_ids
        # Those inside are not looked up: the host may no longer know them.
        new = [joining for joining in given.user_ids if joining not in inside]
        await require_users(context, user_id, new)
        try:
            return await _add(context, user_id, conversation_id, given.user_ids, inside)
        except _Left as left:
            snapshot = await load_fresh(context, conversation_id, epoch=left.epoch)
    raise StorageUnavailable


class _Left(Exception):
    """Raised if a participant has left, by `epoch`, since the other users were looked up."""

    def __init__(self, epoch: int) -> None:
        super().__init__()
        self.epoch = epoch


async def _add(
    context: Context,
    user_id: str,
    conversation_id: str,
    user_ids: Sequence[str],
    inside: Collection[str],
) -> ConversationWithUnread:
    """Add users. Raises _Left if one of `inside`, who were not checked to exist, has left."""

    async def decide(locked: Locked) -> MembershipChange | None:
        require_still_managing(context, locked, user_id)
        if any(locked.role_of(user_id) is None for user_id in inside):
            raise _Left(locked.conversation["epoch"])
        new = [user_id for user_id in user_ids if locked.role_of(user_id) is None]
        await require_together(context, user_id, new, locked.session)
        return await admit(context, locked, user_ids, actor_id=user_id)

    return await change_membership(context, user_id, conversation_id, decide)


async def apply_participants(
    context: Context, user_id: str, snapshot: Snapshot, roles: Roles
) -> ConversationWithUnread:
    """Make `roles` the participants of a group, after checking that the new ones exist."""
    conversation_id = snapshot.conversation.id
    for _ in within(context):
        inside = snapshot.conversation.roles.keys() & roles.keys()
        await require_users(context, user_id, [name for name in roles if name not in inside])
        decide = partial(_replace_participants, context, user_id, roles, inside)
        try:
            return await change_membership(context, user_id, conversation_id, decide)
        except _Left as left:
            snapshot = await load_fresh(context, conversation_id, epoch=left.epoch)
    raise StorageUnavailable


async def _replace_participants(
    context: Context, user_id: str, roles: Roles, inside: Collection[str], locked: Locked
) -> MembershipChange | None:
    """The change that makes `roles` the participants; None if they are. Raises _Left as `_add`."""
    require_still_managing(context, locked, user_id)
    held: Roles = {
        participant["userId"]: participant["role"]
        for participant in locked.conversation["participants"]
    }
    if not held.keys() >= set(inside):
        raise _Left(locked.conversation["epoch"])
    if held == roles:
        return None
    joining = {name: role for name, role in roles.items() if name not in held}
    leaving = [name for name in held if name not in roles]
    changed = {name: role for name, role in roles.items() if held.get(name, role) != role}
    change = new_change(context, "participants.changed", user_id)
    if leaving:
        change["removedUserIds"] = leaving
    if changed:
        change["affectedUserIds"] = list(changed)
    made = MembershipChange(change=change)
    if joining:
        await require_together(context, user_id, list(joining), locked.session)
        made = await let_in(context, locked, joining, change, leaving=len(leaving))
    return replace(made, removed=tuple(leaving), roles=changed)


async def remove_participant(
    context: Context, user_id: str, conversation_id: str, target_user_id: str
) -> ConversationWithUnread:
    """Remove a user from a group, or leave it if the user is the caller; returns the group
    afterwards.

    Raises InvalidInput, ConversationNotFound, NotGroupConversation, NotConversationAdmin,
    LeaveNotAllowed and LastAdminRemaining (specification 8.4).
    """
    given = inputs.read(inputs.ParticipantRemove, target_user_id=target_user_id)
    leaving = given.target_user_id == user_id
    if leaving:
        await load_leavable(context, user_id, conversation_id)
    else:
        await load_manageable(context, user_id, conversation_id)

    async def decide(locked: Locked) -> MembershipChange | None:
        if not leaving:
            require_still_managing(context, locked, user_id)
        if locked.role_of(given.target_user_id) is None:
            if leaving:
                # As for all users who may not change this group (specification 8.4).
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
) -> ConversationWithUnread:
    """Make a participant an admin or a member.

    Raises InvalidInput (also for users who are not in the group), ConversationNotFound,
    NotGroupConversation, NotConversationAdmin and LastAdminRemaining (specification 8.5).
    """
    given = inputs.read(inputs.ParticipantChange, target_user_id=target_user_id, role=role)
    await load_manageable(context, user_id, conversation_id)

    async def decide(locked: Locked) -> MembershipChange | None:
        # Under the lock: another admin may have changed the caller's role, or the target's, since.
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


def with_creator(creator_id: str, given: inputs.GroupConversation) -> Roles:
    """The participants of a new group: its creator is the admin."""
    return {**dict.fromkeys(given.user_ids or (), "member"), creator_id: "admin"}


def require_sound(roles: Roles) -> Roles:
    """Participants that a group can have. Raises GroupLimitExceeded, and LastAdminRemaining if none
    of them is an admin."""
    if len(roles) > MAX_PARTICIPANTS:
        raise GroupLimitExceeded
    if "admin" not in roles.values():
        raise LastAdminRemaining
    return roles


def without_erased(
    participants: Sequence[ParticipantDocument], user_id: str
) -> list[ParticipantDocument]:
    """The participants who stay in a group when a user is erased. An erasure cannot be refused
    because the user is the only admin (`require_another_admin`): if no admin stays, the participant
    who joined first becomes one."""
    staying = [participant for participant in participants if participant["userId"] != user_id]
    if staying and not any(participant["role"] == "admin" for participant in staying):
        heir = min(staying, key=seniority)
        return [
            {**participant, "role": "admin"} if participant is heir else participant
            for participant in staying
        ]
    return staying


def seniority(participant: ParticipantDocument) -> tuple[datetime, str]:
    """The order of participants: by time of joining, then by id (specification 3.4)."""
    return participant["joinedAt"], participant["userId"]
