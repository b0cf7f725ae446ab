"""What is at the head of conversations for one of their readers: the newest message, the first
unread one, and the unread ones that mention the reader."""

from collections.abc import Mapping, Sequence
from typing import Any

from chat_aio.store import shapes
from chat_aio.store.database import Database
from chat_aio.store.pipelines import union
from chat_aio.store.unread import Unread

MOST_COUNTED = 100
"""Unread mentions of a conversation are counted up to this number."""


async def newest_ids(database: Database, conversation_ids: Sequence[str]) -> dict[str, str]:
    """The id of the newest message in the main list of each conversation, where there is one."""
    if not conversation_ids:
        return {}
    pipelines = [_newest(conversation_id) for conversation_id in conversation_ids]
    rows = await database.aggregate(database.messages, union(database.messages, pipelines))
    return {row["in"]: row["_id"] for row in rows}


def _newest(conversation_id: str) -> list[dict[str, Any]]:
    return [
        {"$match": {"timelines": conversation_id, "seq": {"$type": shapes.WHOLE}}},
        {"$sort": {"seq": -1}},
        {"$limit": 1},
        {"$project": {"in": {"$literal": conversation_id}}},
    ]


async def first_unread(
    database: Database, user_id: str, unread: Mapping[str, Unread]
) -> dict[str, int]:
    """The seq of the first unread message of each conversation that has one."""
    # Numbers have no gaps: where no own message follows `start`, the next one is somebody else's.
    found = {
        name: count.start + 1 for name, count in unread.items() if count.count and not count.own
    }
    mixed = [
        _first(user_id, name, count) for name, count in unread.items() if count.count and count.own
    ]
    if not mixed:
        return found
    rows = await database.aggregate(database.messages, union(database.messages, mixed))
    return found | {row["conversationId"]: row["seq"] for row in rows}


def _first(user_id: str, conversation_id: str, unread: Unread) -> list[dict[str, Any]]:
    behind = {"$gt": unread.start, "$type": shapes.WHOLE}
    return [
        {
            "$match": {
                "conversationId": conversation_id,
                "seq": behind,
                "senderId": {"$ne": user_id},
            }
        },
        {"$sort": {"seq": 1}},
        {"$limit": 1},
        {"$project": {"_id": 0, "conversationId": {"$literal": conversation_id}, "seq": 1}},
    ]


async def count_mentions(
    database: Database, user_id: str, unread: Mapping[str, Unread]
) -> dict[str, int]:
    """How many unread messages mention the user, up to 100 in each conversation that has one."""
    pipelines = [_mentions(user_id, name, count) for name, count in unread.items() if count.count]
    if not pipelines:
        return {}
    rows = await database.aggregate(database.messages, union(database.messages, pipelines))
    return {row["conversationId"]: row["count"] for row in rows}


def _mentions(user_id: str, conversation_id: str, unread: Unread) -> list[dict[str, Any]]:
    return [
        {
            "$match": {
                "mentions.userId": user_id,
                "conversationId": conversation_id,
                "seq": {"$gt": unread.start},
                "senderId": {"$ne": user_id},
                "deletedAt": None,
            }
        },
        {"$limit": MOST_COUNTED},
        {"$count": "count"},
        {"$set": {"conversationId": {"$literal": conversation_id}}},
    ]
