"""Keeping a message for a moderator instead of sending it."""

from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any, NoReturn

from chat_aio.actions.attachments import keep_attached
from chat_aio.actions.context import Context
from chat_aio.actions.screening import screens
from chat_aio.errors import MessageConflict, MessageHeld
from chat_aio.hooks import BeforeMessageSend
from chat_aio.store import held_messages
from chat_aio.store.documents import HeldMessageDocument
from chat_aio.store.mapping import attached_from
from chat_aio.store.metadata import escaped
from chat_aio.store.shapes import readable

KEPT = timedelta(days=30)
"""How long a held message waits for a moderator."""


async def require_unheld(
    context: Context, user_id: str, conversation_id: str, key: Mapping[str, Any]
) -> None:
    """Raise MessageHeld if an earlier request with the same idempotency key is held, whatever the
    plugins would say now, and MessageConflict if that was a different request."""
    if not screens(context):
        return
    scope = conversation_id, user_id, key["clientMessageId"]
    held = await held_messages.find_repeated(context.database, scope)
    if held is None:
        return
    if held.get("requestHash") != key["requestHash"] or not readable("held_messages", [held]):
        raise MessageConflict
    raise MessageHeld(held["reason"])


async def hold(
    context: Context, asked: BeforeMessageSend, fields: Mapping[str, Any], reason: str
) -> NoReturn:
    """Keep a message and raise MessageHeld. A repeated request keeps it once; raises
    MessageConflict if its idempotency key is that of another held message."""
    held_id, at = context.new_id(), context.clock()
    key = fields.get("clientMessageId") or f"held:{held_id}"
    hashed = fields.get("requestHash") or sha256(key.encode()).digest()
    held: HeldMessageDocument = {
        "_id": held_id,
        "conversationId": asked.conversation.id,
        "senderId": asked.user_id,
        "body": asked.body,
        "role": asked.role,
        "metadata": escaped(asked.metadata),
        "mentions": sorted(asked.mentions),
        "replyToMessageId": fields["replyToMessageId"],
        "threadRootMessageId": fields["thread_root_message_id"],
        "alsoInMain": fields["also_in_main"],
        "clientMessageId": key,
        "requestHash": hashed,
        "reason": reason,
        "createdAt": at,
        "expiresAt": at + KEPT,
        "releasedBy": None,
    }
    if asked.attachments:
        held["attachments"] = attached_from(asked.attachments)
        await keep_attached(context, asked.attachments)
    is_kept = await held_messages.put(context.database, held)
    raise MessageHeld(reason) if is_kept else MessageConflict
