"""One batch of messages as one transaction: raise counters, look for repeats, insert.

Counters come first, and in the order of their ids: they are the locks (docs/decisions/0002).
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import cast

from pymongo import UpdateOne
from pymongo.errors import BulkWriteError

from chat_aio.errors import OUTCOME_UNKNOWN, ConversationNotFound, StorageUnavailable
from chat_aio.store.backoff import jitter
from chat_aio.store.database import Database, unquoted
from chat_aio.store.documents import CounterDocument, MessageDocument
from chat_aio.store.drafts import (
    Appended,
    Decision,
    Draft,
    EpochMoved,
    Taken,
    by_conversation,
    folded,
)
from chat_aio.store.messages import READ, Key, there_are, with_key
from chat_aio.store.shapes import WHOLE, readable
from chat_aio.store.transactions import Session, Unchanged, attempt

_DUPLICATE_KEY = 11000
_COUNTS = {"seq": {"$type": WHOLE}}


async def write_batch(
    database: Database,
    drafts: Sequence[Draft],
    *,
    clock: Callable[[], datetime],
    deadline: float,
) -> dict[Draft, Decision]:
    """Number and insert `drafts` in one transaction, in order, without gaps.

    Returns what became of each draft. Raises Conflict if another process was faster, Taken if a
    number or key is in use, and StorageUnavailable if the commit's outcome is still unknown at
    `deadline` (monotonic).
    """
    leaders, followers = folded(drafts)
    outcomes: dict[Draft, Decision] = {}
    # If some drafts repeat keys, the attempt writes nothing and decides only those; the others go
    # into the next attempt.
    while remaining := [each for each in leaders if each not in outcomes]:
        written, stored, epochs = await attempt(
            database, partial(_write, database, remaining, clock()), deadline=deadline
        )
        if stored:
            await _durable(database, stored, deadline)
        outcomes |= _outcomes(remaining, written, stored, epochs)
    return outcomes | {each: _repeated(outcomes[leader]) for each, leader in followers.items()}


Stored = dict[Key | None, MessageDocument]
Written = tuple[list[Draft], Stored, dict[str, int]]


async def _write(
    database: Database, drafts: Sequence[Draft], now: datetime, session: Session
) -> Written:
    """Insert drafts; returns those inserted, no stored messages, and each conversation's epoch. If
    some repeat keys, nothing is written and the stored messages are returned instead."""
    heads = await _count(database, by_conversation(drafts), now, session)
    known = [each for each in drafts if each.conversation_id in heads]
    outdated = [each for each in known if heads[each.conversation_id]["epoch"] != each.epoch]
    holding = await _recheck(database, outdated, heads, now, session) if outdated else set()
    writable = [each for each in known if each not in outdated or each in holding]
    epochs = {name: head["epoch"] for name, head in heads.items()}
    if stored := await _stored(database, writable, session):
        raise Unchanged(([], stored, epochs))
    if not writable:
        raise Unchanged(([], {}, epochs))
    for conversation_id, group in by_conversation(writable).items():
        _number(group, heads[conversation_id])
    await _count_replies(database, writable, session)
    try:
        await database.messages.insert_many([each.message for each in writable], session=session)
    except BulkWriteError as error:
        if error.details["writeErrors"][0]["code"] == _DUPLICATE_KEY:
            raise Taken from unquoted(error)
        raise
    return writable, {}, epochs


def _number(drafts: Sequence[Draft], head: CounterDocument) -> None:
    """Give the drafts of one conversation the numbers just counted, and the head's time."""
    for seq, draft in enumerate(drafts, head["seq"] - len(drafts) + 1):
        draft.message["seq"] = seq
        draft.message["createdAt"] = head["activityAt"]
        for mention in draft.message["mentions"]:
            mention["createdAt"] = head["activityAt"]


async def _count_replies(database: Database, drafts: Iterable[Draft], session: Session) -> None:
    """Add thread replies to the summaries of their roots."""
    # Before the insert, which takes longest: a root is open to reactions and edits, and each that
    # comes between the start of the transaction and this update is a conflict.
    replies: dict[str, list[MessageDocument]] = defaultdict(list)
    for draft in drafts:
        if root_id := draft.message["threadRootMessageId"]:
            replies[root_id].append(draft.message)
    if replies:
        await database.messages.bulk_write(
            [
                UpdateOne(
                    {"_id": root_id},
                    {
                        "$inc": {"thread.replyCount": len(replies[root_id])},
                        "$max": {"thread.lastReplyAt": replies[root_id][-1]["createdAt"]},
                    },
                )
                for root_id in sorted(replies)
            ],
            ordered=False,
            session=session,
        )


async def _count(
    database: Database,
    groups: dict[str, list[Draft]],
    now: datetime,
    session: Session,
) -> dict[str, CounterDocument]:
    """Raise the counters whose epoch is unchanged and read them back; they are locked from here on.

    `activityAt`, which becomes the messages' `createdAt`, never falls: `$max` ignores clocks that
    are behind.
    """
    # One conversation, the usual case, takes one round trip instead of two.
    if len(groups) == 1:
        ((conversation_id, drafts),) = groups.items()
        epoch, count = _newest(drafts)
        head = await database.counters.find_one_and_update(
            {"_id": conversation_id, "epoch": epoch, **_COUNTS},
            {"$inc": {"seq": count}, "$max": {"activityAt": now}},
            return_document=True,
            session=session,
        )
        if head:
            return {conversation_id: head}
    else:
        await _count_many(database, groups, now, session)
    found = await database.counters.find({"_id": {"$in": list(groups)}}, session=session).to_list(
        None
    )
    return {each["_id"]: cast(CounterDocument, each) for each in readable("counters", found)}


async def _count_many(
    database: Database, groups: dict[str, list[Draft]], now: datetime, session: Session
) -> None:
    await database.counters.bulk_write(
        [
            UpdateOne(
                {"_id": conversation_id, "epoch": epoch, **_COUNTS},
                {"$inc": {"seq": count}, "$max": {"activityAt": now}},
            )
            for conversation_id in sorted(groups)  # One lock order for all processes.
            for epoch, count in [_newest(groups[conversation_id])]
        ],
        ordered=False,
        session=session,
    )


async def _recheck(
    database: Database,
    outdated: Iterable[Draft],
    heads: dict[str, CounterDocument],
    now: datetime,
    session: Session,
) -> set[Draft]:
    """Check drafts of an older epoch again, on the stored conversation, and count those that pass.

    Without it, a group that people join and leave all the time would send every message back to
    its checks. Counting locks the head, so participants stay as read here until the commit.
    """
    asked = [each for each in outdated if each.still_allowed]
    chosen = {"_id": {"$in": list({each.conversation_id for each in asked})}}
    found = (
        await database.conversations.find(chosen, session=session).to_list(None) if asked else []
    )
    conversations = {each["_id"]: each for each in readable("conversations", found)}
    holding = [
        each
        for each in asked
        if each.conversation_id in conversations
        and each.still_allowed
        and each.still_allowed(conversations[each.conversation_id])
    ]
    for conversation_id, drafts in by_conversation(holding).items():
        heads[conversation_id] = await database.counters.find_one_and_update(
            {"_id": conversation_id},
            {"$inc": {"seq": len(drafts)}, "$max": {"activityAt": now}},
            return_document=True,
            session=session,
        )
    return set(holding)


def _newest(drafts: Iterable[Draft]) -> tuple[int, int]:
    """The newest epoch among drafts of one conversation, and how many drafts have it."""
    epochs = Counter(each.epoch for each in drafts)
    epoch = max(epochs)
    return epoch, epochs[epoch]


def _outcomes(
    drafts: Iterable[Draft], written: Iterable[Draft], stored: Stored, epochs: dict[str, int]
) -> dict[Draft, Decision]:
    """The outcome of each draft that is decided: if some repeat keys, only of those."""
    if stored:
        return {
            each: Appended(stored[each.key], repeated=True) for each in drafts if each.key in stored
        }
    inserted = set(written)
    return {
        each: Appended(each.message)
        if each in inserted
        else EpochMoved(epochs[each.conversation_id])
        if each.conversation_id in epochs
        else ConversationNotFound()
        for each in drafts
    }


def _repeated(outcome: Decision) -> Decision:
    """The outcome of a draft whose key another draft of its batch has."""
    if isinstance(outcome, Appended):
        return Appended(outcome.message, repeated=True)
    return outcome


async def _durable(database: Database, stored: Stored, deadline: float) -> None:
    """Wait until a majority has messages that a transaction has seen and not written. A repeated
    send is acknowledged with them, and what is acknowledged must survive a failover. Raises
    StorageUnavailable, outcome unknown, at the deadline."""
    ids = [each["_id"] for each in stored.values()]
    tries = 0
    while not await there_are(database, ids):
        tries += 1
        if time.monotonic() >= deadline:
            raise StorageUnavailable(OUTCOME_UNKNOWN)
        await asyncio.sleep(jitter(tries))


async def _stored(database: Database, drafts: Iterable[Draft], session: Session) -> Stored:
    """The messages that earlier sends with the same idempotency keys have stored."""
    keys = [each.key for each in drafts if each.key]
    if not keys:
        return {}
    found = await database.messages.find(
        {"$or": [with_key(each) for each in keys]}, READ, session=session
    ).to_list(None)
    return {
        (each["conversationId"], each["senderId"], each["clientMessageId"]): each for each in found
    }
