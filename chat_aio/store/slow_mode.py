"""Slow mode: one message of each member in so many seconds, over all processes.

The head of a conversation in slow mode has in `lastSentAt`, by user, when each has sent. A batch
looks there under the lock of the head, before it counts its messages; conversations without slow
mode are not looked at (docs/decisions/0058).
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
    """Those of these drafts that come too early. The times of the others are noted."""
    refused: Refused = {}
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
        last = noted.get(user, times.get(user))
        if draft.slow_seconds and (left := _seconds_left(last, draft.slow_seconds, now)):
            refused[draft] = SlowMode(retry_after=left)
        elif draft.slow_seconds:
            noted[user] = now
    if noted:
        longest = max(draft.slow_seconds for draft in valid)
        update = _noting(noted, times, before=now - timedelta(seconds=longest))
        await database.counters.update_one({"_id": conversation_id}, update, session=session)
    return refused


async def _valid(
    database: Database, drafts: Sequence[Draft], head: dict[str, Any], session: Session
) -> list[Draft]:
    """The drafts that were checked on the present state, or still hold on it. The others go back to
    their checks, and no time is noted for them."""
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


def _seconds_left(last: object, seconds: int, now: datetime) -> int:
    """The whole seconds until the next message may come, 0 if it may come now."""
    if not isinstance(last, datetime):
        return 0
    # A clock may have been ahead: nobody waits longer than the interval.
    return min(seconds, max(0, math.ceil(seconds - (now - last).total_seconds())))


def _noting(
    noted: dict[str, datetime], times: dict[str, datetime], *, before: datetime
) -> dict[str, Any]:
    """The update that notes times and removes those that say nothing any more."""
    over = [
        user
        for user, at in times.items()
        if user not in noted and not (isinstance(at, datetime) and at > before)
    ]
    update: dict[str, Any] = {"$set": {f"{FIELD}.{user}": at for user, at in noted.items()}}
    if over:
        update["$unset"] = dict.fromkeys((f"{FIELD}.{user}" for user in over), "")
    return update
