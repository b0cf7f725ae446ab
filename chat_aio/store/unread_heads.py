"""What is at the head of conversations for one of their readers: the newest message, the first
unread one, and the unread ones that mention the reader."""

from collections.abc import Mapping, Sequence
from typing import Any

from chat_aio.store import shapes
from chat_aio.store.database import Database
from chat_aio.store.thread_states import IS_TEXT
from chat_aio.store.unread import Unread

MENTIONS_INDEX = "mentioned_conversation_seq"
"""Named as a hint: for `$or` MongoDB would choose an index with the messages of others, too."""


async def newest_ids(database: Database, conversation_ids: Sequence[str]) -> dict[str, str]:
    """The id of the newest message in the main list of each conversation, where there is one."""
    newest = [
        {"$match": {"seq": {"$type": shapes.WHOLE}}},
        {"$sort": {"seq": -1}},
        {"$limit": 1},
        {"$project": {"_id": 1}},
    ]
    found = await database.aggregate(
        database.counters,
        [
            {"$match": {"_id": {"$in": list(conversation_ids)}}},
            {"$project": {"_id": 1}},
            {
                "$lookup": {
                    "from": database.messages.name,
                    "localField": "_id",
                    "foreignField": "timelines",
                    "pipeline": newest,
                    "as": "newest",
                }
            },
        ],
    )
    return {each["_id"]: each["newest"][0]["_id"] for each in found if each["newest"]}


async def first_unread(
    database: Database, user_id: str, unread: Mapping[str, Unread]
) -> dict[str, int]:
    """The seq of the first unread message of each conversation that has one."""
    # Numbers have no gaps: where no own message follows `start`, the next one is somebody else's.
    found = {name: each.start + 1 for name, each in unread.items() if each.count and not each.own}
    mixed = [
        _first(user_id, name, each) for name, each in unread.items() if each.count and each.own
    ]
    if not mixed:
        return found
    name = database.messages.name
    joined = [{"$unionWith": {"coll": name, "pipeline": each}} for each in mixed[1:]]
    rows = await database.aggregate(database.messages, [*mixed[0], *joined])
    return found | {each["conversationId"]: each["seq"] for each in rows}


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
    """How many unread messages mention the user, of each conversation that has one."""
    branches = [
        {"conversationId": name, "seq": {"$gt": each.start}}
        for name, each in unread.items()
        if each.count
    ]
    if not branches:
        return {}
    theirs = {"senderId": {"$ne": user_id}, "deletedAt": None, "$or": branches}
    rows = await database.aggregate(
        database.messages,
        [
            {"$match": {"mentions.userId": user_id, **theirs}},
            {"$group": {"_id": "$conversationId", "count": {"$sum": 1}}},
            IS_TEXT,
        ],
        hint=MENTIONS_INDEX,
    )
    return {each["_id"]: each["count"] for each in rows}
