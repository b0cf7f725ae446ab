"""Messages: finding and paging. Writing them is the sequencer's."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, cast

from chat_aio.store.database import Database
from chat_aio.store.documents import MessageDocument


def new_message(
    message_id: str,
    conversation_id: str,
    sender_id: str,
    body: str,
    *,
    at: datetime,
    role: Literal["user", "assistant", "system"] = "user",
    metadata: dict[str, Any] | None = None,
) -> MessageDocument:
    """A message of the main list, but for the `seq` and the time that the sequencer gives it."""
    return {
        "_id": message_id,
        "conversationId": conversation_id,
        "seq": 0,
        "senderId": sender_id,
        "body": body,
        "role": role,
        "createdAt": at,
        "editedAt": None,
        "deletedAt": None,
        "replyToMessageId": None,
        "threadRootMessageId": None,
        "timelines": [conversation_id],
        "thread": None,
        "reactions": [],
        "mentions": [],
        "forwardedFrom": None,
        "metadata": metadata or {},
    }


async def find(database: Database, message_id: str) -> MessageDocument | None:
    with database.reading():
        found = await database.messages.find_one({"_id": message_id})
    return cast(MessageDocument | None, found)


async def find_many(database: Database, ids: Sequence[str]) -> list[MessageDocument]:
    """The messages among `ids` that a majority has."""
    with database.reading():
        found = await database.messages.find({"_id": {"$in": list(ids)}}).to_list(None)
    return cast(list[MessageDocument], found)


Key = tuple[str, str, str]
"""What an idempotency key is unique by: conversation, sender, key."""


def with_key(key: Key) -> dict[str, object]:
    """The query for the message with an idempotency key; without the type MongoDB would not use
    the partial index, and would scan the conversation."""
    conversation_id, sender_id, name = key
    return {
        "conversationId": conversation_id,
        "senderId": sender_id,
        "clientMessageId": {"$eq": name, "$type": "string"},
    }


async def find_repeated(database: Database, key: Key) -> MessageDocument | None:
    """The message that this idempotency key was used for, None if it is new."""
    with database.reading():
        found = await database.messages.find_one(with_key(key))
    return cast(MessageDocument | None, found)


async def list_newest(
    database: Database, timeline: str, *, before: int | None, limit: int
) -> list[MessageDocument]:
    """Messages of a main list or thread, by descending seq, from below `before`."""
    chosen: dict[str, object] = {"timelines": timeline}
    if before is not None:
        chosen["seq"] = {"$lt": before}
    with database.reading():
        found = await database.messages.find(chosen).sort("seq", -1).limit(limit).to_list(None)
    return cast(list[MessageDocument], found)


async def list_after(
    database: Database, conversation_id: str, *, after: int, limit: int
) -> list[MessageDocument]:
    """All messages of a conversation, thread replies included, by ascending seq."""
    with database.reading():
        found = (
            await database.messages.find({"conversationId": conversation_id, "seq": {"$gt": after}})
            .sort("seq", 1)
            .limit(limit)
            .to_list(None)
        )
    return cast(list[MessageDocument], found)
