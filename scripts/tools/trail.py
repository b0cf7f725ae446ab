"""The audit trail, as moderators read it."""

from datetime import datetime
from typing import Any, cast

from chat_aio.schema.models import timestamp
from chat_aio.store import keyset_query
from chat_aio.store.database import Database
from chat_aio.store.documents import AuditEntry


async def list_newest(database: Database, *, target_id: str | None, limit: int) -> list[AuditEntry]:
    """Rows of the trail, newest first: all of them, or what was decided about a target."""
    if target_id is None:
        found = await database.read(
            lambda: keyset_query.page(database.audit, {}, None, limit=limit, at="at")
        )
    else:
        rows = database.audit.find({"targetId": target_id}).sort("at", -1).limit(limit)
        found = await database.read(lambda: rows.to_list(None))
    return cast(list[AuditEntry], found)


def entry_from(row: AuditEntry) -> dict[str, Any]:
    """A row as it goes out, in the manner of the wire."""
    return {
        "id": row["_id"],
        "at": timestamp(row["at"]),
        "actorUserId": row["actorUserId"],
        "action": row["action"],
        "targetId": row["targetId"],
        "from": row["from"],
        "to": row["to"],
        "details": {name: _told(value) for name, value in row["details"].items()},
    }


def _told(value: object) -> object:
    return timestamp(value) if isinstance(value, datetime) else value
