"""Editing and deleting: only by the sender; a tombstone never gets a body again.

`store/edits.py` empties a message, and guards each update against another one.
"""

from datetime import datetime
from functools import partial
from typing import Any, Literal

from chat_aio.actions.attachments import release_attached
from chat_aio.actions.context import Context
from chat_aio.actions.guards import (
    load_conversation,
    load_message,
    load_shown,
    require_length,
    require_message_deletable,
    require_readable,
    require_shown,
    require_writable,
    within,
)
from chat_aio.actions.host_hooks import ask_host, notify_host
from chat_aio.actions.metadata import metadata_to_set, require_editable, require_version
from chat_aio.actions.reading import load_parents, load_parents_of_own
from chat_aio.actions.screening import file_report, screen
from chat_aio.actions.write_rule import load_open, require_open, still_allowed
from chat_aio.capabilities import Capability
from chat_aio.errors import InvalidInput, MessageDeleted, NotMessageSender, StorageUnavailable
from chat_aio.hooks import BeforeMessageSend
from chat_aio.plugin_types.verdicts import Report
from chat_aio.schema import inputs
from chat_aio.schema.models import Message
from chat_aio.store import edits
from chat_aio.store.documents import Change, MentionDocument, MessageDocument
from chat_aio.store.edits import NewText
from chat_aio.store.mapping import (
    attachments_from,
    bare_message_from,
    forwarded_from_of,
    message_from,
)
from chat_aio.store.metadata import replacement, same, unescaped
from chat_aio.store.numbering import EpochChanged
from chat_aio.store.snapshots import Snapshot
from chat_aio.store.tokenizer import search_fields


async def edit_message(
    context: Context,
    user_id: str,
    message_id: str,
    body: str | None = None,
    *,
    mentions: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
    metadata_version: int | None = None,
) -> Message:
    """Replace a message's body, and its mentions if `mentions` is given (specification 4.10);
    with `editable_metadata` also its metadata, if they have this version, and these without the
    body (specification 18.2).

    Raises InvalidInput, MessageNotFound, MessageDeleted, NotMessageSender, ConversationNotFound
    (for one that cannot be read), ForbiddenWrite, ForbiddenRead, DirectInteractionBlocked,
    MentionNotParticipant, MessageRejected, MetadataConflict and ConversationFrozen (with
    `room_controls`).
    """
    require_editable(context, metadata, metadata_version)
    given = inputs.read(
        inputs.MessageChange,
        metadata_within=context.options.max_metadata_bytes,
        body=body,
        mentions=mentions,
        metadata=metadata,
        metadata_version=metadata_version,
    )
    if given.body is None and given.metadata is None:
        raise InvalidInput("body is missing")
    require_length(context, given.body or "")
    found, snapshot = await _load_editable(context, user_id, message_id)
    bare = bare_message_from(found)
    snapshot = await require_writable(context, user_id, snapshot, bare)
    await require_readable(context, user_id, snapshot, bare)
    new = _new(found, given.mentions)
    snapshot = await require_open(context, user_id, snapshot, new, message=bare)
    # Read before the write: a failure after it would claim that nothing was written.
    parents = await load_parents(context, user_id, [found], snapshot.hidden_from(user_id))
    is_new = bool(metadata_to_set(found, given))
    if not (given.body or given.mentions is not None or is_new):
        return message_from(found, parents, context.database.optional_fields)
    asked = await ask_host(context, _question(user_id, snapshot, found, given))
    verdict = await screen(context, asked)
    changed = await _write(context, asked, given, found, snapshot)
    message = message_from(changed, parents, context.database.optional_fields)
    await notify_host(context, user_id, "updated", message, snapshot.conversation)
    if isinstance(verdict, Report):
        await file_report(context, verdict, message)
    return message


async def delete_message(context: Context, user_id: str, message_id: str) -> Message:
    """Delete a message: a tombstone without a body stays in its place. Deleting it again changes
    nothing. It needs no permission to read the conversation.

    Raises MessageNotFound, NotMessageSender, ConversationNotFound (for one that cannot be read),
    ForbiddenWrite, DeleteNotAllowed and DirectInteractionBlocked (specification 4.11).
    """
    found = await load_message(context, message_id)
    snapshot = await load_conversation(context, found["conversationId"])
    if found["senderId"] != user_id:
        await require_shown(context, user_id, snapshot, found["seq"])
        raise NotMessageSender
    bare = bare_message_from(found)
    snapshot = await require_writable(context, user_id, snapshot, bare)
    # The repetition of a delete succeeds, even if the group has been frozen or blocked since.
    if not found["deletedAt"]:
        snapshot = await require_message_deletable(context, user_id, snapshot, bare)
        await require_open(context, user_id, snapshot, message=bare, takes_back=True)
    parents = await load_parents_of_own(context, user_id, found)
    tombstone = await _delete(context, user_id, found)
    if tombstone is None:
        return message_from(
            await load_message(context, message_id), parents, context.database.optional_fields
        )
    release_attached(context, [found])
    message = message_from(tombstone, parents, context.database.optional_fields)
    await notify_host(context, user_id, "deleted", message, snapshot.conversation)
    return message


async def _delete(context: Context, user_id: str, found: MessageDocument) -> MessageDocument | None:
    """Delete the message and return the tombstone, None if it is one already.

    If the message changes at the same time, try again with a later time: its times never fall.
    """
    for _ in within(context):
        if found["deletedAt"]:
            return None
        change = _change(context, "message.deleted", user_id, found)
        if tombstone := await edits.delete(
            context.database, found["_id"], change=change, history=context.history
        ):
            return tombstone
        found = await load_message(context, found["_id"])
    raise StorageUnavailable


async def _load_editable(
    context: Context, user_id: str, message_id: str
) -> tuple[MessageDocument, Snapshot]:
    found, snapshot = await load_shown(context, user_id, message_id)
    if found["deletedAt"]:
        raise MessageDeleted
    if found["senderId"] != user_id:
        raise NotMessageSender
    return found, snapshot


def _question(
    user_id: str, snapshot: Snapshot, found: MessageDocument, given: inputs.MessageChange
) -> BeforeMessageSend:
    kept = [mention["userId"] for mention in found["mentions"]]
    return BeforeMessageSend(
        user_id=user_id,
        kind="edit",
        conversation=snapshot.conversation,
        body=found["body"] if given.body is None else given.body,
        role=found["role"],
        metadata=unescaped(found["metadata"]) if given.metadata is None else given.metadata,
        mentions=tuple(kept if given.mentions is None else given.mentions),
        forwarded_from=forwarded_from_of(found["forwardedFrom"]),
        attachments=attachments_from(found.get("attachments")),
    )


async def _write(
    context: Context,
    asked: BeforeMessageSend,
    given: inputs.MessageChange,
    found: MessageDocument,
    snapshot: Snapshot,
) -> MessageDocument:
    """Edit the message. If it or the participants have changed since the checks, check again;
    the host's hook is not called again."""
    text = await _text(context, asked, given, found)
    mentions = given.mentions
    # Decided once: metadata that another request has changed since must not be set back.
    keeps = given.metadata is None and same(found["metadata"], asked.metadata)
    metadata = None if keeps else asked.metadata
    for _ in within(context):
        epoch = 0
        try:
            require_version(found, given)
            if changed := await _write_once(
                context, asked.user_id, mentions, found, snapshot, text, metadata
            ):
                return changed
            found, _ = await _load_editable(context, asked.user_id, found["_id"])
        except EpochChanged as moved:
            epoch = moved.epoch
        snapshot = await load_open(
            context,
            asked.user_id,
            found["conversationId"],
            _new(found, mentions),
            message=bare_message_from(found),
            epoch=epoch,
        )
    raise StorageUnavailable


async def _write_once(
    context: Context,
    user_id: str,
    mentions: list[str] | None,
    found: MessageDocument,
    snapshot: Snapshot,
    text: NewText | None,
    metadata: dict[str, Any] | None,
) -> MessageDocument | None:
    """Write the edit; None if the message is no longer as it was found. `text`, `mentions` and
    `metadata` are kept if they are None.

    Raises EpochChanged if the edit needs the lock and participants or blocks have changed.
    """
    change = _change(context, "message.updated", user_id, found)
    replaced: dict[str, Any] = {}
    if metadata is not None and not same(found["metadata"], metadata):
        replaced = replacement(found, metadata)
    new = _new(found, mentions)
    merged: list[MentionDocument] | None = None
    if mentions is not None:
        # Unchanged mentions keep their time (specification 4.15).
        merged = [mention for mention in found["mentions"] if mention["userId"] in mentions]
        merged += [{"userId": name, "createdAt": change["at"]} for name in sorted(new)]
    update = edits.edited(text, change=change, mentions=merged, metadata=replaced)
    # One guarded update is enough unless the edit depends on the conversation: a new mention must
    # not name a user whose removal was acknowledged before, and no edit may pass a block or reach
    # a frozen group. These lock the head, between two batches (decision 0005).
    lockless = snapshot.conversation.type != "direct" and not context.options.room_controls
    if not new and lockless:
        return await edits.change_live(context.database, found, update, history=context.history)
    return await edits.change_live_fenced(
        context.database,
        context.sequencer,
        found,
        update,
        epoch=snapshot.epoch,
        history=context.history,
        still_allowed=still_allowed(context, user_id, new),
    )


async def _text(
    context: Context, asked: BeforeMessageSend, given: inputs.MessageChange, found: MessageDocument
) -> NewText | None:
    """The new text with its terms; None to keep the text, which another request may have changed
    since."""
    body = asked.body
    if given.body is None and body == found["body"]:
        return None
    if Capability.SEARCH not in context.capabilities:
        return NewText(body, None)
    make = partial(search_fields, found["conversationId"], body)
    return NewText(body, await context.database.turns.run_cpu_bound(body, make))


def _new(found: MessageDocument, mentions: list[str] | None) -> list[str]:
    """The users whom this edit mentions and the message did not mention before."""
    kept = {mention["userId"] for mention in found["mentions"]}
    return [mention for mention in mentions or () if mention not in kept]


def _change(
    context: Context,
    kind: Literal["message.updated", "message.deleted"],
    user_id: str,
    found: MessageDocument,
) -> Change:
    at = later_than(found, context.clock())
    return {"id": context.new_id(), "at": at, "kind": kind, "actorId": user_id}


def later_than(found: MessageDocument, at: datetime) -> datetime:
    """The time of a change made at `at`, but not before any time of the message: these never fall
    (specification 1.7). The guards of the updates refuse changes older than another
    process's."""
    return max(at, found["createdAt"], found.get("changedAt") or found["createdAt"])
