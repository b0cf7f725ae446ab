"""Keeping a message for a moderator instead of sending it."""

from datetime import timedelta
from functools import partial
from hashlib import sha256
from typing import NoReturn

from chat_aio.actions.attachments import keep_attached
from chat_aio.actions.context import Context
from chat_aio.actions.guards import withdraw_if_deleted
from chat_aio.actions.outgoing import Outgoing
from chat_aio.errors import MessageConflict, MessageHeld
from chat_aio.store import held_messages
from chat_aio.store.documents import HeldMessageDocument
from chat_aio.store.mapping import attached_from
from chat_aio.store.messages import RequestKey
from chat_aio.store.metadata import escaped

KEPT = timedelta(days=30)
"""How long a held message waits for a moderator."""


async def hold_message(context: Context, outgoing: Outgoing, reason: str) -> NoReturn:
    """Hold a message and raise MessageHeld. A repeated request holds it only once; raises
    MessageConflict if its idempotency key belongs to another held message."""
    content, place = outgoing.content, outgoing.place
    held_id, at = context.new_id(), context.clock()
    key = outgoing.key
    if key is None:
        # A release must send the message only once, and recognises its earlier try by the key.
        name = f"held:{held_id}"
        key = RequestKey(name, sha256(name.encode()).digest())
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
        "alsoSendToMain": place.also_send_to_main,
        "clientMessageId": key.client_message_id,
        "requestHash": key.request_hash,
        "reason": reason,
        "createdAt": at,
        "expiresAt": at + KEPT,
        "releasedBy": None,
    }
    if outgoing.silent:
        held["silent"] = True
    if content.attachments:
        held["attachments"] = attached_from(content.attachments)
        await keep_attached(context, content.attachments)
    is_kept = await held_messages.put(context.database, held)
    withdraw = partial(held_messages.remove, context.database, held_id)
    await withdraw_if_deleted(context, content.conversation.id, withdraw)
    raise MessageHeld(reason) if is_kept else MessageConflict
