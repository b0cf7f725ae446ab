"""Finds messages conversation by conversation, each from its newest message down, along the indexes
that the chat has. It stops where older messages can no longer be wanted."""

import heapq
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, cast

from chat_aio.schema.normal_text import is_run
from chat_aio.store.database import Database
from chat_aio.store.documents import CounterDocument, MessageDocument
from chat_aio.store.maintenance import retention
from chat_aio.store.messages import READ
from chat_aio.store.sent_counts import WITHOUT_COUNTS
from chat_aio.store.tokenizer import terms_of

MESSAGES_AT_A_TIME = 500
HEADS_AT_A_TIME = 10_000
SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which messages are wanted; `terms` are in normal form, and a message must have them all."""

    user_id: str | None = None
    conversation_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    terms: tuple[str, ...] = ()

    def is_met_by(self, message: MessageDocument) -> bool:
        """Whether a message matches, as in a search: whole words, and runs as parts of runs."""
        if not self.terms:
            return True
        have = terms_of(message["body"])
        return all(
            any(term in each for each in have) if is_run(term) else term in have
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
    active = [each for each in heads if since is None or each["activityAt"] >= since]
    return sorted(active, key=lambda each: each["activityAt"], reverse=True)


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
    """The messages of a conversation around one of them, with thread replies, in their order."""
    found = [message]
    for sides, order, most in (("$lt", -1, before), ("$gt", 1, after)):
        if most:
            chosen = {"conversationId": message["conversationId"], "seq": {sides: message["seq"]}}
            rows = database.messages.find(chosen, READ).sort("seq", order).limit(most)
            found += await database.read(partial(rows.to_list, None), seconds=SECONDS)
    return sorted(found, key=lambda each: each["seq"])


async def list_newest(
    database: Database,
    wanted: Wanted,
    heads: Sequence[CounterDocument],
    advance: Callable[[int], object],
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
    advance: Callable[[int], object],
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
                for message in page:
                    newest.add(message)
                if newest.is_behind(page[-1]["createdAt"]):
                    break
    advance(left)


async def walk(
    database: Database,
    wanted: Wanted,
    head: CounterDocument,
    advance: Callable[[int], object],
) -> AsyncGenerator[list[MessageDocument], None]:
    """The wanted messages of a conversation in pages, from its newest down; times never rise on the
    way (docs/data-model.md, counters)."""
    below = head["seq"] + 1
    while below > 1:
        page = await _page(database, wanted, head["_id"], below)
        recent = [
            each for each in page if wanted.since is None or each["createdAt"] >= wanted.since
        ]
        is_last = len(page) < MESSAGES_AT_A_TIME or len(recent) < len(page)
        down_to = 1 if is_last else page[-1]["seq"]
        advance(below - down_to)
        below = down_to
        if met := [each for each in recent if wanted.is_met_by(each)]:
            yield met


async def _page(
    database: Database, wanted: Wanted, conversation_id: str, below: int
) -> list[MessageDocument]:
    chosen: dict[str, Any] = {"conversationId": conversation_id, "seq": {"$lt": below}}
    if wanted.user_id is not None:
        chosen["senderId"] = wanted.user_id
    if wanted.until is not None:
        chosen["createdAt"] = {"$lte": wanted.until}
    rows = database.messages.find(chosen, READ).sort("seq", -1).limit(MESSAGES_AT_A_TIME)
    found = await database.read(lambda: rows.to_list(None), seconds=SECONDS)
    return cast(list[MessageDocument], found)
