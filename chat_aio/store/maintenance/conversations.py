"""The reads and writes of moving conversations. An imported conversation is written from its end:
the messages first, then the conversation and its head in one transaction. So nobody sees half of
it."""

import time
from collections.abc import AsyncIterator, Sequence
from functools import partial
from itertools import permutations
from typing import Any

from pymongo import UpdateOne
from pymongo.errors import BulkWriteError

from chat_aio.store.blocks import block_id, pair_of
from chat_aio.store.database import Database
from chat_aio.store.deleted_conversations import IdDeleted, require_unused
from chat_aio.store.documents import ConversationDocument, CounterDocument, MessageDocument
from chat_aio.store.drivers import maybe_await
from chat_aio.store.maintenance.snapshot import SNAPSHOT_SECONDS
from chat_aio.store.messages import NUMBER_INDEX
from chat_aio.store.shapes import one_readable
from chat_aio.store.transactions import Session, transact

PAGE = 500
SECONDS = 60.0
THREAD_SECONDS = 600.0

NOT_COMPARED = ("importedAt", "thread")
"""The fields of an imported message that its line does not have: the time of the import, and data
that follows from its replies."""

_DUPLICATE = 11_000


async def find_with_head(
    database: Database, conversation_id: str
) -> tuple[ConversationDocument, CounterDocument] | None:
    """A conversation and its head as one transaction sees them; None if one is missing or
    malformed."""

    async def body(session: Session) -> tuple[Any, Any]:
        here = {"_id": conversation_id}
        head = await database.counters.find_one(here, session=session)
        return await database.conversations.find_one(here, session=session), head

    conversation, head = await transact(database, body)
    full = head if head and "seq" in head else None
    conversation, full = one_readable("conversations", conversation), one_readable("counters", full)
    return (conversation, full) if conversation and full else None


async def pages_of_messages(
    database: Database, conversation_id: str, *, after: int, upto: int
) -> AsyncIterator[list[MessageDocument]]:
    """The messages with a seq in (after, upto], by seq, a bounded number at a time, as they are
    when they are read."""
    while after < upto:
        span = {"$gt": after, "$lte": upto}
        rows = database.messages.find(
            {"conversationId": conversation_id, "seq": span}, {"terms": 0, "search": 0}
        )
        page = partial(rows.sort("seq", 1).limit(PAGE).to_list, None)
        found = await database.read(page, seconds=SECONDS)
        if not found:
            return
        yield found
        after = found[-1]["seq"]


async def find_digests(
    database: Database, conversation_ids: Sequence[str]
) -> dict[str, str | None]:
    """The existing conversations, with the digests of their imports, None without one."""
    rows = database.conversations.find({"_id": {"$in": [*conversation_ids]}}, {"importDigest": 1})
    found = await database.read(partial(rows.to_list, None), seconds=SECONDS)
    return {row["_id"]: row.get("importDigest") for row in found}


async def insert(database: Database, messages: Sequence[MessageDocument]) -> MessageDocument | None:
    """Insert messages. Returns the first one that cannot be stored, because another message has its
    id, its seq or its idempotency key; messages written by an earlier run are kept."""

    async def write() -> list[int]:
        try:
            # Unordered: messages of an earlier run must not keep out those after them.
            await maybe_await(database.messages.insert_many(list(messages), ordered=False))
        except BulkWriteError as error:
            failed = (error.details or {}).get("writeErrors", [])
            if any(failure["code"] != _DUPLICATE for failure in failed) or not failed:
                raise
            return [failure["index"] for failure in failed]
        return []

    taken = [messages[row] for row in await database.write(write)]
    ids = [row["_id"] for row in taken]
    rows = database.messages.find({"_id": {"$in": ids}})
    found = await database.read(partial(rows.to_list, None), seconds=SECONDS) if ids else []
    stored = {row["_id"]: _compared(row) for row in found}
    return next((row for row in taken if stored.get(row["_id"]) != _compared(row)), None)


def _compared(message: Any) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name not in NOT_COMPARED}


async def summarise_threads(database: Database, conversation_id: str) -> None:
    """Give the roots of a conversation the number of their replies, and the time of the last."""
    stages: list[dict[str, Any]] = [
        {
            "$match": {
                "conversationId": conversation_id,
                "threadRootMessageId": {"$type": "string"},
            }
        },
        {
            "$group": {
                "_id": "$threadRootMessageId",
                "count": {"$sum": 1},
                "last": {"$max": "$createdAt"},
            }
        },
        {"$project": {"thread": {"replyCount": "$count", "lastReplyAt": "$last"}}},
        {
            "$merge": {
                "into": database.messages.name,
                "on": "_id",
                "whenMatched": "merge",
                "whenNotMatched": "discard",
            }
        },
    ]
    await database.aggregate(database.messages, stages, seconds=THREAD_SECONDS, allowDiskUse=True)


async def find_holders(database: Database, keys: Sequence[str]) -> dict[str | None, str]:
    """The ids of the groups that have these keys of the host, by key."""
    chosen = {"key": {"$in": list(keys), "$type": "string"}}
    rows = await database.read(
        lambda: database.conversations.find(chosen, {"key": 1}).to_list(None), seconds=SECONDS
    )
    return {row["key"]: row["_id"] for row in rows}


async def create(
    database: Database, made: Sequence[tuple[ConversationDocument, CounterDocument]]
) -> bool:
    """Write conversations and their heads in one transaction, as the last step. Returns False, and
    writes nothing, if one exists already, was deleted, or has other messages than its head has
    counted."""
    ids = [head["_id"] for _, head in made]

    async def body(session: Session) -> bool:
        updates: list[UpdateOne] = []
        for _, head in made:
            fields = {name: value for name, value in head.items() if name not in ("_id", "epoch")}
            # A block before the conversation has left a stub, whose epoch is kept; a full head does
            # not match, and the upsert is a duplicate key.
            without = {"_id": head["_id"], "seq": {"$exists": False}}
            update = {"$inc": {"epoch": 1}, "$set": fields}
            updates.append(UpdateOne(without, update, upsert=True))
        # The heads first, as in every transaction: they are the locks.
        await database.counters.bulk_write(updates, session=session)
        await require_unused(database, ids, session)
        rows = database.counters.find({"_id": {"$in": ids}}, {"epoch": 1}, session=session)
        epochs = {row["_id"]: row["epoch"] for row in await rows.to_list(None)}
        # Counted here, in the transaction: another import may have left messages of its own
        # (decision 0062).
        stages = [
            {"$match": {"conversationId": {"$in": ids}}},
            {"$group": {"_id": "$conversationId", "count": {"$sum": 1}}},
        ]
        counting = database.messages.aggregate(stages, session=session, hint=NUMBER_INDEX)
        counted = await (await maybe_await(counting)).to_list(None)
        counts = {row["_id"]: row["count"] for row in counted}
        if any(counts.get(head["_id"], 0) != head["seq"] - head["floorSeq"] for _, head in made):
            raise _OtherMessages
        conversations = [conversation for conversation, _ in made]
        blocked = await _list_blocked(database, conversations, session)
        documents = [
            {
                **conversation,
                "epoch": epochs[conversation["_id"]],
                **blocked.get(conversation["_id"], {}),
            }
            for conversation in conversations
        ]
        await database.conversations.insert_many(documents, session=session)
        return True

    try:
        return await transact(database, body, deadline=time.monotonic() + SNAPSHOT_SECONDS)
    except (_OtherMessages, IdDeleted):
        return False
    except BulkWriteError as error:
        codes = {
            write_error["code"] for write_error in (error.details or {}).get("writeErrors", ())
        }
        if codes != {_DUPLICATE}:
            raise
        return False


class _OtherMessages(Exception):
    """There are messages that a head has not counted."""


async def _list_blocked(
    database: Database, conversations: Sequence[ConversationDocument], session: Session
) -> dict[str, dict[str, list[str]]]:
    """The field `blockedBy` of the direct conversations in which a user has blocked the other."""
    pairs = {
        conversation["_id"]: [
            *permutations([user["userId"] for user in conversation["participants"]], 2)
        ]
        for conversation in conversations
        if conversation["type"] == "direct"
    }
    ids = [block_id(*row) for both in pairs.values() for row in both]
    rows = database.blocks.find({"_id": {"$in": ids}}, {"_id": 1}, session=session)
    found = {pair_of(row["_id"]) for row in (await rows.to_list(None) if ids else ())}
    blockers = {
        name: [one for one, other in both if (one, other) in found] for name, both in pairs.items()
    }
    return {name: {"blockedBy": blocked} for name, blocked in blockers.items() if blocked}
