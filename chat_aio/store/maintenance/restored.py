"""After a backup was restored: the note of the restore, and heads behind their messages."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, cast

from chat_aio.store.database import Database
from chat_aio.store.maintenance.progress import Advance
from chat_aio.store.settings import RESTORED

SECONDS = 600.0
HEADS_AT_A_TIME = 500


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


async def take_back(database: Database) -> bool:
    """Remove the note of a restore; returns whether there was one."""
    written = await database.write(
        lambda: database.settings.update_one(
            # Not a deletion, to which a chat's role has no right.
            {"_id": RESTORED, "at": {"$exists": True}},
            {"$unset": {"at": ""}},
        )
    )
    return bool(written.modified_count)


async def newest_activity(database: Database) -> datetime | None:
    """The time of the latest activity of any conversation."""
    chosen = {"activityAt": {"$type": "date"}}
    rows = database.counters.find(chosen, {"activityAt": 1}).sort("activityAt", -1).limit(1)
    found = await database.read(lambda: rows.to_list(1), seconds=SECONDS)
    return found[0]["activityAt"] if found else None


async def heads_behind(database: Database, advance: Advance = lambda _: None) -> list[Behind]:
    """The heads with a lower number than the newest message of their conversation. `advance` is
    called with the number of heads examined."""
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
    behind: list[Behind] = []
    after = ""
    while True:
        # The ids of conversations are texts.
        chosen = {"_id": {"$gt": after}, "seq": {"$type": ["int", "long"]}}
        rows = database.counters.find(chosen, {"_id": 1}).sort("_id", 1).limit(HEADS_AT_A_TIME)
        ids = [row["_id"] for row in await database.read(partial(rows.to_list, None))]
        if ids:
            stages: list[dict[str, Any]] = [
                {"$match": {**chosen, "_id": {"$in": ids}}},
                {"$project": {"seq": 1}},
                {"$lookup": newest},
                {"$unwind": "$newest"},
                {"$match": {"$expr": {"$lt": ["$seq", "$newest.seq"]}}},
            ]
            found = await database.aggregate(database.counters, stages, seconds=SECONDS)
            behind += [
                Behind(row["_id"], row["seq"], row["newest"]["seq"], row["newest"]["createdAt"])
                for row in found
            ]
            advance(len(ids))
        if len(ids) < HEADS_AT_A_TIME:
            return behind
        after = ids[-1]


async def raise_head(database: Database, behind: Behind) -> None:
    """Raise a head to its newest message; it is never lowered."""
    await database.write(
        lambda: database.counters.update_one(
            {"_id": behind.conversation_id},
            {"$max": {"seq": behind.newest, "activityAt": behind.at}},
        )
    )
