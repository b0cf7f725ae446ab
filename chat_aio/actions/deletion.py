"""Deleting conversations, for hosts and operators (specification 3.9). Their rows are removed
in the background afterwards."""

from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_conversation
from chat_aio.errors import ConversationNotFound, LegalHold, NotConversationAdmin, SetupError
from chat_aio.schema import inputs
from chat_aio.store import audit, deletion
from chat_aio.store.deletion import HiddenConversation
from chat_aio.store.maintenance import doctor, legal_holds
from chat_aio.store.membership import Locked
from chat_aio.store.privileges import lacks

COMMAND = "conversations delete"
ACTION = "delete-conversation"


async def delete_conversation(
    context: Context, user_id: str, conversation_id: str, *, reason: str | None = None
) -> None:
    """Delete a conversation with all of its messages, for everybody and for good. The audit log
    keeps the acting user and the reason.

    Raises InvalidInput, ConversationNotFound, NotConversationAdmin (over HTTP, unless the host's
    `can_delete` allows it) and LegalHold (specification 3.9).
    """
    given = inputs.read(inputs.ConversationDeletion, reason=reason)
    snapshot = await load_conversation(context, conversation_id)
    if not await context.permissions.may_delete(user_id, snapshot.conversation):
        raise NotConversationAdmin
    await require_deletion_rights(context)
    await hide(context, user_id, conversation_id, given.reason)
    context.removals.wake()


async def hide(
    context: Context, user_id: str, conversation_id: str, reason: str | None
) -> HiddenConversation:
    """Hide a conversation from everybody, as the first step of its deletion. Raises
    ConversationNotFound and LegalHold."""
    entry = audit.entry(
        context.new_id(),
        ACTION,
        conversation_id,
        actor_id=user_id,
        at=context.clock(),
        reason=reason,
    )
    hidden = await deletion.hide(
        context.database,
        context.membership,
        context.settings,
        conversation_id,
        entry=entry,
        signal_id=context.new_id(),
        require_allowed=require_unheld,
    )
    if hidden is None:
        raise ConversationNotFound
    return hidden


async def require_unheld(locked: Locked) -> None:
    """Raise LegalHold if a hold keeps the conversation: one on it, on a participant or on a former
    one with messages in it."""
    if await legal_holds.keeps(locked.database, locked.conversation, locked.session):
        raise LegalHold


async def require_deletion_rights(context: Context) -> None:
    """Raise SetupError if this user of MongoDB lacks rights: a deletion must not stop half-way. The
    role of a chat that never deletes does not have them (docs/operations/mongodb.md)."""
    if context.removals.is_permitted:
        return
    if missing := await doctor.missing_rights(context.database, COMMAND):
        raise SetupError(f"nothing was deleted: {lacks(missing)}")
    context.removals.is_permitted = True
