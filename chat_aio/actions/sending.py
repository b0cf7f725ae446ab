"""Sending: check, ask the host, number and store, tell the host."""

import logging
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import orjson

from chat_aio import hooks, inputs
from chat_aio.actions.access import acting, load_fresh, load_writable
from chat_aio.context import Context
from chat_aio.errors import (
    ChatError,
    InternalError,
    InvalidInput,
    MessageConflict,
    MessageRejected,
)
from chat_aio.hooks import BeforeMessageSend, Changed, MessageMutation
from chat_aio.models import Conversation, Message, Role
from chat_aio.store import messages
from chat_aio.store.batch import Appended, EpochMoved
from chat_aio.store.documents import MessageDocument
from chat_aio.store.metadata import escaped
from chat_aio.store.views import message_from

log = logging.getLogger(__name__)

CHECKS = 4


@dataclass(frozen=True, slots=True)
class Sent:
    """A message, and whether an earlier request with the same key had stored it already."""

    message: Message
    repeated: bool


@acting
async def send_message(
    context: Context,
    user_id: str,
    conversation_id: str,
    body: str,
    *,
    role: Role | None = None,
    metadata: dict[str, Any] | None = None,
    client_message_id: str | None = None,
) -> Message:
    """Send a message; returns it once it is durable on a majority (docs/behaviour.md 4).

    Repeating a request with its `client_message_id` returns the message as it is now. Raises
    InvalidInput, ConversationNotFound, ForbiddenWrite, MessageConflict and MessageRejected.
    """
    sent = await post_message(
        context,
        user_id,
        conversation_id,
        body=body,
        role=role,
        metadata=metadata,
        client_message_id=client_message_id,
    )
    return sent.message


@acting
async def post_message(
    context: Context, user_id: str, conversation_id: str, **values: object
) -> Sent:
    """`send_message` for a caller that answers a repeated request differently."""
    given = _read(context, **values)
    snapshot = await load_writable(context, user_id, conversation_id)
    request_hash = _hash(given)
    if given.client_message_id and (
        stored := await messages.find_repeated(
            context.database, (conversation_id, user_id, given.client_message_id)
        )
    ):
        return _repeated(stored, request_hash)
    given = await _ask_host(context, user_id, snapshot.conversation, given)
    message = messages.new_message(
        context.new_id(),
        conversation_id,
        user_id,
        given.body,
        role=given.role or "user",
        metadata=escaped(given.metadata or {}),
        at=context.clock(),
    )
    if given.client_message_id:
        message["clientMessageId"] = given.client_message_id
        message["requestHash"] = request_hash
    appended = await _append(context, user_id, message, epoch=snapshot.epoch)
    if appended.repeated:
        return _repeated(appended.message, request_hash)
    sent = message_from(appended.message)
    await _tell_host(context, user_id, "created", sent, snapshot.conversation)
    return Sent(sent, repeated=False)


def _read(context: Context, **values: object) -> inputs.NewMessage:
    """The checked input of a send, limits of this installation included."""
    given = inputs.read(inputs.NewMessage, **values)
    if len(given.body) > context.options.max_message_length:
        raise InvalidInput(f"body: at most {context.options.max_message_length} characters")
    inputs.metadata_within(given.metadata, context.options.max_metadata_bytes)
    return given


def _hash(given: inputs.NewMessage) -> bytes:
    """What a request is recognised by: everything in it but its key, before any hook."""
    request = given.model_dump(exclude={"client_message_id"}, exclude_none=True)
    return sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).digest()


def _repeated(stored: MessageDocument, request_hash: bytes) -> Sent:
    if stored.get("requestHash") != request_hash:
        raise MessageConflict
    return Sent(message_from(stored), repeated=True)


async def _append(
    context: Context, user_id: str, message: MessageDocument, *, epoch: int
) -> Appended:
    """Hand a checked message to the sequencer; where membership moved meanwhile, check it again.

    The host's hook is not run again. Four checks that are each outdated at once: InternalError.
    """
    size = 512 + 2 * len(message["body"]) + len(orjson.dumps(message["metadata"]))
    for _ in range(CHECKS):
        try:
            return await context.sequencer.append(message, epoch=epoch, size=size)
        except EpochMoved as moved:
            snapshot = await load_fresh(context, message["conversationId"], epoch=moved.epoch)
            await context.permissions.require_write(user_id, snapshot.conversation)
            epoch = snapshot.epoch
    log.error("conversation %s changed faster than a send could follow", message["conversationId"])
    raise InternalError


async def _ask_host(
    context: Context, user_id: str, conversation: Conversation, given: inputs.NewMessage
) -> inputs.NewMessage:
    """What the host's `before_message_send` makes of a message; MessageRejected if it refuses."""
    hook = context.hooks.before_message_send
    if hook is None:
        return given
    asked = BeforeMessageSend(
        user_id=user_id,
        kind="send",
        conversation=hooks.lent(conversation),
        body=given.body,
        role=given.role or "user",
        metadata=deepcopy(given.metadata or {}),
        mentions=(),
    )
    limit = context.options.hook_timeout_seconds
    answer = await hooks.call(hook, asked, limit=limit, passing=(MessageRejected,))
    if answer is None:
        return given
    if not isinstance(answer, Changed):
        log.error("before_message_send returned %r: None or Changed is needed", type(answer))
        raise InternalError
    changes = {"body": answer.body, "metadata": answer.metadata}
    replaced = {name: value for name, value in changes.items() if value is not None}
    return _read(context, **{**given.model_dump(), **replaced})


async def _tell_host(
    context: Context,
    user_id: str,
    kind: Literal["created", "updated", "deleted"],
    message: Message,
    conversation: Conversation,
) -> None:
    """Run the host's `after_message_mutation`; its failure is logged and changes nothing."""
    hook = context.hooks.after_message_mutation
    if hook is None:
        return
    mutation = MessageMutation(
        user_id=user_id,
        kind=kind,
        message=message,
        mentions=message.mentions,
        recipient_ids=tuple(each for each in conversation.roles if each != user_id),
    )
    with suppress(ChatError):  # Logged where it happened; the message is committed.
        await hooks.call(hook, mutation, limit=context.options.hook_timeout_seconds)
