"""Mentions: a mentioned user must be a participant when the message is written."""

from collections.abc import Collection

from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_fresh
from chat_aio.actions.permissions import is_participant
from chat_aio.actions.room_rules import is_frozen_for, still_applies
from chat_aio.errors import (
    ConversationFrozen,
    DirectInteractionBlocked,
    ForbiddenWrite,
    MentionNotParticipant,
)
from chat_aio.store.documents import ConversationDocument
from chat_aio.store.numbering import StillAllowed
from chat_aio.store.snapshots import Snapshot


async def load_mentionable(
    context: Context, user_id: str, snapshot: Snapshot, mentioned: Collection[str]
) -> Snapshot:
    """Check that all `mentioned` are participants, on the snapshot or if that fails on a fresh
    one; returns the one that passed. `user_id` may write on the given snapshot. Raises
    ForbiddenWrite, DirectInteractionBlocked, ConversationFrozen and MentionNotParticipant."""
    if snapshot.conversation.roles.keys() >= set(mentioned):
        return snapshot
    return await load_checked(context, user_id, snapshot.conversation.id, mentioned)


async def load_checked(
    context: Context,
    user_id: str,
    conversation_id: str,
    mentioned: Collection[str],
    *,
    epoch: int = 0,
) -> Snapshot:
    """A fresh snapshot of `epoch` or later on which `user_id` may write and mention these users.
    Raises as `load_mentionable`."""
    snapshot = await load_fresh(context, conversation_id, epoch=epoch)
    if not await context.permissions.may_write(user_id, snapshot.conversation):
        raise ForbiddenWrite
    if snapshot.blocked:
        raise DirectInteractionBlocked
    if is_frozen_for(user_id, snapshot.conversation):
        raise ConversationFrozen
    roles = snapshot.conversation.roles
    missing = next((each for each in mentioned if each not in roles), None)
    if missing is not None:
        raise MentionNotParticipant(f"mentions must be participants; {missing!r} is not one")
    return snapshot


def still_allowed(
    context: Context,
    user_id: str,
    mentioned: Collection[str],
    *,
    slow_seconds: int | None = None,
) -> StillAllowed | None:
    """The same check as a function of the stored conversation, which a batch calls under the lock.
    None if the host has its own `can_write`: no hook is called in a transaction. With
    `slow_seconds`, slow mode must be as it was as well."""
    if context.permissions.can_write is not is_participant:
        return None
    needed = {user_id, *mentioned}

    def is_still_allowed(conversation: ConversationDocument) -> bool:
        inside = {each["userId"] for each in conversation["participants"]}
        if not needed <= inside or conversation.get("blockedBy"):
            return False
        return still_applies(context, user_id, conversation, slow_seconds)

    return is_still_allowed
