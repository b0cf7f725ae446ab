"""Messages that wait for a moderator. A TTL index removes them when they expire.

A release is decided here, in one transaction with its row of the audit log, before the message is
sent: from then on nobody can discard it, and another process completes the send if the first one
dies.
"""

from typing import cast

from pymongo.errors import DuplicateKeyError

from chat_aio.store import audit, keyset_query, shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import AuditEntry, HeldMessageDocument
from chat_aio.store.messages import Key
from chat_aio.store.transactions import Session, Unchanged, transact


async def put(database: Database, held: HeldMessageDocument) -> bool:
    """Hold a message, unless one with its idempotency key is held already; returns whether the held
    one is of the same request."""
    try:
        await database.write(lambda: database.held_messages.insert_one(held))
    except DuplicateKeyError:
        key = held["conversationId"], held["senderId"], held["clientMessageId"]
        found = await find_repeated(database, key)
        return found is None or found.get("requestHash") == held["requestHash"]
    return True


async def find_repeated(database: Database, key: Key) -> HeldMessageDocument | None:
    """The held message with an idempotency key, as it is stored."""
    chosen = dict(zip(("conversationId", "senderId", "clientMessageId"), key, strict=True))
    found = await database.read(lambda: database.held_messages.find_one(chosen))
    return cast(HeldMessageDocument | None, found)


async def find(database: Database, held_id: str) -> HeldMessageDocument | None:
    found = await database.read(lambda: database.held_messages.find_one({"_id": held_id}))
    return shapes.one_readable("held_messages", cast(HeldMessageDocument | None, found))


async def list_newest(
    database: Database, *, position: keyset_query.After | None, limit: int
) -> list[HeldMessageDocument]:
    """The held messages behind a position, newest first."""
    found = await database.read(
        lambda: keyset_query.page(database.held_messages, {}, position, limit=limit)
    )
    return cast(list[HeldMessageDocument], found)


async def decide_release(database: Database, held_id: str, entry: AuditEntry) -> bool:
    """Decide once that a message is released; returns whether it still exists."""

    async def body(session: Session) -> bool:
        found = await database.held_messages.find_one({"_id": held_id}, session=session)
        # Decided earlier, by a process that may have died before it sent: the caller completes the
        # send.
        if found is None or found.get("releasedBy") is not None:
            raise Unchanged(found is not None)
        await database.held_messages.update_one(
            {"_id": held_id}, {"$set": {"releasedBy": entry["actorUserId"]}}, session=session
        )
        await audit.add(database, entry, session)
        return True

    return await transact(database, body)


async def discard(
    database: Database, held_id: str, entry: AuditEntry
) -> HeldMessageDocument | None:
    """Remove a message unless its release is decided. Returns it as it was; None if there is
    none."""

    async def body(session: Session) -> HeldMessageDocument | None:
        row = await database.held_messages.find_one({"_id": held_id}, session=session)
        found = shapes.one_readable("held_messages", cast(HeldMessageDocument | None, row))
        if found is None or found["releasedBy"] is not None:
            raise Unchanged(found)
        await database.held_messages.delete_one({"_id": held_id}, session=session)
        await audit.add(database, entry, session)
        return found

    return await transact(database, body)


async def remove(database: Database, held_id: str) -> None:
    """Remove a message that was sent."""
    await database.write(lambda: database.held_messages.delete_one({"_id": held_id}))
