"""Changing a group: the road that all membership actions share, and the rules that hold there."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Literal, TypeVar

from chat_aio.actions.context import Context
from chat_aio.actions.optional_events import tell_let_in
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
from chat_aio.store import membership
from chat_aio.store.conversations import new_participant
from chat_aio.store.documents import Change, ConversationDocument, CounterDocument, EventName
from chat_aio.store.membership import Alteration, Locked
from chat_aio.store.unread import count_viewed

T = TypeVar("T")
Decide = Callable[[Locked], Awaitable[Alteration | None]]


async def alter(
    context: Context, user_id: str, conversation_id: str, decide: Decide
) -> ViewedConversation:
    """Change a conversation as `decide` says, which sees it behind its lock; returns it as it is
    then, with the unread count of `user_id`. Raises ConversationNotFound and what `decide` raises.
    """
    made: Alteration | None = None
    head: CounterDocument | None = None

    async def noted(locked: Locked) -> Alteration | None:
        nonlocal made, head
        head = locked.head
        made = await decide(locked)
        return made

    changed = await membership.change_conversation(
        context.database, context.sequencer, context.snapshots, conversation_id, noted
    )
    if changed is None or head is None:
        raise ConversationNotFound
    if made is not None:
        await tell_let_in(context, conversation_id, made)
    return await _viewed(context, user_id, changed, head)


async def _viewed(
    context: Context, user_id: str, changed: ConversationDocument, head: CounterDocument
) -> ViewedConversation:
    """What has been committed, as the user sees it; it cannot be said that nothing was written."""
    try:
        return await count_viewed(context.database, user_id, changed, head)
    except StorageUnavailable as error:
        raise StorageUnavailable(OUTCOME_UNKNOWN) from error


async def write_beside(
    context: Context, conversation_id: str, write: Callable[[Locked], Awaitable[T]]
) -> T:
    """Write what depends on who is in a conversation and changes nothing of that; Unchanged, raised
    by `write`, has the answer where nothing is written. Raises ConversationNotFound."""
    written = await membership.write_beside(
        context.database, context.sequencer, conversation_id, write
    )
    if written is None:
        raise ConversationNotFound
    return written


def admission(
    context: Context, locked: Locked, user_ids: Iterable[str], *, actor_id: str
) -> Alteration | None:
    """Let users in as members, None where all are in; GroupLimitExceeded for too many."""
    here = {each["userId"] for each in locked.conversation["participants"]}
    new = [each for each in dict.fromkeys(user_ids) if each not in here]
    if not new:
        return None
    if len(here) + len(new) > MAX_PARTICIPANTS:
        raise GroupLimitExceeded
    change = new_change(context, "participant.added", actor_id)
    change["addedUserIds"] = new
    return Alteration(
        change=change,
        added=tuple(new_participant(each, role="member", at=change["at"]) for each in new),
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
