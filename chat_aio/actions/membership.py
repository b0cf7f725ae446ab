"""Membership: what all changes of a group have in common, and the rules inside the lock."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from chat_aio.actions.context import Context
from chat_aio.actions.optional_events import publish_resolved
from chat_aio.actions.permissions import is_admin
from chat_aio.actions.room_rules import hidden_from_new, require_admissible
from chat_aio.errors import (
    OUTCOME_UNKNOWN,
    ConversationNotFound,
    GroupLimitExceeded,
    LastAdminRemaining,
    NotConversationAdmin,
    StorageUnavailable,
)
from chat_aio.schema.fields import MAX_PARTICIPANTS
from chat_aio.schema.models import ViewedConversation
from chat_aio.store import join_requests
from chat_aio.store.conversations import new_participant
from chat_aio.store.documents import Change, EventName
from chat_aio.store.membership import Changed, Decide, Locked, MembershipChange
from chat_aio.store.unread import count_viewed

T = TypeVar("T")


async def change_membership(
    context: Context, user_id: str, conversation_id: str, decide: Decide
) -> ViewedConversation:
    """Lock a conversation, write what `decide` returns, and return the conversation afterwards with
    the unread count of `user_id`. Raises ConversationNotFound and what `decide` raises."""
    return await viewed(context, user_id, await apply_change(context, conversation_id, decide))


async def apply_change(context: Context, conversation_id: str, decide: Decide) -> Changed:
    """As `change_membership`, returning the change; publishes the join requests it resolves."""
    changed = await context.membership.change(conversation_id, decide)
    if changed is None:
        raise ConversationNotFound
    if changed.change is not None:
        await publish_resolved(context, changed.change.resolved)
    return changed


async def viewed(context: Context, user_id: str, changed: Changed) -> ViewedConversation:
    """The conversation after a change, with the user's unread count."""
    try:
        return await count_viewed(
            context.database,
            user_id,
            changed.conversation,
            changed.head,
            room_controls=context.options.room_controls,
        )
    except StorageUnavailable as error:
        # The change is committed, so the answer must not say that nothing was written.
        raise StorageUnavailable(OUTCOME_UNKNOWN) from error


async def write_locked(
    context: Context, conversation_id: str, write: Callable[[Locked], Awaitable[T]]
) -> T:
    """Run `write` with the conversation locked, for rows that depend on its participants and do not
    change them. `write` raises Unchanged with its answer if it writes nothing. Raises
    ConversationNotFound."""
    written = await context.membership.write_locked(conversation_id, write)
    if written is None:
        raise ConversationNotFound
    return written


async def admit(
    context: Context, locked: Locked, user_ids: Iterable[str], *, actor_id: str
) -> MembershipChange | None:
    """The change that adds users as members, None if all are in already. Their pending join
    requests are approved, however they get in (docs/behaviour.md 9.6). Raises ConversationBanned
    and GroupLimitExceeded.
    """
    here = {participant["userId"] for participant in locked.conversation["participants"]}
    new = [user_id for user_id in dict.fromkeys(user_ids) if user_id not in here]
    if not new:
        return None
    await require_admissible(context, locked, new)
    if len(here) + len(new) > MAX_PARTICIPANTS:
        raise GroupLimitExceeded
    change = new_change(context, "participant.added", actor_id)
    change["addedUserIds"] = new
    upto = hidden_from_new(locked)
    if upto:
        change["hiddenUpto"] = upto
    approved = await join_requests.approve_pending(locked, new, by=actor_id, at=change["at"])
    return MembershipChange(
        change=change,
        added=tuple(
            new_participant(user_id, role="member", at=change["at"], hidden_upto=upto)
            for user_id in new
        ),
        resolved=tuple(approved),
    )


def require_another_admin(locked: Locked, target_user_id: str) -> None:
    """Raise LastAdminRemaining if the user is the only admin."""
    participants = locked.conversation["participants"]
    if [
        participant["userId"] for participant in participants if participant["role"] == "admin"
    ] == [target_user_id]:
        raise LastAdminRemaining


def require_still_managing(context: Context, locked: Locked, user_id: str) -> None:
    """Re-checks admin rights inside the transaction; raises NotConversationAdmin. Without it, two
    admins who remove each other at once would both succeed (docs/behaviour.md 8.6)."""
    # A host's own rule may take seconds; it is asked before the lock, never under it.
    if context.permissions.can_manage is is_admin and locked.role_of(user_id) != "admin":
        raise NotConversationAdmin


def require_still_inviting(context: Context, locked: Locked, user_id: str) -> None:
    """The same for admins who invite."""
    if context.permissions.can_invite is is_admin and locked.role_of(user_id) != "admin":
        raise NotConversationAdmin


def new_change(context: Context, kind: EventName, actor_id: str) -> Change:
    """The stamp of a change: the feed makes the event from it."""
    return {"id": context.new_id(), "at": context.clock(), "kind": kind, "actorId": actor_id}
