"""Finds messages conversation by conversation, each from its newest message down, along the indexes
that the chat has. It stops where older messages can no longer be wanted.

`scan` does it in portions, each behind the position where the one before has ended.
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
from chat_aio.store.tokenizer import terms_of
from chat_aio.store.turns import ROWS_AT_ONCE

MESSAGES_AT_A_TIME = 500
HEADS_AT_A_TIME = 10_000
SECONDS = 60.0
TOKENISED_AT_A_TIME = 100
IDS_AT_A_TIME = 1_000
_TIMES = {"seq": 1, "createdAt": 1}
NEWEST = 2**53 - 1
"""Above every seq."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which messages are wanted; `terms` are in normal form, and a message must have them all."""

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
        """Whether messages of this time, and older ones, can no longer be wanted."""
        return len(self._kept) >= self._most and at < self._kept[0][0]

    def messages(self) -> list[MessageDocument]:
        return [message for _, _, message in sorted(self._kept, key=lambda e: e[:2], reverse=True)]


async def list_heads(database: Database, wanted: Wanted) -> list[CounterDocument]:
    """The heads of the conversations to look into, the most recently active first. Raises
    ConversationNotFound."""
    if wanted.conversation_id is None and wanted.user_id is not None:
        heads = await _heads_of_sender(database, wanted.user_id)
    else:
        heads = await retention.list_heads(database, conversation_id=wanted.conversation_id)
    since = wanted.since
    active = [head for head in heads if since is None or head["activityAt"] >= since]
    return sorted(active, key=lambda head: head["activityAt"], reverse=True)


async def _heads_of_sender(database: Database, user_id: str) -> list[CounterDocument]:
    """The heads of conversations in which a user has written, also of those that they have left."""
    heads: list[CounterDocument] = []
    ids = await database.read(
        lambda: database.messages.distinct("conversationId", {"senderId": user_id}), seconds=SECONDS
    )
    # In portions, because MongoDB limits the size of a query.
    for start in range(0, len(ids), HEADS_AT_A_TIME):
        some = {"_id": {"$in": ids[start : start + HEADS_AT_A_TIME]}}
        rows = database.counters.find(some, WITHOUT_COUNTS)
        heads += await database.read(partial(rows.to_list, None), seconds=SECONDS)
    return heads


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
    wanted: Wanted,
    heads: Sequence[CounterDocument],
    advance: Advance,
    *,
    most: int,
) -> list[MessageDocument]:
    """The newest `most` of what is wanted; `advance` is called with how many seqs were passed."""
    newest = Newest(most)
    for head in heads:
        await _look_into(database, wanted, head, newest, advance)
    return newest.messages()


async def _look_into(
    database: Database,
    wanted: Wanted,
    head: CounterDocument,
    newest: Newest,
    advance: Advance,
) -> None:
    """Add what is wanted of a conversation, as long as it may be among the newest."""
    left = head["seq"]

    def passed(seqs: int) -> None:
        nonlocal left
        left -= seqs
        advance(seqs)

    if not newest.is_behind(head["activityAt"]):
        async with aclosing(walk(database, wanted, head, passed)) as pages:
            async for page in pages:
                for message in page.met:
                    newest.add(message)
                if page.met and newest.is_behind(page.met[-1]["createdAt"]):
                    break
    advance(left)


class Page(NamedTuple):
    """A step of a walk: the messages that are wanted, and below which seq it goes on."""

    met: list[MessageDocument]
    below: int


async def walk(
    database: Database,
    wanted: Wanted,
    head: CounterDocument,
    advance: Advance,
) -> AsyncGenerator[Page, None]:
    """The wanted messages of a conversation as it was when its head was read."""
    below = head["seq"] + 1
    async for page in walk_down(database, wanted, head["_id"], below):
        advance(below - page.below)
        below = page.below
        yield page


async def walk_down(
    database: Database, wanted: Wanted, conversation_id: str, below: int
) -> AsyncGenerator[Page, None]:
    """The wanted messages of a conversation below a seq in pages, newest first; times never rise on
    the way (docs/data-model.md, counters)."""
    if wanted.until is not None:
        below = await below_younger(database, conversation_id, below, wanted.until)
    while below > 1:
        rows = await _page(database, wanted, conversation_id, below)
        met, reached = await _sift(database, wanted, rows.documents)
        is_last = reached or (rows.complete and len(rows.documents) < _size(wanted))
        below = 1 if is_last else rows.documents[-1]["seq"]
        yield Page(met, below)


async def _sift(
    database: Database, wanted: Wanted, rows: Sequence[MessageDocument]
) -> tuple[list[MessageDocument], bool]:
    """The wanted ones among messages, newest first, and whether older ones are too old. In time
    slices: finding the terms of a long body takes milliseconds."""
    met: list[MessageDocument] = []
    async with database.turns.sliced() as slices:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            for message in shapes.readable("messages", rows[start : start + ROWS_AT_ONCE]):
                if wanted.since is not None and message["createdAt"] < wanted.since:
                    return met, True
                if wanted.is_met_by(message):
                    met.append(message)
            await slices.give_way()
    return met, False


def _size(wanted: Wanted) -> int:
    """How many messages are read in a step."""
    return min(MESSAGES_AT_A_TIME, TOKENISED_AT_A_TIME) if wanted.terms else MESSAGES_AT_A_TIME


async def below_younger(
    database: Database, conversation_id: str, below: int, until: datetime
) -> int:
    """A seq up to `below`, above every message of a conversation up to a moment, and not far above
    the newest of these."""
    oldest, middle = 0, below
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
    database: Database, wanted: Wanted, conversation_id: str, below: int
) -> Rows[MessageDocument]:
    chosen: dict[str, Any] = {"conversationId": conversation_id, "seq": {"$lt": below}}
    if wanted.user_id is not None:
        chosen["senderId"] = wanted.user_id
    rows = database.messages
    return await read_rows(
        database,
        rows,
        lambda: rows.find_raw_batches(chosen, READ).sort("seq", -1).limit(_size(wanted)),
        most=MOST_BYTES,
    )


class Position(NamedTuple):
    """Where a scan has ended: in this conversation, below this seq."""

    conversation_id: str
    below: int


class Found(NamedTuple):
    """What a portion of a scan has found, and where the next one begins; None at the end."""

    messages: list[MessageDocument]
    position: Position | None


async def scan(
    database: Database,
    wanted: Wanted,
    position: Position | None,
    *,
    most: int,
    deadline: float,
) -> Found:
    """Up to `most` of what is wanted, conversation by conversation in the order of their ids, each
    from its newest message down; less where the `deadline` (monotonic) is over, at least one step.
    """
    found: list[MessageDocument] = []
    async with aclosing(_conversations(database, wanted, position)) as places:
        async for conversation_id, below in places:
            pages = walk_down(database, wanted, conversation_id, below)
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
            if monotonic() >= deadline:  # Also where it had no page at all.
                return Found(found, Position(conversation_id, 1))
    return Found(found, None)


async def _conversations(
    database: Database, wanted: Wanted, position: Position | None
) -> AsyncGenerator[tuple[str, int], None]:
    """The conversations to look into from a position on, and below which seq."""
    start, below = position or ("", NEWEST)
    if wanted.conversation_id is not None:
        if below > 1:
            yield wanted.conversation_id, below
        return
    async for conversation_id in _ids_from(database, wanted, start):
        if conversation_id != start:
            yield conversation_id, NEWEST
        elif below > 1:  # Otherwise there is nothing left in it.
            yield conversation_id, below


async def _ids_from(database: Database, wanted: Wanted, start: str) -> AsyncGenerator[str, None]:
    """The ids of conversations that may have what is wanted, ascending from one on."""
    if wanted.user_id is not None:
        # Covered by an index, which has one step for each conversation.
        written = {"senderId": wanted.user_id, "conversationId": {"$gte": start}}
        for conversation_id in await database.read(
            lambda: database.messages.distinct("conversationId", written)
        ):
            yield conversation_id
        return
    active = {} if wanted.since is None else {"activityAt": {"$gte": wanted.since}}
    chosen: dict[str, Any] = {"_id": {"$gte": start}}
    while True:
        rows = database.counters.find({**chosen, **active}, {"_id": 1}).sort("_id", 1)
        ids = await database.read(partial(rows.limit(IDS_AT_A_TIME).to_list, None))
        for conversation_id in ids:
            yield conversation_id["_id"]
        if len(ids) < IDS_AT_A_TIME:
            return
        chosen = {"_id": {"$gt": ids[-1]["_id"]}}
