"""One batch of messages as one transaction: count, look for repeats, number, insert. In slow mode,
messages that come too early are removed from the batch first."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from pymongo import UpdateOne
from pymongo.errors import OperationFailure

from chat_aio.errors import OUTCOME_UNKNOWN, ConversationNotFound, SlowMode, StorageUnavailable
from chat_aio.observability.dispatch import notify
from chat_aio.observability.observer import Batch, BatchOutcome, BatchResult, Observer
from chat_aio.store import numbering, slow_mode
from chat_aio.store.backoff import jitter
from chat_aio.store.database import Database, unquoted
from chat_aio.store.documents import MessageDocument
from chat_aio.store.messages import READ, Key, there_are, with_key
from chat_aio.store.numbering import Appended, Draft, EpochChanged
from chat_aio.store.transactions import Conflict, Session, Unchanged, attempt, write_in

_DUPLICATE_KEY = 11000


class DuplicateWrite(Exception):
    """A seq or idempotency key was written by a program that does not lock the counters."""


Decision = Appended | EpochChanged | ConversationNotFound | SlowMode
"""ConversationNotFound if a conversation has no head, or a malformed one."""

Decided = Mapping[Draft, Decision]


async def write_batch(
    database: Database,
    drafts: Sequence[Draft],
    *,
    clock: Callable[[], datetime],
    deadline: float,
) -> Decided:
    """Number and insert `drafts` in one transaction, in order, without gaps.

    Returns the decision on each draft. Raises Conflict if another process was faster,
    DuplicateWrite if a number or key is in use, and StorageUnavailable if the commit's outcome is
    still unknown at `deadline` (monotonic).
    """
    # Of drafts with the same key the first is written; the others get its outcome.
    first: dict[Key, Draft] = {}
    leaders: list[Draft] = []
    followers: dict[Draft, Draft] = {}
    for draft in drafts:
        leader = first.setdefault(draft.key, draft) if draft.key else draft
        if leader is draft:
            leaders.append(draft)
        else:
            followers[draft] = leader
    outcomes: dict[Draft, Decision] = {}
    # If some drafts repeat keys, the attempt writes nothing and decides only those; the others are
    # part of the next attempt.
    addable = False
    while remaining := [leader for leader in leaders if leader not in outcomes]:
        write = partial(_write, database, remaining, clock(), addable)
        try:
            written, _ = await attempt(database, write, deadline=deadline)
        except numbering.Uncountable:
            addable = True
            continue
        if written.stored:
            await _durable(database, written.stored, deadline)
        outcomes |= _outcomes(remaining, written)
    for follower, leader in followers.items():
        outcome = outcomes[leader]
        if isinstance(outcome, Appended):
            outcome = Appended(outcome.message, repeated=True)
        outcomes[follower] = outcome
    return outcomes


Stored = dict[Key | None, MessageDocument]


@dataclass(frozen=True, slots=True)
class BatchAttempt:
    """The result of one attempt: the epochs of the conversations, the drafts that come too early,
    and either the inserted drafts or the `stored` messages whose keys some drafts repeat."""

    epochs: Mapping[str, int]
    refused: slow_mode.Refused
    inserted: Sequence[Draft] = ()
    stored: Stored = field(default_factory=dict)


async def _write(
    database: Database, drafts: Sequence[Draft], now: datetime, addable: bool, session: Session
) -> BatchAttempt:
    """Insert drafts. If some repeat keys, nothing is written and the stored messages are returned
    instead."""
    slow = any(draft.slow_seconds for draft in drafts)
    refused = await slow_mode.refuse(database, drafts, now, session) if slow else {}
    going = [draft for draft in drafts if draft not in refused]
    writable: list[Draft] = []
    heads: numbering.Heads = {}
    if going:
        writable, heads = await numbering.count(database, going, now, session, addable=addable)
    epochs = {name: head["epoch"] for name, head in heads.items()}
    # A repeated request gets its message, however early it comes.
    keys = [draft.key for draft in (*writable, *refused) if draft.key]
    if keys:
        earlier = database.messages.find(
            {"$or": [with_key(key) for key in keys]}, READ, session=session
        )
        stored: Stored = {
            (message["conversationId"], message["senderId"], message["clientMessageId"]): message
            for message in await earlier.to_list(None)
        }
        if stored:
            raise Unchanged(BatchAttempt(epochs, refused, stored=stored))
    if not writable:
        raise Unchanged(BatchAttempt(epochs, refused))
    numbering.number(writable, heads)
    if any(draft.message["threadRootMessageId"] for draft in writable):
        await _count_replies(database, writable, session)
    await _insert(database, [draft.message for draft in writable], session)
    return BatchAttempt(epochs, refused, writable)


async def _insert(
    database: Database, messages: Sequence[MessageDocument], session: Session
) -> None:
    """Insert messages; raises DuplicateWrite if a number or key is in use."""
    try:
        await write_in(session, database, {"insert": database.messages.name, "documents": messages})
    except OperationFailure as error:
        if error.code == _DUPLICATE_KEY:
            raise DuplicateWrite from unquoted(error)
        raise


async def _count_replies(database: Database, drafts: Iterable[Draft], session: Session) -> None:
    """Add thread replies to the summaries of their roots."""
    # Before the insert, which takes longest: users can react to a root or edit it, and every such
    # write between the start of the transaction and this update is a conflict.
    replies: dict[str, list[MessageDocument]] = defaultdict(list)
    for draft in drafts:
        if root_id := draft.message["threadRootMessageId"]:
            replies[root_id].append(draft.message)
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


async def _durable(database: Database, stored: Stored, deadline: float) -> None:
    """Wait until a majority has messages that a transaction has read and not written. A repeated
    send is acknowledged with them, and acknowledged messages must survive a failover. Raises
    StorageUnavailable, outcome unknown, at the deadline."""
    ids = [message["_id"] for message in stored.values()]
    tries = 0
    while not await there_are(database, ids):
        tries += 1
        if time.monotonic() >= deadline:
            raise StorageUnavailable(OUTCOME_UNKNOWN)
        await asyncio.sleep(jitter(tries))


def _outcomes(drafts: Iterable[Draft], written: BatchAttempt) -> dict[Draft, Decision]:
    """The outcome of each draft that is decided; if some drafts repeat keys, only of those."""
    stored, epochs = written.stored, written.epochs
    if stored:
        return {
            draft: Appended(stored[draft.key], repeated=True)
            for draft in drafts
            if draft.key in stored
        }
    inserted = set(written.inserted)
    outcomes: dict[Draft, Decision] = {}
    for draft in drafts:
        if draft in inserted:
            outcomes[draft] = Appended(draft.message)
        elif draft in written.refused:
            outcomes[draft] = written.refused[draft]
        elif draft.conversation_id in epochs:
            outcomes[draft] = EpochChanged(epochs[draft.conversation_id])
        else:
            outcomes[draft] = ConversationNotFound()
    return outcomes


async def observed(
    writing: Awaitable[Decided], drafts: Sequence[Draft], observers: Sequence[Observer]
) -> Decided:
    """Await the writing of a batch and notify observers of its start and outcome."""
    origins = tuple(draft.origin for draft in drafts if draft.origin)
    batch = Batch(messages=len(drafts), origins=origins)
    notify(observers, Observer.batch_begun, batch)
    began = time.perf_counter()
    outcome: BatchOutcome = "failed"
    try:
        decided = await writing
        outcome = "committed"
        return decided
    except Conflict:
        outcome = "conflict"
        raise
    finally:
        written = BatchResult(outcome=outcome, seconds=time.perf_counter() - began)
        notify(observers, Observer.batch_ended, batch, written)
