"""Membership: the common parts of all changes of a group, and the rules under the lock."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar

from chat_aio.actions.context import Context
from chat_aio.actions.joining_rules import hidden_from_new, require_admissible
from chat_aio.actions.optional_events import publish_resolved
from chat_aio.actions.permissions import is_admin
from chat_aio.errors import (
    OUTCOME_UNKNOWN,
    ConversationNotFound,
    GroupLimitExceeded,
    LastAdminRemaining,
    NotConversationAdmin,
    StorageUnavailable,
)
from chat_aio.schema.fields import MAX_PARTICIPANTS
from chat_aio.schema.models import ConversationWithUnread, ParticipantRole
from chat_aio.store import join_requests
from chat_aio.store.conversations import new_participant
from chat_aio.store.documents import Change, ChangeKind
from chat_aio.store.membership import Changed, Decide, Locked, MembershipChange
from chat_aio.store.unread import count_viewed

T = TypeVar("T")


async def change_membership(
    context: Context, user_id: str, conversation_id: str, decide: Decide
) -> ConversationWithUnread:
    """Lock a conversation, write what `decide` returns, and return the conversation afterwards with
    the unread count of `user_id`. Raises ConversationNotFound and the errors of `decide`."""
    return await viewed(context, user_id, await apply_change(context, conversation_id, decide))


async def apply_change(context: Context, conversation_id: str, decide: Decide) -> Changed:
    """As `change_membership`, returning the change; publishes the join requests it resolves."""
    changed = await context.membership.change(conversation_id, decide)
    if changed is None:
        raise ConversationNotFound
    if changed.change is not None:
        # After the commit: a transaction that is repeated must not publish twice.
        await publish_resolved(context, changed.change.resolved)
    return changed


async def viewed(context: Context, user_id: str, changed: Changed) -> ConversationWithUnread:
    """The conversation after a change, with the user's unread count."""
    try:
        return await count_viewed(
            context.database,
            user_id,
            changed.conversation,
            changed.head,
        )
    except StorageUnavailable as error:
        # The change is committed, so the error must not claim that nothing was written.
        raise StorageUnavailable(OUTCOME_UNKNOWN) from error


async def write_locked(
    context: Context, conversation_id: str, write: Callable[[Locked], Awaitable[T]]
) -> T:
    """Run `write` with the conversation locked, for rows that depend on its participants without
    changing them. `write` raises Unchanged with its result if it writes nothing. Raises
    ConversationNotFound."""
    written = await context.membership.write_locked(conversation_id, write)
    if written is None:
        raise ConversationNotFound
    return written


async def admit(
    context: Context, locked: Locked, user_ids: Iterable[str], *, actor_id: str
) -> MembershipChange | None:
    """The change that adds users as members; None if all are participants already. Their pending
    join requests are approved, however they join (specification 9.6). Raises ConversationBanned
    and GroupLimitExceeded.
    """
    here = {participant["userId"] for participant in locked.conversation["participants"]}
    new = [user_id for user_id in dict.fromkeys(user_ids) if user_id not in here]
    if not new:
        return None
    change = new_change(context, "participant.added", actor_id)
    return await let_in(context, locked, dict.fromkeys(new, "member"), change)


async def let_in(
    context: Context,
    locked: Locked,
    roles: Mapping[str, ParticipantRole],
    change: Change,
    *,
    leaving: int = 0,
) -> MembershipChange:
    """The change that adds users who are not in the conversation, in these roles, while some others
    leave; `change`, its stamp, gets their ids. Raises ConversationBanned and GroupLimitExceeded."""
    new = list(roles)
    # Only new participants: a ban removes its user, so no other participant is banned.
    await require_admissible(context, locked, new)
    if len(locked.conversation["participants"]) - leaving + len(new) > MAX_PARTICIPANTS:
        raise GroupLimitExceeded
    change["addedUserIds"] = new
    if upto := hidden_from_new(locked):
        change["hiddenUpToSeq"] = upto
    # In the same transaction, or an admin could still deny a participant's request.
    approved = await join_requests.approve_pending(
        locked, new, by=change["actorId"], at=change["at"]
    )
    return MembershipChange(
        change=change,
        added=tuple(
            new_participant(user_id, role=role, at=change["at"], hidden_up_to_seq=upto)
            for user_id, role in roles.items()
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
    """Check admin rights again inside the transaction; raises NotConversationAdmin. Otherwise two
    admins who remove each other at once would both succeed (specification 8.6)."""
    # A host's own rule may take seconds; it is called before the lock, never under it.
    if context.permissions.can_manage is is_admin and locked.role_of(user_id) != "admin":
        raise NotConversationAdmin


def require_still_inside(_: Context, locked: Locked, user_id: str) -> None:
    """As `require_still_managing`, for participants whom the host lets change metadata."""
    if locked.role_of(user_id) is None:
        raise NotConversationAdmin


def require_still_inviting(context: Context, locked: Locked, user_id: str) -> None:
    """As `require_still_managing`, for admins who invite."""
    if context.permissions.can_invite is is_admin and locked.role_of(user_id) != "admin":
        raise NotConversationAdmin


def new_change(context: Context, kind: ChangeKind, actor_id: str) -> Change:
    """The stamp of a change: the feed makes the event from it."""
    return {"id": context.new_id(), "at": context.clock(), "kind": kind, "actorId": actor_id}
