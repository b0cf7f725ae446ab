"""Deleting conversations by an operator: hidden at once, and their rows removed to the end."""

from collections.abc import Sequence
from dataclasses import dataclass

from chat_aio.actions.context import Context
from chat_aio.actions.deletion import hide
from chat_aio.actions.guards import require_user
from chat_aio.errors import ConversationNotFound, LegalHold
from chat_aio.store import conversations, deleted_conversations
from chat_aio.store.maintenance import legal_holds
from chat_aio.store.maintenance.progress import Counts, Progress, silent


@dataclass(frozen=True, slots=True)
class PlannedDeletion:
    """A conversation to delete, and its number of messages; or one that was deleted before, of
    which rows may be left."""

    conversation_id: str
    messages: int
    is_deleted: bool = False


async def plan_deletions(
    context: Context, user_id: str, conversation_ids: Sequence[str]
) -> tuple[PlannedDeletion, ...]:
    """Look at conversations. Raises UserBanned, ConversationNotFound and LegalHold, before anything
    is written."""
    await require_user(context, user_id)
    kept = await legal_holds.kept_conversations(context.database)
    planned = []
    for conversation_id in dict.fromkeys(conversation_ids):
        if conversation_id in kept:
            raise LegalHold(f"cannot delete conversation {conversation_id}: under a legal hold")
        head = await conversations.find_head(context.database, conversation_id)
        if head is not None:
            planned.append(PlannedDeletion(conversation_id, head["seq"] - head["floorSeq"]))
        # Planned again: an interrupted deletion may have left rows.
        elif await deleted_conversations.find(context.database, conversation_id):
            planned.append(PlannedDeletion(conversation_id, 0, is_deleted=True))
        else:
            raise ConversationNotFound(f"there is no conversation {conversation_id}")
    return tuple(planned)


async def carry_out(
    context: Context,
    user_id: str,
    planned: Sequence[PlannedDeletion],
    *,
    reason: str | None,
    progress: Progress = silent,
) -> Counts:
    """Delete the planned conversations, and finish deletions that were interrupted. Returns the
    number of conversations that are deleted now, and of their messages."""
    messages = deleted = 0
    with progress("Deleting", sum(found.messages for found in planned)) as advance:
        for found in planned:
            if not found.is_deleted:
                hidden = await hide(context, user_id, found.conversation_id, reason)
                messages += hidden.head["seq"] - hidden.head["floorSeq"]
                deleted += 1
            row = await deleted_conversations.find(context.database, found.conversation_id)
            if row is not None:
                await context.removals.remove(row, advance)
    return Counts(messages, deleted)
