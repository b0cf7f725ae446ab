"""Earlier versions of messages: what edits, deletions and removals have replaced.

They are kept for moderators only, for as long as `Options.history_days` says; a TTL index removes
them.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from chat_aio.errors import MessageNotRestorable
from chat_aio.schema.desk import MessageVersion
from chat_aio.store import audit, shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import (
    AuditEntry,
    Change,
    CounterDocument,
    MessageDocument,
    VersionDocument,
)
from chat_aio.store.mapping import attachments_from
from chat_aio.store.messages import READ
from chat_aio.store.metadata import unescaped
from chat_aio.store.shapes import WHOLE
from chat_aio.store.transactions import Session, Unchanged, transact

MOST = 200


async def keep(
    database: Database,
    replaced: Sequence[tuple[MessageDocument, Change]],
    history: timedelta,
    session: Session,
) -> None:
    """Keep messages as they are before these changes."""
    rows = [_version_of(before, change, history) for before, change in replaced]
    await database.message_versions.insert_many(rows, session=session)


def _version_of(before: MessageDocument, change: Change, history: timedelta) -> VersionDocument:
    kept: VersionDocument = {
        "_id": change["id"],
        "messageId": before["_id"],
        "conversationId": before["conversationId"],
        "senderId": before["senderId"],
        "body": before["body"],
        "mentions": before["mentions"],
        "metadata": before["metadata"],
        "writtenAt": before["editedAt"] or before["createdAt"],
        "replacedAt": change["at"],
        "replacedByUserId": change["actorId"],
        "how": _how(before, change),
        "expiresAt": change["at"] + history,
    }
    if "attachments" in before:
        kept["attachments"] = before["attachments"]
    return kept


def _how(before: MessageDocument, change: Change) -> Literal["edited", "deleted", "removed"]:
    if change["kind"] == "message.updated":
        return "edited"
    return "deleted" if change["actorId"] == before["senderId"] else "removed"


def version_from(found: VersionDocument) -> MessageVersion:
    """A version as it goes out."""
    return MessageVersion(
        id=found["_id"],
        message_id=found["messageId"],
        conversation_id=found["conversationId"],
        sender_id=found["senderId"],
        body=found["body"],
        mentions=tuple(mention["userId"] for mention in found["mentions"]),
        metadata=unescaped(found["metadata"]),
        attachments=attachments_from(found.get("attachments")) or None,
        written_at=found["writtenAt"],
        replaced_at=found["replacedAt"],
        replaced_by_user_id=found["replacedByUserId"],
        how=found["how"],
    )


async def list_newest(database: Database, message_id: str) -> list[VersionDocument]:
    """The kept versions of a message, newest first, at most MOST."""
    rows = database.message_versions.find({"messageId": message_id}).sort("replacedAt", -1)
    found = await database.read(lambda: rows.limit(MOST).to_list(None))
    return shapes.readable("message_versions", cast(list[VersionDocument], found))


async def find_removed(
    database: Database, message_id: str, *, at: datetime
) -> VersionDocument | None:
    """The version that a moderator removed at that moment; None if it is not kept."""
    chosen = {"messageId": message_id, "replacedAt": at, "how": "removed"}
    found = await database.read(lambda: database.message_versions.find_one(chosen))
    return shapes.one_readable("message_versions", cast(VersionDocument | None, found))


async def restore(
    database: Database,
    kept: VersionDocument,
    update: Mapping[str, Any],
    entry: AuditEntry,
    *,
    allowed: Callable[[CounterDocument | None, int], bool],
) -> MessageDocument | None:
    """Make a tombstone the message again that it was, and keep that in the audit log; None if it
    is no such tombstone any more. Raises MessageNotRestorable unless it is `allowed` by the head,
    which is locked, and the message's seq."""

    async def body(session: Session) -> MessageDocument | None:
        # A write, which locks the head: retention says there how far it is.
        head = await database.counters.find_one_and_update(
            {"_id": kept["conversationId"], "fence": {"$type": WHOLE}},
            {"$inc": {"fence": 1}},
            {"floorSeq": 1, "emptiedSeq": 1},
            return_document=True,
            session=session,
        )
        restored = await database.messages.find_one_and_update(
            {"_id": kept["messageId"], "deletedAt": kept["replacedAt"]},
            update,
            READ,
            return_document=True,
            session=session,
        )
        if restored is None:
            raise Unchanged(None)
        if not allowed(head, restored["seq"]):
            raise MessageNotRestorable
        await audit.add(database, entry, session)
        return cast(MessageDocument, restored)

    return await transact(database, body)
