"""The audit trail of moderators' decisions: rows are only added, together with the change."""

from datetime import datetime
from typing import Any

from chat_aio.store.database import Database
from chat_aio.store.documents import AuditEntry
from chat_aio.store.transactions import Session


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
    """A row of the trail: who did what to what, when, and from which status to which (`moved`)."""
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


async def note(database: Database, row: AuditEntry) -> None:
    """Add a row about something that changes nothing."""
    await database.write(lambda: database.audit.insert_one(row))


async def add(database: Database, row: AuditEntry, session: Session) -> None:
    await database.audit.insert_one(row, session=session)
