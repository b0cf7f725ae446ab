"""What moving conversations reads and writes. An imported conversation is written from its end: the
messages first, then the conversation and its head in one transaction. So nobody sees half of it."""

import time
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from pymongo.errors import BulkWriteError, DuplicateKeyError

from chat_aio.store.blocks import block_id
from chat_aio.store.calls import maybe_await
from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument, CounterDocument, MessageDocument
from chat_aio.store.maintenance.snapshot import SNAPSHOT_SECONDS
from chat_aio.store.shapes import one_readable
from chat_aio.store.transactions import Session, transact

PAGE = 500
SECONDS = 60.0
THREAD_SECONDS = 600.0

NOT_COMPARED = ("importedAt", "thread")
"""The fields of an imported message that its lines do not say: when, and what follows from its
replies."""

_DUPLICATE = 11_000


async def find_with_head(
    database: Database, conversation_id: str
) -> tuple[ConversationDocument, CounterDocument] | None:
    """A conversation and its head as one transaction sees them; None if one is not there, or is
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
    """The messages with a seq in (after, upto], by seq, a bounded number at a time, each as it is
    when it is read."""
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
    """The conversations that are there, each with the digest of its import, None without one."""
    rows = database.conversations.find({"_id": {"$in": [*conversation_ids]}}, {"importDigest": 1})
    found = await database.read(partial(rows.to_list, None), seconds=SECONDS)
    return {each["_id"]: each.get("importDigest") for each in found}


async def insert(database: Database, messages: Sequence[MessageDocument]) -> MessageDocument | None:
    """Insert messages of one conversation. Returns the first that cannot stand, because another
    message has its id, its seq or its idempotency key; what an earlier run has written stays."""

    async def write() -> list[int]:
        try:
            await maybe_await(database.messages.insert_many(list(messages), ordered=False))
        except BulkWriteError as error:
            failed = (error.details or {}).get("writeErrors", [])
            if any(each["code"] != _DUPLICATE for each in failed) or not failed:
                raise
            return [each["index"] for each in failed]
        return []

    taken = [messages[each] for each in await database.write(write)]
    ids = [each["_id"] for each in taken]
    rows = database.messages.find({"_id": {"$in": ids}})
    found = await database.read(partial(rows.to_list, None), seconds=SECONDS) if ids else []
    stored = {each["_id"]: _compared(each) for each in found}
    return next((each for each in taken if stored.get(each["_id"]) != _compared(each)), None)


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


async def create(
    database: Database, conversation: ConversationDocument, head: CounterDocument
) -> bool:
    """Write a conversation and its head, as the last step. Returns False, and writes nothing, if
    one is there already, or if there are other messages than the head has counted."""

    async def body(session: Session) -> bool:
        # A block before the conversation has left a stub of the head; its epoch goes on.
        made = await database.counters.find_one_and_update(
            {"_id": head["_id"], "seq": {"$exists": False}},
            {
                "$inc": {"epoch": 1},
                "$set": {name: each for name, each in head.items() if name not in ("_id", "epoch")},
            },
            upsert=True,
            return_document=True,
            session=session,
        )
        fields: dict[str, Any] = {"epoch": made["epoch"]}
        if conversation["type"] == "direct":
            blocked_by = await _blockers(database, conversation, session)
            fields |= {"blockedBy": blocked_by} if blocked_by else {}
        here = {"conversationId": head["_id"]}
        there = await database.messages.count_documents(here, session=session)
        if there != head["seq"] - head["floorSeq"]:
            raise _OtherMessages
        await database.conversations.insert_one({**conversation, **fields}, session=session)
        return True

    try:
        return await transact(database, body, deadline=time.monotonic() + SNAPSHOT_SECONDS)
    except (DuplicateKeyError, _OtherMessages):
        return False


class _OtherMessages(Exception):
    """There are messages that the head has not counted."""


async def _blockers(
    database: Database, conversation: ConversationDocument, session: Session
) -> list[str]:
    """Those of the two users who have blocked the other one."""
    one, other = (each["userId"] for each in conversation["participants"])
    pairs = [block_id(one, other), block_id(other, one)]
    rows = database.blocks.find({"_id": {"$in": pairs}}, {"_id": 1}, session=session)
    return [each["_id"]["blockerUserId"] for each in await rows.to_list(None)]
