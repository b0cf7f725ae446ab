"""Earlier versions of messages, replaced by edits, deletions and removals.

They are kept for moderators only, for `Options.message_version_days`; a TTL index removes them.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from chat_aio.errors import MessageNotRestorable
from chat_aio.schema.moderation_tools import MessageVersion
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
    rows: list[VersionDocument] = []
    for before, change in replaced:
        how: Literal["edited", "deleted", "removed"] = "edited"
        if change["kind"] != "message.updated":
            # Only a removal, by somebody else, can be taken back (`find_removed`).
            how = "deleted" if change["actorId"] == before["senderId"] else "removed"
        kept: VersionDocument = {
            # Of the change, so that a repeated transaction writes the same row.
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
            "how": how,
            "expiresAt": change["at"] + history,
        }
        if "attachments" in before:
            kept["attachments"] = before["attachments"]
        rows.append(kept)
    await database.message_versions.insert_many(rows, session=session)


def version_from(found: VersionDocument) -> MessageVersion:
    """A version in its API form."""
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
    # Bounded: a message may be edited any number of times, and each version is a whole body.
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
    """Turn a tombstone back into its message, and record that in the audit log; None if it is no
    longer that tombstone. Raises MessageNotRestorable unless it is `allowed` by the head, which is
    locked, and the message's seq."""

    async def body(session: Session) -> MessageDocument | None:
        # A write, which locks the head: retention records its progress there.
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
