"""Slow mode: a minimum interval between two messages of a member, over all processes.

The head of a conversation in slow mode has in `lastSentAt`, by user, the time of the last message.
A batch reads it under the lock of the head, before it counts its messages; conversations without
slow mode are not read (decision 0058).
"""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from chat_aio.errors import SlowMode
from chat_aio.store.database import Database
from chat_aio.store.metadata import escaped_key
from chat_aio.store.numbering import Draft
from chat_aio.store.shapes import WHOLE, one_readable
from chat_aio.store.transactions import Session

FIELD = "lastSentAt"

Refused = dict[Draft, SlowMode]


def place_of(user_id: str) -> str:
    """The field of a head that has the time of a user."""
    return f"{FIELD}.{escaped_key(user_id)}"


async def refuse(
    database: Database, drafts: Iterable[Draft], now: datetime, session: Session
) -> Refused:
    """The drafts that come too early. The times of the others are noted."""
    refused: Refused = {}
    # Sorted, so that two processes lock the same heads in the same order.
    for conversation_id in sorted(
        {draft.conversation_id for draft in drafts if draft.slow_seconds}
    ):
        slow = [draft for draft in drafts if draft.conversation_id == conversation_id]
        refused |= await _refuse_in(database, conversation_id, slow, now, session)
    return refused


async def _refuse_in(
    database: Database,
    conversation_id: str,
    drafts: Sequence[Draft],
    now: datetime,
    session: Session,
) -> Refused:
    head = await database.counters.find_one_and_update(
        {"_id": conversation_id, "fence": {"$type": WHOLE}},
        {"$inc": {"fence": 1}},  # A write, because only that locks the head.
        {"epoch": 1, FIELD: 1},
        return_document=True,
        session=session,
    )
    if head is None:  # `numbering.count` finds no head either.
        return {}
    known = head.get(FIELD)
    times: dict[str, datetime] = known if isinstance(known, dict) else {}
    valid = await _valid(database, drafts, head, session)
    refused: Refused = {}
    noted: dict[str, datetime] = {}
    for draft in valid:
        user = escaped_key(draft.message["senderId"])
        last, seconds = noted.get(user, times.get(user)), draft.slow_seconds
        if not seconds:
            continue
        left = seconds - (now - last).total_seconds() if isinstance(last, datetime) else 0
        if left > 0:
            # A clock may have been ahead: nobody waits longer than the interval.
            refused[draft] = SlowMode(retry_after=min(seconds, math.ceil(left)))
        else:
            noted[user] = now
    if noted:
        # Times that no longer matter are removed, or the head would grow with every sender.
        before = now - timedelta(seconds=max(draft.slow_seconds for draft in valid))
        over = [
            user
            for user, at in times.items()
            if user not in noted and not (isinstance(at, datetime) and at > before)
        ]
        update: dict[str, Any] = {"$set": {f"{FIELD}.{user}": at for user, at in noted.items()}}
        if over:
            update["$unset"] = dict.fromkeys((f"{FIELD}.{user}" for user in over), "")
        await database.counters.update_one({"_id": conversation_id}, update, session=session)
    return refused


async def _valid(
    database: Database, drafts: Sequence[Draft], head: dict[str, Any], session: Session
) -> list[Draft]:
    """The drafts that were checked on the present state, or are still valid on it. The others
    return to their checks, and no time is noted for them."""
    current = [draft for draft in drafts if draft.epoch == head["epoch"]]
    if len(current) == len(drafts):
        return current
    found = await database.conversations.find_one({"_id": head["_id"]}, session=session)
    here = one_readable("conversations", found)
    return [
        draft
        for draft in drafts
        if draft in current or (here and draft.still_allowed and draft.still_allowed(here))
    ]
