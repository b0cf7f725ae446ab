"""The migration to schema version 2: messages of before are counted for those who sent them
(docs/decisions/0054). Each conversation is counted behind the lock of its head, so that sends
continue exactly where it ends; those into a conversation of a million messages wait for a second.
"""

import logging

from chat_aio.errors import StorageUnavailable
from chat_aio.store.database import Database
from chat_aio.store.maintenance.repair import RepairPlan, plan_recount, repair
from chat_aio.store.maintenance.snapshot import ConversationSnapshot
from chat_aio.store.shapes import WHOLE

AT_A_TIME = 100
ANSWER_SECONDS = 5.0

log = logging.getLogger(__name__)


async def count_some(database: Database, after: str | None) -> str | None:
    """Count the next hundred conversations behind the id `after`; returns the last one's id, None
    at the end."""
    # Ids of another type are not ours, and heads without numbers are left out everywhere.
    numbers = {each: {"$type": WHOLE} for each in ("seq", "epoch", "fence")}
    behind = {"$gt": after} if after is not None else {"$type": "string"}
    rows = database.counters.find({"_id": behind, **numbers}, {"_id": 1})
    found = await database.read(lambda: rows.sort("_id", 1).limit(AT_A_TIME).to_list(None))
    for each in found:
        await _count(database, each["_id"])
    return found[-1]["_id"] if len(found) == AT_A_TIME else None


async def _count(database: Database, conversation_id: str) -> None:
    """Count a conversation. One that takes too long stays without counts: its lists are exact
    all the same."""
    try:
        await repair(database, conversation_id, _recount, dry_run=False)
    except StorageUnavailable:
        if not await database.answers(seconds=ANSWER_SECONDS):
            raise
        log.warning("conversation %s could not be counted in time", conversation_id)


async def _recount(snapshot: ConversationSnapshot) -> RepairPlan:
    plan = RepairPlan()
    await plan_recount(snapshot, plan)
    return plan
