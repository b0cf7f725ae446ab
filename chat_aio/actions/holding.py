"""Keeping a message for a moderator instead of sending it."""

from datetime import timedelta
from hashlib import sha256
from typing import NoReturn

from chat_aio.actions.attachments import keep_attached
from chat_aio.actions.context import Context
from chat_aio.actions.outgoing import Outgoing
from chat_aio.actions.screening import screens
from chat_aio.errors import MessageConflict, MessageHeld
from chat_aio.store import held_messages
from chat_aio.store.documents import HeldMessageDocument
from chat_aio.store.mapping import attached_from
from chat_aio.store.messages import RequestKey
from chat_aio.store.metadata import escaped
from chat_aio.store.shapes import readable

KEPT = timedelta(days=30)
"""How long a held message waits for a moderator."""


async def require_unheld(
    context: Context, user_id: str, conversation_id: str, key: RequestKey
) -> None:
    """Raise MessageHeld if an earlier request with the same idempotency key is held, whatever the
    plugins would answer now, and MessageConflict if that was a different request."""
    if not screens(context):
        return
    scope = conversation_id, user_id, key.client_message_id
    held = await held_messages.find_repeated(context.database, scope)
    if held is None:
        return
    if held.get("requestHash") != key.request_hash or not readable("held_messages", [held]):
        raise MessageConflict
    raise MessageHeld(held["reason"])


async def hold(context: Context, outgoing: Outgoing, reason: str) -> NoReturn:
    """Keep a message and raise MessageHeld. A repeated request keeps it once; raises
    MessageConflict if its idempotency key is that of another held message."""
    content, place = outgoing.content, outgoing.place
    held_id, at = context.new_id(), context.clock()
    key = outgoing.key or _own_key(held_id)
    held: HeldMessageDocument = {
        "_id": held_id,
        "conversationId": content.conversation.id,
        "senderId": content.user_id,
        "body": content.body,
        "role": content.role,
        "metadata": escaped(content.metadata),
        "mentions": sorted(content.mentions),
        "replyToMessageId": place.reply_to_message_id,
        "threadRootMessageId": place.thread_root_message_id,
        "alsoInMain": place.also_in_main,
        "clientMessageId": key.client_message_id,
        "requestHash": key.request_hash,
        "reason": reason,
        "createdAt": at,
        "expiresAt": at + KEPT,
        "releasedBy": None,
    }
    if content.attachments:
        held["attachments"] = attached_from(content.attachments)
        await keep_attached(context, content.attachments)
    is_kept = await held_messages.put(context.database, held)
    raise MessageHeld(reason) if is_kept else MessageConflict


def _own_key(held_id: str) -> RequestKey:
    """The key of a request that came without one: a release must send the message only once."""
    name = f"held:{held_id}"
    return RequestKey(name, sha256(name.encode()).digest())
