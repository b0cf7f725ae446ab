"""Forwarding: a message's body copied into another conversation as a new message."""

from typing import Any

from chat_aio.actions.context import Context
from chat_aio.actions.guards import (
    load_conversation,
    load_message,
    load_shown,
    load_writable,
    require_readable,
)
from chat_aio.actions.holding import require_unheld
from chat_aio.actions.sending import Sent, find_repeated, key_fields, post
from chat_aio.actions.writing import require_open
from chat_aio.errors import MessageDeleted
from chat_aio.hooks import BeforeMessageSend
from chat_aio.schema import inputs
from chat_aio.schema.models import Role
from chat_aio.store.documents import ForwardedFromDocument, MessageDocument
from chat_aio.store.mapping import attachments_from, bare_message_from, forwarded_from_of
from chat_aio.store.messages import WITH_TERMS
from chat_aio.store.snapshots import Snapshot


async def forward_message(
    context: Context,
    user_id: str,
    message_id: str,
    to_conversation_id: str,
    *,
    role: Role | None = None,
    mentions: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
    client_message_id: str | None = None,
) -> Sent:
    """Forward a message: copy its body into a conversation (docs/behaviour.md 4.13). The copy
    has its attachments too, which are not copied themselves.

    Raises InvalidInput, MessageNotFound, ConversationNotFound, ForbiddenRead (the source),
    ForbiddenWrite and DirectInteractionBlocked (the target), MessageDeleted, MentionNotParticipant,
    AttachmentNotFound, MessageConflict and MessageRejected; with `room_controls` ConversationFrozen
    and SlowMode (the target); over HTTP RoleNotAllowed.
    """
    async with context.rate_limits.counting_refusals(user_id, "forward_message"):
        given = inputs.read(
            inputs.Forwarding,
            metadata_within=context.options.max_metadata_bytes,
            to_conversation_id=to_conversation_id,
            role=role,
            mentions=mentions,
            metadata=metadata,
            client_message_id=client_message_id,
        )
        target_id = given.to_conversation_id
        source, origin = await load_shown(context, user_id, message_id, WITH_TERMS)
        await load_conversation(context, target_id)
        await require_readable(context, user_id, origin, bare_message_from(source))
        snapshot = await load_writable(context, user_id, target_id)
        await context.permissions.require_role(user_id, given.role)
    return await _forward(context, user_id, source, snapshot, given)


async def _forward(
    context: Context,
    user_id: str,
    source: MessageDocument,
    snapshot: Snapshot,
    given: inputs.Forwarding,
) -> Sent:
    target_id, copied = given.to_conversation_id, source["_id"]
    key = key_fields(given, copied=copied)
    if key and (repeated := await find_repeated(context, user_id, target_id, key)):
        return repeated
    if key:
        await require_unheld(context, user_id, target_id, key)

    # The host's hook may take seconds, in which the source can be deleted.
    async def require_still_there() -> None:
        _require_alive(await load_message(context, copied))

    async with context.rate_limits.counting(user_id, "forward_message"):
        snapshot = await require_open(context, user_id, snapshot)
        _require_alive(source)
        mentioned, reference = tuple(given.mentions or ()), _reference(source)
        snapshot = await require_open(context, user_id, snapshot, mentioned)
        asked = BeforeMessageSend(
            user_id=user_id,
            kind="forward",
            conversation=snapshot.conversation,
            body=source["body"],
            role=given.role or "user",
            metadata=given.metadata or {},
            mentions=mentioned,
            forwarded_from=forwarded_from_of(reference),
            attachments=attachments_from(source.get("attachments")),
        )
        fields = {**key, "forwardedFrom": reference, "terms": source.get("terms")}
        return await post(context, asked, fields, snapshot=snapshot, recheck=require_still_there)


def _require_alive(source: MessageDocument) -> None:
    if source["deletedAt"]:
        raise MessageDeleted("a deleted message cannot be forwarded")


def _reference(source: MessageDocument) -> ForwardedFromDocument:
    return {
        "messageId": source["_id"],
        "conversationId": source["conversationId"],
        "senderId": source["senderId"],
    }
