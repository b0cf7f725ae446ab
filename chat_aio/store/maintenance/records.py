"""Retention of records other than messages that name people: old rows and their removal."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from chat_aio.store.bans import NO_DATE
from chat_aio.store.database import Database
from chat_aio.store.maintenance.legal_holds import kept_conversations, kept_users
from chat_aio.store.maintenance.personal_data import naming
from chat_aio.store.maintenance.progress import Advance

AT_A_TIME = 1_000
SECONDS = 60.0

OVER: Mapping[str, Callable[[datetime], dict[str, Any]]] = {
    "reports": lambda at: {
        "status": {"$in": ["resolved", "dismissed"]},
        "updatedAt": {"$lt": at},
    },
    "bans": lambda at: {
        "$or": [{"revokedAt": {"$lt": at}}, {"revokedAt": NO_DATE, "expiresAt": {"$lt": at}}]
    },
    "join_requests": lambda at: {
        "status": {"$in": ["approved", "denied"]},
        "resolvedAt": {"$lt": at},
    },
    "audit": lambda at: {"at": {"$lt": at}},
    "presence": lambda at: {"processes": [], "lastSeenAt": {"$lt": at}},
}
"""The query for rows that were closed before a moment, by collection. Open reports, bans in force,
pending requests and users who are online do not match."""

PLACES = ("conversationId", "evidence.conversationId", "details.conversationId", "targetId")
"""The fields that may name a conversation."""


async def count(database: Database, collection: str, *, before: datetime) -> int:
    """The number of rows that would be removed now."""
    rows, chosen = database.collection(collection), await _chosen(database, collection, before)
    found: int = await database.read(lambda: rows.count_documents(chosen), seconds=SECONDS)
    return found


async def remove(database: Database, collection: str, *, before: datetime, advance: Advance) -> int:
    """Remove closed rows, some at a time; returns their number."""
    rows = database.collection(collection)
    done = 0
    while True:
        # Queried every time: a hold that is placed during the run counts from then on.
        chosen = await _chosen(database, collection, before)
        found = rows.find(chosen, {"_id": 1}).limit(AT_A_TIME)
        ids = [
            row["_id"] for row in await database.read(partial(found.to_list, None), seconds=SECONDS)
        ]
        if not ids:
            return done
        # By both: a row that has been opened again since it was found stays.
        these = {"$and": [{"_id": {"$in": ids}}, chosen]}
        removed = await database.write(partial(rows.delete_many, these))
        done += removed.deleted_count
        advance(removed.deleted_count)


async def _chosen(database: Database, collection: str, before: datetime) -> dict[str, Any]:
    """The closed rows that are under no legal hold."""
    kept = [naming(collection, user_id) for user_id in await kept_users(database)]
    if held := await kept_conversations(database):
        kept += [{place: {"$in": sorted(held)}} for place in PLACES]
    over = OVER[collection](before)
    return {"$and": [over, {"$nor": kept}]} if kept else over
