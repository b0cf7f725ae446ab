"""Replaces messages by tombstones, together with their rows in the audit log."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

from pymongo import UpdateOne

from chat_aio.store import versions
from chat_aio.store.database import Database
from chat_aio.store.documents import AuditEntry, Change, MessageDocument
from chat_aio.store.edits import emptied
from chat_aio.store.maintenance.retention import TOMBSTONES_PER_SECOND
from chat_aio.store.messages import READ
from chat_aio.store.transactions import Session, Unchanged, transact

AT_A_TIME = 100

Stamp = Callable[[MessageDocument], Change]
Entry = Callable[[MessageDocument, Change], AuditEntry]


async def empty(
    database: Database,
    messages: Sequence[MessageDocument],
    *,
    change: Stamp,
    entry: Entry,
    history: timedelta | None,
) -> int:
    """Empty messages, a hundred per transaction; returns their number. Messages edited or deleted
    since they were read are left as they are. `change` returns the stamp for a message as it is
    stored then, `entry` its row; with a `history`, the earlier versions are kept that long."""
    done = 0
    for start in range(0, len(messages), AT_A_TIME):
        some = messages[start : start + AT_A_TIME]
        body = partial(_empty, database, some, change, entry, history)
        emptied_now = await transact(database, body)
        # As fast as retention: every tombstone is an event on the streams.
        await asyncio.sleep(emptied_now / TOMBSTONES_PER_SECOND)
        done += emptied_now
    return done


async def _empty(
    database: Database,
    messages: Sequence[MessageDocument],
    change: Stamp,
    entry: Entry,
    history: timedelta | None,
    session: Session,
) -> int:
    these = {"_id": {"$in": [message["_id"] for message in messages]}}
    rows = await database.messages.find(these, READ, session=session).to_list(None)
    bodies = {message["_id"]: message["body"] for message in messages}
    # By their bodies, since moderators confirm the text that they were shown. The body of a
    # tombstone is empty.
    changes = [(row, change(row)) for row in rows if row["body"] == bodies[row["_id"]]]
    if not changes:
        raise Unchanged(0)
    if history is not None:
        await versions.keep(database, changes, history, session)
    updates = [UpdateOne({"_id": message["_id"]}, emptied(stamp)) for message, stamp in changes]
    await database.messages.bulk_write(updates, ordered=False, session=session)
    await database.audit.insert_many([entry(*message) for message in changes], session=session)
    return len(changes)
