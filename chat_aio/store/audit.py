"""The audit log: rows are only added, in the transaction of the change that they record."""

from datetime import datetime
from typing import Any, cast

from chat_aio.schema.wire import timestamp
from chat_aio.store import keyset_query
from chat_aio.store.database import Database
from chat_aio.store.documents import AuditEntry
from chat_aio.store.transactions import Session, Unchanged, transact


def entry(
    entry_id: str,
    action: str,
    target_id: str,
    *,
    actor_id: str,
    at: datetime,
    moved: tuple[str | None, str | None] = (None, None),
    **details: Any,
) -> AuditEntry:
    """A row of the log: actor, action, target, time, and the change of status (`moved`)."""
    before, after = moved
    return {
        "_id": entry_id,
        "at": at,
        "actorUserId": actor_id,
        "action": action,
        "targetId": target_id,
        "from": before,
        "to": after,
        "details": details,
    }


async def note(database: Database, *rows: AuditEntry) -> None:
    """Add rows about an action that changes nothing."""
    await database.write(lambda: database.audit.insert_many(rows))


async def add(database: Database, row: AuditEntry, session: Session) -> None:
    await database.audit.insert_one(row, session=session)


async def list_newest(database: Database, *, target_id: str | None, limit: int) -> list[AuditEntry]:
    """Rows of the audit log, newest first: all rows, or those about one target."""
    if target_id is None:
        found = await database.read(
            lambda: keyset_query.page(database.audit, {}, None, limit=limit, at="at")
        )
    else:
        rows = database.audit.find({"targetId": target_id}).sort("at", -1).limit(limit)
        found = await database.read(lambda: rows.to_list(None))
    return cast(list[AuditEntry], found)


async def add_once(database: Database, row: AuditEntry) -> None:
    """Add a row, unless one with its id exists."""

    async def body(session: Session) -> None:
        # A read, because a duplicate key would abort the transaction with an error.
        if await database.audit.find_one({"_id": row["_id"]}, session=session):
            raise Unchanged(None)
        await add(database, row, session)

    await transact(database, body)


def entry_from(row: AuditEntry) -> dict[str, Any]:
    """A row as JSON, with field names and times as in the HTTP API."""
    return {
        "id": row["_id"],
        "at": timestamp(row["at"]),
        "actorUserId": row["actorUserId"],
        "action": row["action"],
        "targetId": row["targetId"],
        "from": row["from"],
        "to": row["to"],
        "details": {
            name: (timestamp(value) if isinstance(value, datetime) else value)
            for name, value in row["details"].items()
        },
    }
