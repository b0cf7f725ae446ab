"""Letting time pass: everything in the database becomes older, which no stream hears of."""

from typing import Any

from tests.conftest import Database

MINUTE_MS = 60_000
TIMES = {
    "messages": ("createdAt", "editedAt", "deletedAt", "changedAt"),
    "counters": ("activityAt",),
}


async def age(database: Database, minutes: float = 10) -> None:
    """Let some minutes pass since all that has been written."""
    by = int(minutes * MINUTE_MS)
    for collection, names in TIMES.items():
        for name in names:
            earlier: dict[str, Any] = {"$set": {name: {"$subtract": [f"${name}", by]}}}
            await database[collection].update_many({name: {"$type": "date"}}, [earlier])
    joined: dict[str, Any] = {"joinedAt": {"$subtract": ["$$this.joinedAt", by]}}
    each = {"$map": {"input": "$participants", "in": {"$mergeObjects": ["$$this", joined]}}}
    await database["conversations"].update_many({}, [{"$set": {"participants": each}}])
