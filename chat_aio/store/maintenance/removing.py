"""Leaves tombstones where messages were, together with their rows in the audit log."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from pymongo import UpdateOne

from chat_aio.store.database import Database
from chat_aio.store.documents import AuditEntry, Change, MessageDocument
from chat_aio.store.edits import emptied
from chat_aio.store.maintenance.retention import TOMBSTONES_PER_SECOND
from chat_aio.store.transactions import Session, Unchanged, transact

AT_A_TIME = 100

Entry = Callable[[MessageDocument, Change], AuditEntry]


async def empty(
    database: Database,
    messages: Sequence[MessageDocument],
    *,
    change: Callable[[], Change],
    entry: Entry,
) -> int:
    """Empty messages, a hundred in each transaction; returns how many. What was edited or deleted
    since it was read stays as it is. `change` returns a new stamp, `entry` the row of a message."""
    done = 0
    for start in range(0, len(messages), AT_A_TIME):
        some = messages[start : start + AT_A_TIME]
        emptied_now = await transact(database, partial(_empty, database, some, change, entry))
        # As fast as retention: each one is an event on the streams.
        await asyncio.sleep(emptied_now / TOMBSTONES_PER_SECOND)
        done += emptied_now
    return done


async def _empty(
    database: Database,
    messages: Sequence[MessageDocument],
    change: Callable[[], Change],
    entry: Entry,
    session: Session,
) -> int:
    these = {"_id": {"$in": [each["_id"] for each in messages]}}
    rows = await database.messages.find(these, {"body": 1}, session=session).to_list(None)
    bodies = {each["_id"]: each.get("body") for each in rows}  # That of a tombstone is empty.
    changes = [
        (each, change()) for each in messages if bodies.get(each["_id"], "") == each.get("body")
    ]
    if not changes:
        raise Unchanged(0)
    updates = [UpdateOne({"_id": each["_id"]}, emptied(stamp)) for each, stamp in changes]
    await database.messages.bulk_write(updates, ordered=False, session=session)
    await database.audit.insert_many([entry(*each) for each in changes], session=session)
    return len(changes)
