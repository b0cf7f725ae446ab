"""After a backup was restored: noting when, and heads that are behind their messages."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from chat_aio.store.database import Database
from chat_aio.store.settings import RESTORED

SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Behind:
    """A head that would assign numbers twice: it is at `seq`, and a message has number `newest`."""

    conversation_id: str
    seq: int
    newest: int
    at: datetime


async def note(database: Database) -> datetime:
    """Store the primary's present time as the time of the restore, and return it."""
    found = await database.write(
        lambda: database.settings.find_one_and_update(
            {"_id": RESTORED},
            {"$currentDate": {"at": True}},
            upsert=True,
            return_document=True,
        )
    )
    return cast(datetime, found["at"])


async def newest_activity(database: Database) -> datetime | None:
    """The time of the latest activity of any conversation."""
    chosen = {"activityAt": {"$type": "date"}}
    rows = database.counters.find(chosen, {"activityAt": 1}).sort("activityAt", -1).limit(1)
    found = await database.read(lambda: rows.to_list(1), seconds=SECONDS)
    return found[0]["activityAt"] if found else None


async def heads_behind(database: Database) -> list[Behind]:
    """The heads with a lower number than the newest message of their conversation."""
    newest: dict[str, Any] = {
        "from": database.messages.name,
        "localField": "_id",
        "foreignField": "conversationId",
        "pipeline": [
            {"$match": {"seq": {"$type": ["int", "long"]}}},
            {"$sort": {"seq": -1}},
            {"$limit": 1},
            {"$project": {"seq": 1, "createdAt": 1}},
        ],
        "as": "newest",
    }
    stages: list[dict[str, Any]] = [
        {"$match": {"seq": {"$type": ["int", "long"]}}},
        {"$project": {"seq": 1}},
        {"$lookup": newest},
        {"$unwind": "$newest"},
        {"$match": {"$expr": {"$lt": ["$seq", "$newest.seq"]}}},
    ]
    found = await database.aggregate(database.counters, stages, seconds=SECONDS)
    return [
        Behind(each["_id"], each["seq"], each["newest"]["seq"], each["newest"]["createdAt"])
        for each in found
    ]


async def raise_head(database: Database, behind: Behind) -> None:
    """Raise a head to its newest message; it is never lowered."""
    await database.write(
        lambda: database.counters.update_one(
            {"_id": behind.conversation_id},
            {"$max": {"seq": behind.newest, "activityAt": behind.at}},
        )
    )
