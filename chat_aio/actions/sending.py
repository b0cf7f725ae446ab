"""Sending: the path of every new message, from its checks to the host's hook after the commit."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from chat_aio.actions.attachments import keep_attached, load_attached, require_attaching
from chat_aio.actions.context import Context
from chat_aio.actions.guards import (
    load_within,
    load_writable,
    require_length,
    require_readable,
    within,
)
from chat_aio.actions.holding import hold, require_unheld
from chat_aio.actions.host_hooks import ask_host, notify_host
from chat_aio.actions.outgoing import Outgoing, request_key
from chat_aio.actions.reading import load_parents, load_parents_of_own
from chat_aio.actions.screening import file_report, screen
from chat_aio.actions.writing import WriteRule, load_open, require_open, still_allowed
from chat_aio.capabilities import Capability
from chat_aio.errors import (
    InternalError,
    InvalidInput,
    MessageConflict,
    StorageUnavailable,
    ThreadsUnsupported,
)
from chat_aio.hooks import BeforeMessageSend
from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Observer
from chat_aio.plugin_types.verdicts import Hold, Report
from chat_aio.schema import inputs
from chat_aio.schema.models import Message, Role
from chat_aio.store import messages
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import (
    Parents,
    attached_from,
    bare_message_from,
    message_from,
    reference_of,
)
from chat_aio.store.messages import Place, RequestKey
from chat_aio.store.metadata import escaped
from chat_aio.store.numbering import Appended, EpochMoved
from chat_aio.store.shapes import readable
from chat_aio.store.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class Sent:
    """A message, and whether an earlier request with the same idempotency key has stored it."""

    message: Message
    repeated: bool


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
    attachment_ids: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
    client_message_id: str | None = None,
) -> Sent:
    """Send a message; returns it once it is durable on a majority (docs/behaviour.md 4).

    `attachment_ids` names files that the caller has uploaded to this conversation. Repeating a
    request with its `client_message_id` returns the message as it is now. Raises InvalidInput,
    ThreadsUnsupported, AttachmentsUnsupported, ConversationNotFound, ForbiddenWrite,
    DirectInteractionBlocked, MessageNotFound and ForbiddenRead (the parent or root),
    MentionNotParticipant, AttachmentNotFound, MessageConflict, MessageRejected and MessageHeld;
    with `room_controls` ConversationFrozen and SlowMode; over HTTP RoleNotAllowed.
    """
    async with context.rate_limits.counting_refusals(user_id, "send_message"):
        given = _read(
            context,
            body=body,
            role=role,
            reply_to_message_id=reply_to_message_id,
            thread_root_message_id=thread_root_message_id,
            also_send_to_main=also_send_to_main,
            mentions=mentions,
            attachment_ids=attachment_ids,
            metadata=metadata,
            client_message_id=client_message_id,
        )
        snapshot = await load_writable(context, user_id, conversation_id)
        await context.permissions.require_role(user_id, given.role)
    return await _send(context, user_id, snapshot, given)


def _read(context: Context, **values: object) -> inputs.NewMessage:
    """Check the input, the limits of this installation, and fields that depend on each other."""
    most = context.options.max_metadata_bytes
    given = inputs.read(inputs.NewMessage, metadata_within=most, **values)
    require_length(context, given.body)
    if given.also_send_to_main and given.thread_root_message_id is None:
        raise InvalidInput("alsoSendToMain needs threadRootMessageId")
    if given.thread_root_message_id is not None and not context.options.threads:
        raise ThreadsUnsupported
    if given.attachment_ids:
        require_attaching(context)
    return given


async def _send(
    context: Context, user_id: str, snapshot: Snapshot, given: inputs.NewMessage
) -> Sent:
    # Before counting and all further checks: a client that lost the answer must get its message,
    # whatever has happened since (docs/behaviour.md 1.8 and 4.9).
    key = request_key(given)
    if key and (sent := await find_repeated(context, user_id, snapshot.conversation.id, key)):
        return sent
    async with context.rate_limits.counting(user_id, "send_message"):
        place = Place(
            given.reply_to_message_id,
            given.thread_root_message_id,
            given.also_send_to_main or False,
        )
        if place.reply_to_message_id or place.thread_root_message_id:
            # Before the mentions: a parent or a thread that is not there is the more basic error.
            snapshot = await require_open(context, user_id, snapshot)
            await require_place(context, user_id, snapshot, place)
        mentioned = tuple(given.mentions or ())
        snapshot = await require_open(context, user_id, snapshot, mentioned)
        named = given.attachment_ids or ()
        content = BeforeMessageSend(
            user_id=user_id,
            kind="send",
            conversation=snapshot.conversation,
            body=given.body,
            role=given.role or "user",
            metadata=given.metadata or {},
            mentions=mentioned,
            attachments=await load_attached(context, user_id, snapshot.conversation.id, named),
        )
        return await post(
            context, Outgoing(content=content, snapshot=snapshot, place=place, key=key)
        )


async def require_place(context: Context, user_id: str, snapshot: Snapshot, place: Place) -> None:
    """Check that the message replied to and the thread's root are in this conversation, that the
    user may read both, and that the root is in the main list."""
    conversation_id, root_id = snapshot.conversation.id, place.thread_root_message_id
    for message_id in (place.reply_to_message_id, root_id):
        if message_id is None:
            continue
        found = await load_within(context, conversation_id, message_id)
        await require_readable(context, user_id, snapshot, bare_message_from(found))
        if message_id == root_id and conversation_id not in found["timelines"]:
            raise InvalidInput("threadRootMessageId must not be a thread reply itself")


async def find_repeated(
    context: Context, user_id: str, conversation_id: str, key: RequestKey
) -> Sent | None:
    """The message that an earlier request with the same idempotency key has stored. Raises
    MessageConflict if that was a different request (docs/behaviour.md 4.9), and MessageHeld if the
    earlier one is held."""
    scope = conversation_id, user_id, key.client_message_id
    if stored := await messages.find_repeated(context.database, scope):
        return await repeated(context, stored, key.request_hash)
    await require_unheld(context, user_id, conversation_id, key)
    return None


async def repeated(context: Context, stored: MessageDocument, hashed: bytes) -> Sent:
    """The message that another request with the same idempotency key has stored, as it is now.
    Raises MessageConflict unless that request had this hash."""
    if stored.get("requestHash") != hashed or not readable("messages", [stored]):
        raise MessageConflict
    notify(context.observers, Observer.message_sent, "repeated")
    parents = await load_parents_of_own(context, stored["senderId"], stored)
    return Sent(message_from(stored, parents), repeated=True)


async def post(
    context: Context,
    outgoing: Outgoing,
    *,
    recheck: Callable[[], Awaitable[None]] | None = None,
) -> Sent:
    """Ask the host and the plugins about a message, store it, and notify the host. `recheck` is
    called after they have answered, which may take seconds."""
    agreed = await ask_host(context, outgoing.content)
    verdict = await screen(context, agreed)
    if recheck is not None:
        await recheck()
    if agreed.body != outgoing.content.body:
        outgoing = replace(outgoing, terms=None)  # They are those of the body before.
    outgoing = replace(outgoing, content=agreed)
    if isinstance(verdict, Hold):
        await hold(context, outgoing, verdict.reason)
    sent = await put(context, outgoing)
    if isinstance(verdict, Report) and not sent.repeated:
        await file_report(context, verdict, sent.message)
    return sent


async def put(context: Context, outgoing: Outgoing) -> Sent:
    """Store a message that the host has agreed to, and notify the host."""
    content, place = outgoing.content, outgoing.place
    message = await _compose(context, outgoing)
    # Read before the commit: a failure after it would say that nothing was written.
    parents: Parents = {}
    if place.reply_to_message_id is not None:
        hidden = outgoing.snapshot.hidden_from(content.user_id)
        parents = await load_parents(context, content.user_id, [message], hidden)
    await keep_attached(context, content.attachments)
    appended = await _append(context, outgoing, message)
    # Two requests with the same key at once: the batch found the other one's message.
    if appended.repeated:
        return await repeated(context, appended.message, message["requestHash"])
    notify(context.observers, Observer.message_sent, "stored")
    sent = message_from(appended.message, parents)
    await notify_host(context, content.user_id, "created", sent, content.conversation)
    return Sent(sent, repeated=False)


async def _compose(context: Context, outgoing: Outgoing) -> MessageDocument:
    """The document that is given to the sequencer."""
    content = outgoing.content
    make = partial(
        messages.new_message,
        outgoing.message_id or context.new_id(),
        content.conversation.id,
        content.user_id,
        content.body,
        at=context.clock(),
        role=content.role,
        place=outgoing.place,
        mentioned=content.mentions,
        forwarded_from=reference_of(content.forwarded_from),
        attachments=attached_from(content.attachments),
        metadata=escaped(content.metadata),
        key=outgoing.key,
        searchable=Capability.SEARCH in context.capabilities,
        terms=outgoing.terms,
    )
    return await context.database.turns.on_text(content.body, make)


async def _append(context: Context, outgoing: Outgoing, message: MessageDocument) -> Appended:
    """Give a checked message to the sequencer. If membership has changed since the checks, check
    again; the host's hook is not called again."""
    user_id, mentioned = outgoing.content.user_id, outgoing.content.mentions
    snapshot = outgoing.snapshot
    for _ in within(context):
        seconds = None
        if outgoing.in_slow_mode:
            seconds = WriteRule.of_snapshot(snapshot).slow_seconds_for(user_id)
        try:
            return await context.sequencer.append(
                message,
                epoch=snapshot.epoch,
                still_allowed=still_allowed(context, user_id, mentioned, slow_seconds=seconds),
                slow_seconds=seconds or 0,
            )
        except EpochMoved as moved:
            conversation_id = message["conversationId"]
            snapshot = await load_open(
                context, user_id, conversation_id, mentioned, message=None, epoch=moved.epoch
            )
        except (InternalError, StorageUnavailable):
            notify(context.observers, Observer.message_sent, "failed")
            raise
    raise StorageUnavailable
