"""Membership: the road that all changes of a group share, and the rules that hold there."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Literal, TypeVar

from chat_aio.actions.context import Context
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
from chat_aio.schema.models import ViewedConversation
from chat_aio.store import join_requests, membership
from chat_aio.store.conversations import new_participant
from chat_aio.store.documents import Change, EventName
from chat_aio.store.membership import Changed, Decide, Locked, MembershipChange
from chat_aio.store.unread import count_viewed

T = TypeVar("T")


async def change_membership(
    context: Context, user_id: str, conversation_id: str, decide: Decide
) -> ViewedConversation:
    """Change a conversation as `decide` says, which gets it locked; returns it as it is then, with
    the unread count of `user_id`. Raises ConversationNotFound and what `decide` raises."""
    return await viewed(context, user_id, await apply_change(context, conversation_id, decide))


async def apply_change(context: Context, conversation_id: str, decide: Decide) -> Changed:
    """Change a conversation as `decide` says, and publish the join requests that this resolves."""
    changed = await membership.change_conversation(
        context.database, context.sequencer, context.snapshots, conversation_id, decide
    )
    if changed is None:
        raise ConversationNotFound
    if changed.change is not None:
        await publish_resolved(context, changed.change.approved)
    return changed


async def viewed(context: Context, user_id: str, changed: Changed) -> ViewedConversation:
    """The conversation as the user sees it. The change is committed: a failure from here on must
    not say that nothing was written."""
    try:
        return await count_viewed(context.database, user_id, changed.conversation, changed.head)
    except StorageUnavailable as error:
        raise StorageUnavailable(OUTCOME_UNKNOWN) from error


async def write_locked(
    context: Context, conversation_id: str, write: Callable[[Locked], Awaitable[T]]
) -> T:
    """Write what depends on who is in a conversation and changes nothing of that; Unchanged, raised
    by `write`, has the answer where nothing is written. Raises ConversationNotFound."""
    written = await membership.write_locked(
        context.database, context.sequencer, conversation_id, write
    )
    if written is None:
        raise ConversationNotFound
    return written


async def admit(
    context: Context, locked: Locked, user_ids: Iterable[str], *, actor_id: str
) -> MembershipChange | None:
    """Let users in as members; None where all are in already. In whichever way they get in, their
    pending join requests are approved by that (docs/behaviour.md 9.6). Raises GroupLimitExceeded.
    """
    here = {each["userId"] for each in locked.conversation["participants"]}
    new = [each for each in dict.fromkeys(user_ids) if each not in here]
    if not new:
        return None
    if len(here) + len(new) > MAX_PARTICIPANTS:
        raise GroupLimitExceeded
    change = new_change(context, "participant.added", actor_id)
    change["addedUserIds"] = new
    approved = await join_requests.approve_pending(locked, new, by=actor_id, at=change["at"])
    return MembershipChange(
        change=change,
        added=tuple(new_participant(each, role="member", at=change["at"]) for each in new),
        approved=tuple(approved),
    )


def require_another_admin(locked: Locked, target_user_id: str) -> None:
    """Raise LastAdminRemaining where a user is the only admin."""
    participants = locked.conversation["participants"]
    if [each["userId"] for each in participants if each["role"] == "admin"] == [target_user_id]:
        raise LastAdminRemaining


def require_still_managing(context: Context, locked: Locked, user_id: str) -> None:
    """Behind the lock: whoever manages by being an admin still is one, or NotConversationAdmin. A
    host's own rule is asked just before."""
    if context.permissions.can_manage is is_admin:
        _require_admin(locked, user_id)


def require_still_inviting(context: Context, locked: Locked, user_id: str) -> None:
    """The same for whoever invites by being an admin."""
    if context.permissions.can_invite is is_admin:
        _require_admin(locked, user_id)


def _require_admin(locked: Locked, user_id: str) -> None:
    if role_of(locked, user_id) != "admin":
        raise NotConversationAdmin


def new_change(context: Context, kind: EventName, actor_id: str) -> Change:
    """The stamp of a change that is made now."""
    return {"id": context.new_id(), "at": context.clock(), "kind": kind, "actorId": actor_id}


def role_of(locked: Locked, user_id: str) -> Literal["admin", "member"] | None:
    """A participant's role, None for anybody else."""
    found = locked.find_participant(user_id)
    return found["role"] if found else None
