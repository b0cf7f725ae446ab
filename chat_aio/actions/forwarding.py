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
from chat_aio.actions.idempotency import Sent, find_repeated, request_key
from chat_aio.actions.outgoing import Outgoing
from chat_aio.actions.sending import post
from chat_aio.actions.write_rule import require_open
from chat_aio.errors import MessageDeleted
from chat_aio.hooks import BeforeMessageSend
from chat_aio.schema import inputs
from chat_aio.schema.models import ForwardedFrom, Role
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import attachments_from, bare_message_from
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
    """Forward a message: copy its body into a conversation (specification 4.13). The copy
    refers to the same attachments, which are not copied.

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
    key = None
    if given.client_message_id is not None:
        key = request_key(given, given.client_message_id, copied=copied)
        if sent := await find_repeated(context, user_id, target_id, key):
            return sent

    # The host's hook may take seconds, during which the source can be deleted.
    async def require_still_there() -> None:
        _require_alive(await load_message(context, copied))

    async with context.rate_limits.counting(user_id, "forward_message"):
        # In the order of a send: the conversation, then the source, then the mentions.
        snapshot = await require_open(context, user_id, snapshot)
        _require_alive(source)
        mentioned = tuple(given.mentions or ())
        snapshot = await require_open(context, user_id, snapshot, mentioned)
        content = BeforeMessageSend(
            user_id=user_id,
            kind="forward",
            conversation=snapshot.conversation,
            body=source["body"],
            role=given.role or "user",
            metadata=given.metadata or {},
            mentions=mentioned,
            forwarded_from=ForwardedFrom(
                message_id=copied,
                conversation_id=source["conversationId"],
                sender_id=source["senderId"],
            ),
            attachments=attachments_from(source.get("attachments")),
        )
        outgoing = Outgoing(content=content, snapshot=snapshot, key=key, terms=source.get("terms"))
        return await post(context, outgoing, recheck=require_still_there)


def _require_alive(source: MessageDocument) -> None:
    if source["deletedAt"]:
        raise MessageDeleted("a deleted message cannot be forwarded")
