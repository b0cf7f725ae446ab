"""A user's unread messages over all their conversations, for one number (decision 0085).

MongoDB selects the conversations with messages behind the read state, so that the cost for the
process grows with the unread ones, not with all conversations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from chat_aio.store import mutes
from chat_aio.store.database import Database
from chat_aio.store.documents import (
    ConversationDocument,
    CounterDocument,
    ViewDocument,
)
from chat_aio.store.pipelines import IS_TEXT
from chat_aio.store.sent_counts import place_of
from chat_aio.store.shapes import readable
from chat_aio.store.unread import Unread, find_unread

MENTIONS_INDEX = "mentioned_conversation_seq"
"""Named as a hint: the other index of mentions has them by time."""

MOST_MENTIONS = 1_000
BRANCHES_AT_ONCE = 500
"""The number of conversations whose mentions one query counts."""


class _Reader(TypedDict):
    userId: str
    lastReadSeq: int
    unreadFrom: NotRequired[int]
    hiddenUpToSeq: NotRequired[int]
    sentUpToSeq: NotRequired[int]
    sentCount: NotRequired[int]
    view: NotRequired[ViewDocument]


class _Head(TypedDict):
    _id: str
    seq: int
    epoch: int
    floorSeq: int
    counted: NotRequired[int]
    sent: NotRequired[dict[str, int]]


class _Row(TypedDict):
    """The parts of a conversation and its head that one participant's unread count depends on."""

    _id: str
    epoch: int
    participants: list[_Reader]
    head: _Head


@dataclass(slots=True)
class Counted:
    """The unread messages of a user in a conversation, and those that mention them, up to its
    message `seq`. One that `is_left_out` of the total is archived, or hidden."""

    seq: int
    messages: int
    mentions: int
    is_muted: bool
    is_left_out: bool


async def count(
    database: Database, user_id: str, ids: Sequence[str] | None = None
) -> dict[str, Counted]:
    """The unread messages of a user in all their conversations that have any; with `ids` in these
    conversations, also where there are none."""
    rows = await database.aggregate(database.conversations, _stages(database, user_id, ids))
    sound = readable("conversations", cast(list[_Row], rows), shape=_Row)
    heads = {row["_id"]: cast(CounterDocument, row["head"]) for row in sound}
    unread = await find_unread(
        database, user_id, cast(Sequence[ConversationDocument], sound), heads
    )
    counted = {name: found for name, found in unread.items() if found.count or ids is not None}
    mentions = await _count_mentions(database, user_id, counted)
    muted = await mutes.muted_among(database, [(user_id, name) for name in counted])
    views = {name: found.view for name, found in counted.items()}
    return {
        name: Counted(
            seq=found.head["seq"],
            messages=found.count,
            mentions=mentions.get(name, 0),
            is_muted=(user_id, name) in muted,
            is_left_out=views[name].archived or views[name].hidden,
        )
        for name, found in counted.items()
    }


async def _count_mentions(
    database: Database, user_id: str, unread: Mapping[str, Unread]
) -> dict[str, int]:
    """How many unread messages mention the user, by conversation, up to MOST_MENTIONS in all."""
    branches = [
        {"mentions.userId": user_id, "conversationId": name, "seq": {"$gt": counted.start}}
        for name, counted in unread.items()
        if counted.count
    ]
    found: dict[str, int] = {}
    for start in range(0, len(branches), BRANCHES_AT_ONCE):
        left = MOST_MENTIONS - sum(found.values())
        if not left:
            break
        stages: list[Mapping[str, Any]] = [
            {"$match": {"$or": branches[start : start + BRANCHES_AT_ONCE]}},
            {"$match": {"senderId": {"$ne": user_id}, "deletedAt": None}},
            {"$limit": left},
            {"$group": {"_id": "$conversationId", "count": {"$sum": 1}}},
        ]
        rows = await database.aggregate(database.messages, stages, hint=MENTIONS_INDEX)
        found |= {row["_id"]: row["count"] for row in rows}
    return found


def _stages(database: Database, user_id: str, ids: Sequence[str] | None) -> list[Mapping[str, Any]]:
    # `$filter` fails for another program's row that has no array.
    chosen: dict[str, Any] = {
        "participants.userId": user_id,
        "participants": {"$type": "array"},
    }
    if ids is not None:
        chosen["_id"] = {"$in": list(ids)}
    # `$literal`: an id that starts with `$` would be read as the name of a field.
    mine = {"$eq": ["$$this.userId", {"$literal": user_id}]}
    shown = [
        *(f"participants.{field}" for field in _Reader.__annotations__),
        *(f"head.{field}" for field in _Head.__annotations__ if field != "sent"),
        f"head.{place_of(user_id)}",
    ]
    return [
        {"$match": chosen},
        IS_TEXT,
        {
            "$project": {
                "epoch": 1,
                "participants": {"$filter": {"input": "$participants", "cond": mine}},
            }
        },
        {
            "$lookup": {
                "from": database.counters.name,
                "localField": "_id",
                "foreignField": "_id",
                "as": "head",
            }
        },
        {"$set": {"head": {"$first": "$head"}}},
        *([] if ids is not None else [{"$match": {"$expr": _MAY_HAVE_UNREAD}}]),
        {"$project": dict.fromkeys(("epoch", *shown), 1)},
    ]


_MAY_HAVE_UNREAD = {
    "$or": [
        {
            "$gt": [
                "$head.seq",
                {
                    "$max": [
                        {"$first": "$participants.lastReadSeq"},
                        {"$first": "$participants.hiddenUpToSeq"},
                        "$head.floorSeq",
                    ]
                },
            ]
        },
        {"$gt": [{"$size": "$participants.unreadFrom"}, 0]},
    ]
}
"""Only compares: values of other types, of another program, must not fail the whole count."""
