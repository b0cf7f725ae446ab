"""The queries of replays from storage: writes since a moment in some conversations."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument, CounterDocument, MessageDocument
from chat_aio.store.drivers import maybe_await
from chat_aio.store.sent_counts import WITHOUT_COUNTS
from chat_aio.store.shapes import readable

FIRST_LOOK = 32
BATCH = 256
UNTOLD = ("terms", "search", "requestHash")


class TooMuch(Exception):
    """There are more results than the bounds allow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The limits of a read: messages per conversation, messages in all, bytes of BSON."""

    per_conversation: int
    most: int
    most_bytes: int


async def times_of(
    database: Database, names: Collection[tuple[str, int]]
) -> dict[tuple[str, int], datetime]:
    """The creation times of messages, by (conversation, seq); removed messages are left out."""
    chosen = [{"conversationId": name, "seq": seq} for name, seq in names]
    shown = {"conversationId": 1, "seq": 1, "createdAt": 1}
    found = await database.read(
        lambda: database.messages.find({"$or": chosen}, shown).to_list(None)
    )
    return {
        (message["conversationId"], message["seq"]): message["createdAt"]
        for message in found
        if isinstance(message.get("createdAt"), datetime)
    }


async def heads_of(
    database: Database, ids: Iterable[str], *, since: datetime | None = None
) -> dict[str, CounterDocument]:
    """The heads of the conversations with messages at all, or with messages sent since then."""
    chosen: dict[str, Any] = {"_id": {"$in": list(ids)}, "seq": {"$gt": 0}}
    if since is not None:
        chosen["activityAt"] = {"$gte": since}
    found = await database.read(
        lambda: database.counters.find(chosen, WITHOUT_COUNTS).to_list(None)
    )
    return {counter["_id"]: counter for counter in readable("counters", found)}


async def list_created(
    database: Database, ids: Iterable[str], *, since: datetime, bounds: Bounds
) -> list[MessageDocument]:
    """The newest messages of each conversation, created since then. Raises TooMuch."""
    # `createdAt` never falls along `seq`, so if the oldest of the 32 newest is too old, there are
    # no others. Only conversations in which all 32 are new enough are read further.
    found = await _newest(database, ids, since=since, depth=FIRST_LOOK, bounds=bounds)
    counted = Counter(message["conversationId"] for message in found)
    deep = [conversation_id for conversation_id, count in counted.items() if count == FIRST_LOOK]
    if not deep:
        return found
    more = await _newest(database, deep, since=since, depth=bounds.per_conversation, bounds=bounds)
    return [*(message for message in found if message["conversationId"] not in deep), *more]


async def list_changed(
    database: Database, ids: Iterable[str], *, since: datetime, bounds: Bounds
) -> list[MessageDocument]:
    """The messages edited or deleted since then, of any age. Raises TooMuch."""
    # With `$type`, as in the filter of the partial index: MongoDB would not use it otherwise.
    changed = {"$gte": since, "$type": "date"}
    stages = [{"$match": {"conversationId": {"$in": list(ids)}, "changedAt": changed}}]
    return await _bounded(database, database.messages, stages, bounds)


async def spoken_since(database: Database, since: datetime, *, most: int) -> frozenset[str]:
    """The ids of all conversations in which messages were sent, edited or deleted since then; if
    there are more than `most`, any `most` of them.

    No index has the times of all conversations: the first query reads all heads, the second one all
    entries of the index of changes.
    """
    sent = {"activityAt": {"$gte": since}, "seq": {"$gt": 0}}
    changed = {"changedAt": {"$gte": since, "$type": "date"}}
    stages = [
        {"$match": changed},
        {"$group": {"_id": "$conversationId"}},
        {"$limit": most},
    ]

    async def gather() -> list[Any]:
        heads = await database.counters.find(sent, {"_id": 1}).limit(most).to_list(None)
        hint = "conversation_changed"
        cursor = await maybe_await(database.messages.aggregate(stages, hint=hint))
        return [*heads, *await cursor.to_list(None)]

    found = await database.read(gather)
    return frozenset(message["_id"] for message in found if isinstance(message["_id"], str))


async def members_of(database: Database, ids: Iterable[str]) -> list[ConversationDocument]:
    """These conversations with only their participants' ids, the times when they joined, and the
    seqs up to which messages are hidden from them."""
    fields = ("userId", "joinedAt", "hiddenUpToSeq")
    shown = {f"participants.{field}": 1 for field in fields}
    found = await database.read(
        lambda: database.conversations.find({"_id": {"$in": list(ids)}}, shown).to_list(None)
    )
    return cast(list[ConversationDocument], found)


async def _newest(
    database: Database, ids: Iterable[str], *, since: datetime, depth: int, bounds: Bounds
) -> list[MessageDocument]:
    # A lookup per conversation, because each conversation has its own limit. The limit is before
    # the match, which no index serves, so that a conversation's older messages are not read.
    newest = {
        "from": database.messages.name,
        "localField": "_id",
        "foreignField": "conversationId",
        "pipeline": [
            {"$sort": {"seq": -1}},
            {"$limit": depth},
            {"$match": {"createdAt": {"$gte": since}}},
        ],
        "as": "message",
    }
    stages: list[dict[str, Any]] = [
        {"$match": {"_id": {"$in": list(ids)}}},
        {"$project": {"_id": 1}},
        {"$lookup": newest},
        {"$unwind": "$message"},
        {"$replaceRoot": {"newRoot": "$message"}},
    ]
    return await _bounded(database, database.counters, stages, bounds)


async def _bounded(
    database: Database, collection: Any, stages: list[dict[str, Any]], bounds: Bounds
) -> list[MessageDocument]:
    """Run an aggregation; raises TooMuch if it finds more than the bounds allow."""
    shown: list[dict[str, Any]] = [
        # `+ 1`: one more than allowed shows that there are too many.
        {"$limit": bounds.most + 1},
        {"$unset": list(UNTOLD)},
        # Measured by the server: here each document would have to be encoded again.
        {"$set": {"size": {"$bsonSize": "$$ROOT"}}},
    ]

    async def gather() -> list[Any]:
        found: list[Any] = []
        left = bounds.most_bytes
        cursor = await maybe_await(collection.aggregate([*stages, *shown]))
        while batch := await cursor.to_list(BATCH):
            found += batch
            left -= sum(query.pop("size") for query in batch)
            if len(found) > bounds.most or left < 0:
                await maybe_await(cursor.close())
                raise TooMuch
        return found

    return readable("messages", cast(list[MessageDocument], await database.read(gather)))
