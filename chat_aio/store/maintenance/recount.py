"""The migration to schema version 2: messages of before are counted for those who sent them
(docs/decisions/0054). Each conversation is counted behind the lock of its head, so that sends
continue exactly where it ends; those into a conversation of a million messages wait for a second.
"""

from chat_aio.store.database import Database
from chat_aio.store.maintenance.repair import RepairPlan, plan_recount, repair
from chat_aio.store.maintenance.snapshot import ConversationSnapshot

AT_A_TIME = 100


async def count_some(database: Database, after: str | None) -> str | None:
    """Count the next hundred conversations behind the id `after`; returns the last one's id, None
    at the end."""
    # Ids of another type are not ours; the check finds them.
    behind = {"$gt": after} if after is not None else {"$type": "string"}
    rows = database.counters.find({"_id": behind, "seq": {"$exists": True}}, {"_id": 1})
    found = await database.read(lambda: rows.sort("_id", 1).limit(AT_A_TIME).to_list(None))
    for each in found:
        await repair(database, each["_id"], _recount, dry_run=False)
    return found[-1]["_id"] if len(found) == AT_A_TIME else None


async def _recount(snapshot: ConversationSnapshot) -> RepairPlan:
    plan = RepairPlan()
    await plan_recount(snapshot, plan)
    return plan
