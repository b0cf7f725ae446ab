"""The first steps of every action with the moderation tools: the permission check, and the audit
log's row."""

from typing import Any, Literal

from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_message
from chat_aio.actions.host_hooks import notify_host
from chat_aio.actions.moderators import require_moderator
from chat_aio.capabilities import Capability, require
from chat_aio.errors import InvalidInput, MessageNotFound
from chat_aio.schema.models import Message
from chat_aio.schema.moderation_tools import ManyRemovals, MessageFinding
from chat_aio.store import audit
from chat_aio.store.documents import MessageDocument
from chat_aio.store.maintenance.find_messages import MessageCriteria
from chat_aio.store.tokenizer import terms_of

SECONDS = 2.0
"""How long a request scans messages before it returns early, with a cursor."""


async def require_moderation_tools(
    context: Context, user_id: str, action: str, *, target_user_id: str | None = None
) -> None:
    """Raise NotModerator and ModerationUnsupported."""
    await require_moderator(context, user_id, action, target_user_id=target_user_id)
    require(context, Capability.MODERATION)


async def load_for_moderator(
    context: Context, user_id: str, action: str, message_id: str
) -> MessageDocument:
    """A message, for an action about its sender. Raises as `require_moderation_tools`, and
    MessageNotFound."""
    try:
        found = await load_message(context, message_id)
    except MessageNotFound:
        # Only moderators may learn which messages exist.
        await require_moderation_tools(context, user_id, action)
        raise
    await require_moderation_tools(context, user_id, action, target_user_id=found["senderId"])
    return found


async def audit_view(
    context: Context, user_id: str, action: str, target_id: str, **details: object
) -> None:
    """Record in the audit log that a moderator looks at something, before they see it."""
    given: dict[str, Any] = {name: value for name, value in details.items() if value is not None}
    row = audit.entry(
        context.new_id(), action, target_id, actor_id=user_id, at=context.clock(), **given
    )
    # Before the answer: nobody must see a message without leaving a row.
    await audit.note(context.database, row)


async def notify_of(
    context: Context, user_id: str, kind: Literal["updated", "deleted"], message: Message
) -> None:
    """Call the host's `after_message_mutation`, unless the conversation cannot be read."""
    if snapshot := await context.snapshots.find(message.conversation_id):
        await notify_host(context, user_id, kind, message, snapshot.conversation)


def criteria_from(given: MessageFinding | ManyRemovals) -> MessageCriteria:
    """Which messages are selected. Raises InvalidInput if the selection has no user, conversation
    or time, or if there is no term in `contains`."""
    if not (given.sender_id or given.conversation_id or given.since or given.until):
        raise InvalidInput("userId, conversationId, since and until are missing: give at least one")
    terms = tuple(dict.fromkeys(terms_of(given.contains or "")))
    if given.contains is not None and not terms:
        raise InvalidInput("contains must have a letter or a digit")
    return MessageCriteria(
        user_id=given.sender_id,
        conversation_id=given.conversation_id,
        since=given.since,
        until=given.until,
        terms=terms,
    )
