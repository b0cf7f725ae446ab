"""Finds messages conversation by conversation, from the newest message down, along the indexes that
the chat has. It stops where older messages can no longer match.

`scan` does this in portions, which start where the previous one has ended.
"""

import heapq
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

from chat_aio.schema.normal_text import is_run
from chat_aio.store import shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import CounterDocument, MessageDocument
from chat_aio.store.maintenance import retention
from chat_aio.store.maintenance.progress import Advance
from chat_aio.store.messages import READ
from chat_aio.store.rows import MOST_BYTES, Rows, read_rows
from chat_aio.store.sent_counts import WITHOUT_COUNTS
from chat_aio.store.time_slices import ROWS_AT_ONCE
from chat_aio.store.tokenizer import terms_of

MESSAGES_AT_A_TIME = 500
HEADS_AT_A_TIME = 10_000
SECONDS = 60.0
TOKENISED_AT_A_TIME = 100
IDS_AT_A_TIME = 1_000
_TIMES = {"seq": 1, "createdAt": 1}
NEWEST = 2**53 - 1
"""Above every seq."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCriteria:
    """The selected messages; `terms` are in normal form, and a message must have them all."""

    user_id: str | None = None
    conversation_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    terms: tuple[str, ...] = ()

    def as_details(self) -> dict[str, Any]:
        """The conditions, as details of an audit entry."""
        return {
            "userId": self.user_id,
            "conversationId": self.conversation_id,
            "since": self.since,
            "until": self.until,
            "terms": " ".join(self.terms) or None,
        }

    def is_met_by(self, message: MessageDocument) -> bool:
        """Whether a message matches, as in a search: whole words, and runs as parts of runs."""
        if self.until is not None and message["createdAt"] > self.until:
            return False
        if not self.terms:
            return True
        have = terms_of(message["body"])
        return all(
            any(term in other for other in have) if is_run(term) else term in have
            for term in self.terms
        )


class Newest:
    """Keeps the newest `most` of the messages that are added."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[tuple[datetime, str, MessageDocument]] = []

    def add(self, message: MessageDocument) -> None:
        # Ids differ, so the messages themselves, which have no order, are never compared.
        heapq.heappush(self._kept, (message["createdAt"], message["_id"], message))
        if len(self._kept) > self._most:
            heapq.heappop(self._kept)

    def is_behind(self, at: datetime) -> bool:
        """Whether messages of this time, and older ones, are no longer needed."""
        return len(self._kept) >= self._most and at < self._kept[0][0]

    def messages(self) -> list[MessageDocument]:
        return [message for _, _, message in sorted(self._kept, key=lambda e: e[:2], reverse=True)]


async def list_heads(database: Database, criteria: MessageCriteria) -> list[CounterDocument]:
    """The heads of the conversations to search, the most recently active first. Raises
    ConversationNotFound."""
    if criteria.conversation_id is None and criteria.user_id is not None:
        # Found by their messages, since they may have left the conversation.
        written = {"senderId": criteria.user_id}
        ids = await database.read(
            lambda: database.messages.distinct("conversationId", written), seconds=SECONDS
        )
        heads: list[CounterDocument] = []
        # In portions, because MongoDB limits the size of a query.
        for start in range(0, len(ids), HEADS_AT_A_TIME):
            some = {"_id": {"$in": ids[start : start + HEADS_AT_A_TIME]}}
            rows = database.counters.find(some, WITHOUT_COUNTS)
            heads += await database.read(partial(rows.to_list, None), seconds=SECONDS)
    else:
        heads = await retention.list_heads(database, conversation_id=criteria.conversation_id)
    since = criteria.since
    active = [head for head in heads if since is None or head["activityAt"] >= since]
    return sorted(active, key=lambda head: head["activityAt"], reverse=True)


async def list_around(
    database: Database, message: MessageDocument, *, before: int, after: int
) -> list[MessageDocument]:
    """The well-formed messages of a conversation around one of them, with thread replies, in their
    order."""
    found = [message]
    for sides, order, most in (("$lt", -1, before), ("$gt", 1, after)):
        if most:
            chosen = {"conversationId": message["conversationId"], "seq": {sides: message["seq"]}}
            rows = database.messages.find(chosen, READ).sort("seq", order).limit(most)
            found += await database.read(partial(rows.to_list, None), seconds=SECONDS)
    return sorted(shapes.readable("messages", found), key=lambda message: message["seq"])


async def list_newest(
    database: Database,
    criteria: MessageCriteria,
    heads: Sequence[CounterDocument],
    advance: Advance,
    *,
    most: int,
) -> list[MessageDocument]:
    """The newest `most` matches; `advance` is called with the number of seqs passed."""
    newest = Newest(most)
    for head in heads:
        below = head["seq"] + 1
        # As long as matches of this conversation may be among the newest.
        if not newest.is_behind(head["activityAt"]):
            async with aclosing(walk(database, criteria, head, advance)) as pages:
                async for page in pages:
                    below = page.below
                    for message in page.met:
                        newest.add(message)
                    if page.met and newest.is_behind(page.met[-1]["createdAt"]):
                        break
        advance(below - 1)
    return newest.messages()


class Page(NamedTuple):
    """A step of a walk: the matches, and the seq below which it continues."""

    met: list[MessageDocument]
    below: int


async def walk(
    database: Database,
    criteria: MessageCriteria,
    head: CounterDocument,
    advance: Advance,
) -> AsyncGenerator[Page, None]:
    """The matches of a conversation as it was when its head was read."""
    below = head["seq"] + 1
    async for page in walk_down(database, criteria, head["_id"], below):
        advance(below - page.below)
        below = page.below
        yield page


async def walk_down(
    database: Database, criteria: MessageCriteria, conversation_id: str, below: int
) -> AsyncGenerator[Page, None]:
    """The matches of a conversation below a seq in pages, newest first; times never rise on the way
    (docs/reference/data-model.md, counters)."""
    if criteria.until is not None:
        below = await below_younger(database, conversation_id, below, criteria.until)
    while below > 1:
        rows = await _page(database, criteria, conversation_id, below)
        met, reached = await _sift(database, criteria, rows.documents)
        # An answer that was cut at MOST_BYTES has fewer rows as well, without being the last.
        is_last = reached or (rows.complete and len(rows.documents) < _size(criteria))
        below = 1 if is_last else rows.documents[-1]["seq"]
        yield Page(met, below)


async def _sift(
    database: Database, criteria: MessageCriteria, rows: Sequence[MessageDocument]
) -> tuple[list[MessageDocument], bool]:
    """The matches among messages, newest first, and whether older ones are too old. In time slices:
    finding the terms of a long body takes milliseconds."""
    met: list[MessageDocument] = []
    async with database.turns.sliced() as slices:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            for message in shapes.readable("messages", rows[start : start + ROWS_AT_ONCE]):
                if criteria.since is not None and message["createdAt"] < criteria.since:
                    return met, True
                if criteria.is_met_by(message):
                    met.append(message)
            await slices.give_way()
    return met, False


def _size(criteria: MessageCriteria) -> int:
    """The number of messages that are read in a step."""
    return min(MESSAGES_AT_A_TIME, TOKENISED_AT_A_TIME) if criteria.terms else MESSAGES_AT_A_TIME


async def below_younger(
    database: Database, conversation_id: str, below: int, until: datetime
) -> int:
    """A seq up to `below`, above every message of a conversation up to a moment, and not far above
    the newest of these."""
    oldest, middle = 0, below
    # By halving, since no index has the times: they never fall as seqs rise.
    while below - oldest > MESSAGES_AT_A_TIME:
        here = {"conversationId": conversation_id, "createdAt": {"$type": "date"}}
        chosen = {**here, "seq": {"$lt": middle}}
        row = await database.read(
            partial(database.messages.find_one, chosen, _TIMES, sort=[("seq", -1)])
        )
        if row is not None and row["createdAt"] > until:
            below = row["seq"]
        else:
            oldest = middle
        middle = (oldest + below) // 2
    return below


async def _page(
    database: Database, criteria: MessageCriteria, conversation_id: str, below: int
) -> Rows[MessageDocument]:
    chosen: dict[str, Any] = {"conversationId": conversation_id, "seq": {"$lt": below}}
    if criteria.user_id is not None:
        # By the index of own messages: a user may have few among the many of a conversation.
        chosen["senderId"] = criteria.user_id
    rows = database.messages
    return await read_rows(
        database,
        rows,
        lambda: rows.find_raw_batches(chosen, READ).sort("seq", -1).limit(_size(criteria)),
        most=MOST_BYTES,
    )


class Position(NamedTuple):
    """The end of a scan: in this conversation, below this seq."""

    conversation_id: str
    below: int


class Found(NamedTuple):
    """The matches of a portion of a scan, and the start of the next one; None at the end."""

    messages: list[MessageDocument]
    position: Position | None


async def scan(
    database: Database,
    criteria: MessageCriteria,
    position: Position | None,
    *,
    most: int,
    deadline: float,
) -> Found:
    """Up to `most` matches, conversation by conversation in the order of their ids, newest message
    first; fewer if the `deadline` (monotonic) is over, after at least one step.
    """
    found: list[MessageDocument] = []
    async with aclosing(_conversations(database, criteria, position)) as places:
        async for conversation_id, below in places:
            pages = walk_down(database, criteria, conversation_id, below)
            async with aclosing(pages):
                async for page in pages:
                    room = most - len(found)
                    if page.met and not room:
                        return Found(found, Position(conversation_id, below))
                    below = page.below
                    found += page.met[:room]
                    if len(page.met) > room:
                        return Found(found, Position(conversation_id, found[-1]["seq"]))
                    if monotonic() >= deadline:
                        return Found(found, Position(conversation_id, page.below))
            if monotonic() >= deadline:  # Even if there was no page at all.
                return Found(found, Position(conversation_id, 1))
    return Found(found, None)


async def _conversations(
    database: Database, criteria: MessageCriteria, position: Position | None
) -> AsyncGenerator[tuple[str, int], None]:
    """The conversations to search from a position on, and the seq below which to start."""
    start, below = position or ("", NEWEST)
    if criteria.conversation_id is not None:
        if below > 1:
            yield criteria.conversation_id, below
        return
    async for conversation_id in _ids_from(database, criteria, start):
        if conversation_id != start:
            yield conversation_id, NEWEST
        elif below > 1:  # Otherwise there is nothing left in it.
            yield conversation_id, below


async def _ids_from(
    database: Database, criteria: MessageCriteria, start: str
) -> AsyncGenerator[str, None]:
    """The ids of conversations that may have matches, ascending from one on."""
    if criteria.user_id is not None:
        # Covered by an index, which has one step for each conversation.
        written = {"senderId": criteria.user_id, "conversationId": {"$gte": start}}
        for conversation_id in await database.read(
            lambda: database.messages.distinct("conversationId", written)
        ):
            yield conversation_id
        return
    active = {} if criteria.since is None else {"activityAt": {"$gte": criteria.since}}
    chosen: dict[str, Any] = {"_id": {"$gte": start}}
    while True:
        rows = database.counters.find({**chosen, **active}, {"_id": 1}).sort("_id", 1)
        ids = await database.read(partial(rows.limit(IDS_AT_A_TIME).to_list, None))
        for conversation_id in ids:
            yield conversation_id["_id"]
        if len(ids) < IDS_AT_A_TIME:
            return
        chosen = {"_id": {"$gt": ids[-1]["_id"]}}
