"""What is left of deleted conversations."""

import asyncio
from typing import Any

from chat_aio.store.database import COLLECTIONS
from tests.conftest import Database

KEPT = {"deleted_conversations", "departures", "audit", "reports", "signals"}
"""The collections that may name a deleted conversation afterwards."""


async def settled(
    database: Database, conversation_id: str, state: str = "settling"
) -> dict[str, Any]:
    """The row of a deleted conversation, once all others are gone."""
    rows = database["deleted_conversations"]
    here = {"documentKey._id": conversation_id}
    async with asyncio.timeout(60), await rows.watch([{"$match": here}]) as changes:
        while (row := await rows.find_one({"_id": conversation_id})) is None or (
            row["state"] != state
        ):
            await changes.next()
    return dict(row)


async def naming(database: Database, conversation_id: str) -> dict[str, int]:
    """The collections, and how many of their rows name a conversation anywhere."""
    found = {}
    for name in COLLECTIONS:
        rows = await database[name].find().to_list(None)
        if count := sum(conversation_id in str(row) for row in rows):
            found[name] = count
    return found
