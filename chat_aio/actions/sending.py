"""Sending: the path of every new message, from its checks to the host's hook after the commit.

A send goes through `send_message` (the request), `_send` (the conversation), `post` (the host's
hook and the plugins), `put` (the document) and `_append` (the sequencer). Forwarded messages join
at `post`, released ones at `put`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
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
from chat_aio.actions.hold_message import hold_message
from chat_aio.actions.host_hooks import ask_host, notify_host
from chat_aio.actions.idempotency import Sent, find_repeated, repeated, request_key
from chat_aio.actions.outgoing import Outgoing
from chat_aio.actions.reading import load_parents
from chat_aio.actions.screening import file_report, screen
from chat_aio.actions.write_rule import WriteRule, load_open, require_open, still_allowed
from chat_aio.capabilities import Capability
from chat_aio.errors import (
    InternalError,
    InvalidInput,
    StorageUnavailable,
    ThreadsUnsupported,
)
from chat_aio.hooks import BeforeMessageSend
from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Observer
from chat_aio.plugin_types.verdicts import Hold, Report
from chat_aio.schema import inputs
from chat_aio.schema.models import Attachment, Role
from chat_aio.store import messages
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import Parents, bare_message_from
from chat_aio.store.messages import Place
from chat_aio.store.numbering import Appended, EpochChanged
from chat_aio.store.snapshots import Snapshot


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
    silent: bool | None = None,
) -> Sent:
    """Send a message; returns it once it is durable on a majority (specification 4).

    Nobody is notified of a `silent` message by Notifications.
    `attachment_ids` names files that the caller has uploaded to this conversation. Repeating a
    request with its `client_message_id` returns the message as it is now. Raises InvalidInput,
    ThreadsUnsupported, AttachmentsUnsupported, ConversationNotFound, ForbiddenWrite,
    DirectInteractionBlocked, MessageNotFound and ForbiddenRead (the parent or root),
    MentionNotParticipant, AttachmentNotFound, MessageConflict, MessageRejected and MessageHeld;
    with `room_controls` ConversationFrozen and SlowMode; over HTTP RoleNotAllowed and
    SilentNotAllowed.
    """
    # A repeated request is not counted, and only `_send` recognises it. So refusals before that are
    # counted here, and all other sends there.
    async with context.rate_limits.counting_refusals(user_id, "send_message"):
        given = inputs.read(
            inputs.NewSilentMessage,
            metadata_within=context.options.max_metadata_bytes,
            body=body,
            role=role,
            reply_to_message_id=reply_to_message_id,
            thread_root_message_id=thread_root_message_id,
            also_send_to_main=also_send_to_main,
            mentions=mentions,
            attachment_ids=attachment_ids,
            metadata=metadata,
            client_message_id=client_message_id,
            silent=silent,
        )
        require_length(context, given.body)
        if given.also_send_to_main and given.thread_root_message_id is None:
            raise InvalidInput("alsoSendToMain needs threadRootMessageId")
        if given.thread_root_message_id is not None and not context.options.threads:
            raise ThreadsUnsupported
        if given.attachment_ids:
            require_attaching(context)
        snapshot = await load_writable(context, user_id, conversation_id)
        await context.permissions.require_role(user_id, given.role)
        if given.silent:
            await context.permissions.require_silent(user_id)
    return await _send(context, user_id, snapshot, given)


async def _send(
    context: Context,
    user_id: str,
    snapshot: Snapshot,
    given: inputs.NewSilentMessage,
) -> Sent:
    """Check that the message may be sent to the conversation as it is now, and post it."""
    key = None
    if given.client_message_id is not None:
        # Before counting and all further checks: a client that lost the response must get its
        # message, whatever has happened since (specification 1.8 and 4.9).
        key = request_key(given, given.client_message_id)
        if sent := await find_repeated(context, user_id, snapshot.conversation.id, key):
            return sent
    async with context.rate_limits.counting(user_id, "send_message"):
        place = Place(
            given.reply_to_message_id,
            given.thread_root_message_id,
            given.also_send_to_main or False,
        )
        if place.reply_to_message_id or place.thread_root_message_id:
            # Before the mentions: a missing parent or thread is the more basic error.
            snapshot = await require_open(context, user_id, snapshot)
            await require_place(context, user_id, snapshot, place)
        mentioned = tuple(given.mentions or ())
        snapshot = await require_open(context, user_id, snapshot, mentioned)
        attachments: tuple[Attachment, ...] = ()
        if given.attachment_ids:
            conversation_id = snapshot.conversation.id
            attachments = await load_attached(
                context, user_id, conversation_id, given.attachment_ids
            )
        content = BeforeMessageSend(
            user_id=user_id,
            kind="send",
            conversation=snapshot.conversation,
            body=given.body,
            role=given.role or "user",
            metadata=given.metadata or {},
            mentions=mentioned,
            attachments=attachments,
        )
        outgoing = Outgoing(
            content=content,
            snapshot=snapshot,
            place=place,
            key=key,
            silent=given.silent or False,
        )
        return await post(context, outgoing)


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


async def post(
    context: Context,
    outgoing: Outgoing,
    *,
    recheck: Callable[[], Awaitable[None]] | None = None,
) -> Sent:
    """Call the host's hook and the plugins for a message, store it, and notify the host. `recheck`
    is called after them, because they may take seconds."""
    # The plugins check the message that the host has agreed to: no changed body passes a filter
    # unseen.
    agreed = await ask_host(context, outgoing.content)
    verdict = await screen(context, agreed) if context.plugins else None
    if recheck is not None:
        await recheck()
    if agreed.body != outgoing.content.body:
        outgoing = replace(outgoing, terms=None)  # They are the terms of the previous body.
    if agreed is not outgoing.content:
        outgoing = replace(outgoing, content=agreed)
    if isinstance(verdict, Hold):
        await hold_message(context, outgoing, verdict.reason)
    sent = await put(context, outgoing)
    # A report needs the message's id and text as they are stored; a repetition was reported before.
    if isinstance(verdict, Report) and not sent.repeated:
        await file_report(context, verdict, sent.message)
    return sent


async def put(context: Context, outgoing: Outgoing) -> Sent:
    """Store a message that the host has accepted, and notify the host."""
    content, place = outgoing.content, outgoing.place
    make = partial(
        messages.new_message,
        outgoing.message_id or context.new_id(),
        content.conversation.id,
        content.user_id,
        content.body,
        role=content.role,
        place=place,
        mentioned=content.mentions,
        forwarded_from=content.forwarded_from,
        attachments=content.attachments,
        metadata=content.metadata,
        key=outgoing.key,
        searchable=Capability.SEARCH in context.capabilities,
        terms=outgoing.terms,
        silent=outgoing.silent,
    )
    # Its search terms take CPU time: those of a long text must not delay other requests.
    message = await context.database.turns.run_cpu_bound(content.body, make)
    # Read before the commit: a failure after it would claim that nothing was written.
    parents: Parents = {}
    if place.reply_to_message_id is not None:
        hidden = outgoing.snapshot.hidden_from(content.user_id)
        parents = await load_parents(context, content.user_id, [message], hidden)
    if content.attachments:
        # The host's hook may have taken seconds, in which an unused file may be removed.
        await keep_attached(context, content.attachments)
    appended = await _append(context, outgoing, message)
    # Two requests with the same key at once: the batch found the other one's message.
    if appended.repeated:
        return await repeated(context, appended.message, message["requestHash"])
    notify(context.observers, Observer.message_sent, "stored")
    sent = Sent(appended.message, parents, context.database.optional_fields, repeated=False)
    if context.hooks.after_message_mutation is not None:
        await notify_host(context, content.user_id, "created", sent.message, content.conversation)
    return sent


async def _append(context: Context, outgoing: Outgoing, message: MessageDocument) -> Appended:
    """Give a checked message to the sequencer. If membership has changed since the checks, check
    again; the host's hook is not called again, because it may have side effects."""
    user_id, mentioned = outgoing.content.user_id, outgoing.content.mentions
    snapshot = outgoing.snapshot
    for _ in within(context):
        # The batch compares them with the slow mode under the lock: it may just have changed.
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
        except EpochChanged as moved:
            # `still_allowed` had no answer or refused. Only a fresh snapshot can name the reason.
            conversation_id = message["conversationId"]
            snapshot = await load_open(
                context, user_id, conversation_id, mentioned, message=None, epoch=moved.epoch
            )
        except (InternalError, StorageUnavailable):
            notify(context.observers, Observer.message_sent, "failed")
            raise
    raise StorageUnavailable
