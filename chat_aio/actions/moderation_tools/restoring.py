"""Restoring a message that a moderator has removed, as long as its content is kept."""

from functools import partial
from typing import Any

from chat_aio.actions import reading
from chat_aio.actions.context import Context
from chat_aio.actions.editing import later_than
from chat_aio.actions.moderation_tools.guarding import load_for_moderator, notify_of
from chat_aio.capabilities import Capability
from chat_aio.errors import MessageNotRestorable
from chat_aio.schema.models import Message
from chat_aio.store import audit, conversations, versions
from chat_aio.store.documents import Change, CounterDocument, MessageDocument, VersionDocument
from chat_aio.store.hidden import NOTHING
from chat_aio.store.tokenizer import search_fields

ACTION = "restore-message"


async def restore_message(context: Context, user_id: str, message_id: str) -> Message:
    """Restore a message to its state before a moderator removed it; clients receive it as an edit.
    Restoring a message that is not removed changes nothing.

    Raises NotModerator, ModerationUnsupported, MessageNotFound, and MessageNotRestorable: its
    sender has deleted it, it is no longer kept, or retention has passed it (specification
    14.5).
    """
    message, is_new = await restore(context, user_id, message_id)
    if is_new:
        await notify_of(context, user_id, "updated", message)
    return message


async def restore(context: Context, user_id: str, message_id: str) -> tuple[Message, bool]:
    """As `restore_message`, without the host's hook; also returns whether this call restored it."""
    found = await load_for_moderator(context, user_id, "restore_message", message_id)
    restored = None
    if found["deletedAt"]:
        restored = await _restore(context, user_id, found, await _kept(context, found))
        # If another moderator was faster, the answer shows the message restored by them.
        found = restored or await load_for_moderator(
            context, user_id, "restore_message", message_id
        )
    (message,) = await reading.show(context, user_id, [found], NOTHING)
    return message, restored is not None


async def require_restorable(context: Context, user_id: str, message_id: str) -> bool:
    """Whether a message can be restored; False if it is no tombstone. Raises as
    `restore_message`."""
    found = await load_for_moderator(context, user_id, "restore_message", message_id)
    if found["deletedAt"]:
        await _kept(context, found)
    return found["deletedAt"] is not None


async def _kept(context: Context, tombstone: MessageDocument) -> VersionDocument:
    """The version that a moderator has removed. Raises MessageNotRestorable."""
    removed_at = tombstone["deletedAt"]
    head = await conversations.find_head(context.database, tombstone["conversationId"])
    if removed_at is None or not _may_come_back(head, tombstone["seq"]):
        raise MessageNotRestorable
    kept = await versions.find_removed(context.database, tombstone["_id"], at=removed_at)
    if kept is None:
        raise MessageNotRestorable
    return kept


def _may_come_back(head: CounterDocument | None, seq: int) -> bool:
    """Whether retention has not passed a message yet. Retention does not look again at messages
    that it has passed: a restored text would stay for ever."""
    return head is not None and seq > max(head["floorSeq"], head.get("emptiedSeq", 0))


async def _restore(
    context: Context, user_id: str, tombstone: MessageDocument, kept: VersionDocument
) -> MessageDocument | None:
    """Write the message; None if another moderator was faster."""
    change: Change = {
        "id": context.new_id(),
        "at": later_than(tombstone, context.clock()),
        # As an edit, so that clients need to know no further kind of event.
        "kind": "message.updated",
        "actorId": user_id,
    }
    fields: dict[str, Any] = {
        "body": kept["body"],
        "deletedAt": None,
        "changedAt": change["at"],
        "change": change,
    }
    if "attachments" in kept:
        fields["attachments"] = kept["attachments"]
    if Capability.SEARCH in context.capabilities:
        make = partial(search_fields, kept["conversationId"], kept["body"])
        fields.update(await context.database.turns.run_cpu_bound(kept["body"], make))
    entry = audit.entry(
        change["id"],
        ACTION,
        tombstone["_id"],
        actor_id=user_id,
        at=change["at"],
        conversationId=tombstone["conversationId"],
        senderId=tombstone["senderId"],
    )
    update = {"$set": fields}
    return await versions.restore(context.database, kept, update, entry, allowed=_may_come_back)
