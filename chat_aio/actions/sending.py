"""Sending and forwarding: the checks that come before a new message is posted."""

from typing import Any

from chat_aio.actions.context import Context
from chat_aio.actions.guards import (
    acting_as,
    count_refusal,
    load_conversation,
    load_message,
    load_readable,
    load_within,
    load_writable,
    require_rate,
    require_readable,
    require_unblocked,
)
from chat_aio.actions.host_hooks import require_length
from chat_aio.actions.posting import Sent, find_repeated, post, question, request_hash
from chat_aio.errors import (
    ChatError,
    InvalidInput,
    MessageDeleted,
    StorageUnavailable,
    ThreadsUnsupported,
)
from chat_aio.schema import inputs
from chat_aio.schema.models import Message, Role
from chat_aio.store.documents import ForwardedFromDocument, MessageDocument
from chat_aio.store.mapping import bare_message_from
from chat_aio.store.messages import WITH_TERMS
from chat_aio.store.snapshots import Snapshot


@acting_as(None)
async def send_message(
    context: Context,
    user_id: str,
    conversation_id: str,
    body: str,
    *,
    role: Role | None = None,
    reply_to_message_id: str | None = None,
    thread_root_message_id: str | None = None,
    also_send_to_main: bool | None = None,
    mentions: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
    client_message_id: str | None = None,
) -> Message:
    """Send a message; returns it once it is durable on a majority (docs/behaviour.md 4).

    Repeating a request with its `client_message_id` returns the message as it is now. Raises
    InvalidInput, ThreadsUnsupported, ConversationNotFound, ForbiddenWrite,
    DirectInteractionBlocked, MessageNotFound and ForbiddenRead (the parent or root),
    MentionNotParticipant, MessageConflict and MessageRejected.
    """
    sent = await post_message(
        context,
        user_id,
        conversation_id,
        body=body,
        role=role,
        reply_to_message_id=reply_to_message_id,
        thread_root_message_id=thread_root_message_id,
        also_send_to_main=also_send_to_main,
        mentions=mentions,
        metadata=metadata,
        client_message_id=client_message_id,
    )
    return sent.message


@acting_as(None)
async def post_message(
    context: Context, user_id: str, conversation_id: str, **values: object
) -> Sent:
    """`send_message` for a caller that answers a repeated request differently."""
    try:
        given = _read(context, **values)
        snapshot = await load_writable(context, user_id, conversation_id)
    except ChatError as refusal:
        await count_refusal(context, user_id, "send_message", refusal)
        raise
    if repeated := await find_repeated(context, user_id, conversation_id, given):
        return repeated
    await require_rate(context, user_id, "send_message")
    try:
        return await _send(context, user_id, snapshot, given)
    except StorageUnavailable:
        context.rates.give_back(user_id, "send_message")
        raise


async def _send(
    context: Context, user_id: str, snapshot: Snapshot, given: inputs.NewMessage
) -> Sent:
    """A send that is new, and counted."""
    await require_unblocked(context, snapshot)
    await _require_place(context, user_id, snapshot, given)
    return await post(
        context,
        user_id,
        snapshot,
        question("send", user_id, snapshot, given.body, given),
        key=given.client_message_id,
        hashed=request_hash(given),
        replyToMessageId=given.reply_to_message_id,
        thread_root_message_id=given.thread_root_message_id,
        also_in_main=given.also_send_to_main or False,
    )


@acting_as(None)
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
) -> Message:
    """Copy a message's body into a conversation, as the acting user's (docs/behaviour.md 4.13).

    Raises InvalidInput, MessageNotFound, ConversationNotFound, ForbiddenRead (the source),
    ForbiddenWrite and DirectInteractionBlocked (the target), MessageDeleted, MentionNotParticipant,
    MessageConflict and MessageRejected.
    """
    sent = await post_forward(
        context,
        user_id,
        message_id,
        to_conversation_id=to_conversation_id,
        role=role,
        mentions=mentions,
        metadata=metadata,
        client_message_id=client_message_id,
    )
    return sent.message


@acting_as(None)
async def post_forward(context: Context, user_id: str, message_id: str, **values: object) -> Sent:
    """`forward_message` for a caller that answers a repeated request differently."""
    try:
        given, source, snapshot = await _read_forward(context, user_id, message_id, **values)
    except ChatError as refusal:
        await count_refusal(context, user_id, "forward_message", refusal)
        raise
    target_id = given.to_conversation_id
    if repeated := await find_repeated(context, user_id, target_id, given, forwarded=message_id):
        return repeated
    await require_rate(context, user_id, "forward_message")
    try:
        return await _forward(context, user_id, source, snapshot, given)
    except StorageUnavailable:
        context.rates.give_back(user_id, "forward_message")
        raise


async def _read_forward(
    context: Context, user_id: str, message_id: str, **values: object
) -> tuple[inputs.Forwarding, MessageDocument, Snapshot]:
    """The checked input of a forward, the message, and where the user may write it."""
    most = context.options.max_metadata_bytes
    given = inputs.read(inputs.Forwarding, metadata_within=most, **values)
    source = await load_message(context, message_id, WITH_TERMS)
    await load_conversation(context, given.to_conversation_id)
    await load_readable(context, user_id, source["conversationId"], bare_message_from(source))
    return given, source, await load_writable(context, user_id, given.to_conversation_id)


async def _forward(
    context: Context,
    user_id: str,
    source: MessageDocument,
    snapshot: Snapshot,
    given: inputs.Forwarding,
) -> Sent:
    """A forward that is new, and counted."""
    await require_unblocked(context, snapshot)

    async def still_there() -> None:
        if (await load_message(context, source["_id"]))["deletedAt"]:
            raise MessageDeleted("a deleted message cannot be forwarded")

    if source["deletedAt"]:
        raise MessageDeleted("a deleted message cannot be forwarded")
    forwarded: ForwardedFromDocument = {
        "messageId": source["_id"],
        "conversationId": source["conversationId"],
        "senderId": source["senderId"],
    }
    return await post(
        context,
        user_id,
        snapshot,
        question("forward", user_id, snapshot, source["body"], given, forwarded_from=forwarded),
        key=given.client_message_id,
        hashed=request_hash(given, forwarded=source["_id"]),
        ready=still_there,
        copied=source,
        forwardedFrom=forwarded,
    )


def _read(context: Context, **values: object) -> inputs.NewMessage:
    """The checked input of a send, limits of this installation included."""
    most = context.options.max_metadata_bytes
    given = inputs.read(inputs.NewMessage, metadata_within=most, **values)
    require_length(context, given.body)
    if given.also_send_to_main and given.thread_root_message_id is None:
        raise InvalidInput("alsoSendToMain: only a thread reply can be sent to the main list too")
    if given.thread_root_message_id is not None and not context.options.threads:
        raise ThreadsUnsupported
    return given


async def _require_place(
    context: Context, user_id: str, snapshot: Snapshot, given: inputs.NewMessage
) -> None:
    """The message replied to is of this conversation, and the thread's root of its main list; the
    user may read both."""
    conversation_id = snapshot.conversation.id

    async def load(message_id: str) -> MessageDocument:
        found = await load_within(context, conversation_id, message_id)
        await require_readable(context, user_id, snapshot, bare_message_from(found))
        return found

    if given.reply_to_message_id is not None:
        await load(given.reply_to_message_id)
    if given.thread_root_message_id is not None:
        root = await load(given.thread_root_message_id)
        if conversation_id not in root["timelines"]:
            raise InvalidInput("threadRootMessageId: this message is a thread reply itself")
