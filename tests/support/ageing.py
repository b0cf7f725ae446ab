"""Letting time pass: everything in the database becomes older, which no stream hears of."""

import asyncio
import time
from typing import Any

from tests.conftest import Database

MINUTE_MS = 60_000
TIMES = {
    "messages": ("createdAt", "editedAt", "deletedAt", "changedAt", "reactedAt"),
    "counters": ("activityAt",),
    "departures": ("at",),
    "conversations": (
        "change.at",
        *(f"changedAt.{kind}" for kind in ("members", "name", "metadata", "pins")),
    ),
}


async def next_millisecond() -> None:
    """Wait until a row that is written now is newer than all others: rows of the same millisecond
    are in the order of their random ids."""
    now = int(time.time() * 1_000)
    while int(time.time() * 1_000) == now:  # noqa: ASYNC110
        await asyncio.sleep(0)


async def age(database: Database, minutes: float = 10) -> None:
    """Let some minutes pass since all that has been written."""
    by = int(minutes * MINUTE_MS)
    for collection, names in TIMES.items():
        for name in names:
            earlier: dict[str, Any] = {"$set": {name: {"$subtract": [f"${name}", by]}}}
            await database[collection].update_many({name: {"$type": "date"}}, [earlier])
    times: dict[str, Any] = {}
    for name in ("joinedAt", "markedAt"):
        is_there = {"$eq": [{"$type": f"$$this.{name}"}, "date"]}
        then = {"$subtract": [f"$$this.{name}", by]}
        times[name] = {"$cond": [is_there, then, "$$REMOVE"]}
    aged = {"$map": {"input": "$participants", "in": {"$mergeObjects": ["$$this", times]}}}
    await database["conversations"].update_many({}, [{"$set": {"participants": aged}}])


async def expire_lease(database: Database, lease_id: str) -> None:
    """Let the time of a lease pass, which its holder does not renew."""
    over: list[dict[str, Any]] = [{"$set": {"until": "$$NOW"}}]
    await database["settings"].update_one({"_id": lease_id}, over)
