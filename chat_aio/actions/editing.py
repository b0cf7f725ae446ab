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
    require_readable,
    require_shown,
    require_writable,
    within,
)
from chat_aio.actions.host_hooks import ask_host, notify_host
from chat_aio.actions.reading import load_parents, load_parents_of_own
from chat_aio.actions.screening import file_report, screen
from chat_aio.actions.writing import load_open, require_open, still_allowed
from chat_aio.capabilities import Capability
from chat_aio.errors import MessageDeleted, NotMessageSender, StorageUnavailable
from chat_aio.hooks import BeforeMessageSend
from chat_aio.plugin_types.verdicts import Report
from chat_aio.schema import inputs
from chat_aio.schema.models import Message
from chat_aio.store import edits
from chat_aio.store.documents import Change, MentionDocument, MessageDocument, SearchFields
from chat_aio.store.mapping import (
    attachments_from,
    bare_message_from,
    forwarded_from_of,
    message_from,
)
from chat_aio.store.metadata import escaped, unescaped
from chat_aio.store.numbering import EpochMoved
from chat_aio.store.snapshots import Snapshot
from chat_aio.store.tokenizer import search_fields


async def edit_message(
    context: Context,
    user_id: str,
    message_id: str,
    body: str,
    *,
    mentions: list[str] | None = None,
) -> Message:
    """Replace a message's body, and its mentions if `mentions` is given (docs/behaviour.md 4.10).

    Raises InvalidInput, MessageNotFound, MessageDeleted, NotMessageSender, ConversationNotFound
    (for one that cannot be read), ForbiddenWrite, ForbiddenRead, DirectInteractionBlocked,
    MentionNotParticipant, MessageRejected and ConversationFrozen (with `room_controls`).
    """
    given = inputs.read(inputs.Edit, body=body, mentions=mentions)
    require_length(context, given.body)
    found, snapshot = await _load_editable(context, user_id, message_id)
    bare = bare_message_from(found)
    snapshot = await require_writable(context, user_id, snapshot, bare)
    await require_readable(context, user_id, snapshot, bare)
    new = _new(found, given.mentions)
    snapshot = await require_open(context, user_id, snapshot, new, message=bare)
    asked = await ask_host(context, _question(user_id, snapshot, found, given))
    verdict = await screen(context, asked)
    parents = await load_parents(context, user_id, [found], snapshot.hidden_from(user_id))
    changed = await _write(context, asked, given.mentions, found, snapshot)
    message = message_from(changed, parents)
    await notify_host(context, user_id, "updated", message, snapshot.conversation)
    if isinstance(verdict, Report):
        await file_report(context, verdict, message)
    return message


async def delete_message(context: Context, user_id: str, message_id: str) -> Message:
    """Delete a message: a tombstone without a body stays in its place. Deleting it again changes
    nothing. It needs no permission to read the conversation.

    Raises MessageNotFound, NotMessageSender, ConversationNotFound (for one that cannot be read),
    ForbiddenWrite and DirectInteractionBlocked (docs/behaviour.md 4.11).
    """
    found = await load_message(context, message_id)
    snapshot = await load_conversation(context, found["conversationId"])
    if found["senderId"] != user_id:
        await require_shown(context, user_id, snapshot, found["seq"])
        raise NotMessageSender
    bare = bare_message_from(found)
    snapshot = await require_writable(context, user_id, snapshot, bare)
    if not found["deletedAt"]:
        await require_open(context, user_id, snapshot, message=bare, takes_back=True)
    parents = await load_parents_of_own(context, user_id, found)
    tombstone = await _delete(context, user_id, found)
    if tombstone is None:
        return message_from(await load_message(context, message_id), parents)
    release_attached(context, [found])
    message = message_from(tombstone, parents)
    await notify_host(context, user_id, "deleted", message, snapshot.conversation)
    return message


async def _delete(context: Context, user_id: str, found: MessageDocument) -> MessageDocument | None:
    """Delete the message and return the tombstone, None if it is one already.

    If the message is changed meanwhile, try again with a later time: its times never fall.
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
    user_id: str, snapshot: Snapshot, found: MessageDocument, given: inputs.Edit
) -> BeforeMessageSend:
    kept = [mention["userId"] for mention in found["mentions"]]
    return BeforeMessageSend(
        user_id=user_id,
        kind="edit",
        conversation=snapshot.conversation,
        body=given.body,
        role=found["role"],
        metadata=unescaped(found["metadata"]),
        mentions=tuple(kept if given.mentions is None else given.mentions),
        forwarded_from=forwarded_from_of(found["forwardedFrom"]),
        attachments=attachments_from(found.get("attachments")),
    )


async def _write(
    context: Context,
    asked: BeforeMessageSend,
    mentions: list[str] | None,
    found: MessageDocument,
    snapshot: Snapshot,
) -> MessageDocument:
    """Edit the message. If it or the participants have changed since the checks, check again;
    the host's hook is not called again."""
    search = await _search_fields(context, found, asked.body)
    for _ in within(context):
        epoch = 0
        try:
            if changed := await _write_once(context, asked, mentions, found, snapshot, search):
                return changed
            found, _ = await _load_editable(context, asked.user_id, found["_id"])
        except EpochMoved as moved:
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
    asked: BeforeMessageSend,
    mentions: list[str] | None,
    found: MessageDocument,
    snapshot: Snapshot,
    search: SearchFields | None,
) -> MessageDocument | None:
    """Write the edit; None if the message is no longer as it was found.

    Raises EpochMoved if the edit needs the lock and participants or blocks have changed.
    """
    change = _change(context, "message.updated", asked.user_id, found)
    update = edits.edited(
        found,
        asked.body,
        change=change,
        mentions=_merged(found, mentions, change),
        metadata=_replaced(found, asked.metadata),
        search=search,
    )
    new = _new(found, mentions)
    # One guarded update is enough unless the edit depends on the conversation: a new mention must
    # not name somebody whose removal was answered before, and no edit goes past a block or into a
    # frozen group. These lock the head, between two batches (docs/decisions/0005).
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
        still_allowed=still_allowed(context, asked.user_id, new),
    )


async def _search_fields(
    context: Context, found: MessageDocument, body: str
) -> SearchFields | None:
    if Capability.SEARCH not in context.capabilities:
        return None
    make = partial(search_fields, found["conversationId"], body)
    return await context.database.turns.on_text(body, make)


def _new(found: MessageDocument, mentions: list[str] | None) -> list[str]:
    """The users whom this edit mentions and the message did not mention before."""
    kept = {mention["userId"] for mention in found["mentions"]}
    return [mention for mention in mentions or () if mention not in kept]


def _replaced(found: MessageDocument, metadata: dict[str, Any]) -> dict[str, Any] | None:
    """The metadata that the host's hook has changed, None if it has left them as they are."""
    return None if metadata == unescaped(found["metadata"]) else escaped(metadata)


def _merged(
    found: MessageDocument, mentions: list[str] | None, change: Change
) -> list[MentionDocument]:
    """The mentions after an edit; those that stay keep their time (docs/behaviour.md 4.15)."""
    if mentions is None:
        return found["mentions"]
    kept = [mention for mention in found["mentions"] if mention["userId"] in mentions]
    new = sorted(_new(found, mentions))
    added: list[MentionDocument] = [
        {"userId": user_id, "createdAt": change["at"]} for user_id in new
    ]
    return kept + added


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
    (docs/behaviour.md 1.7). The guards of the updates refuse what another process made later."""
    return max(at, found["createdAt"], found.get("changedAt") or found["createdAt"])
