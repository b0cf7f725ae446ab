"""Checking what is counted once and kept: own messages, unread ones, the replies of threads."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from chat_aio.store.database import Database, maybe_await
from chat_aio.store.documents import ConversationDocument, CounterDocument
from chat_aio.store.transactions import Session
from chat_aio.store.unread import OWN_INDEX, count_unread
from tools.check_conversation import Seen
from tools.check_found import Violation, is_whole
from tools.check_participants import is_erased

SPANS_AT_A_TIME = 100


class _Within:
    """A database of which `count_unread` sees a snapshot."""

    def __init__(self, database: Database, session: Session) -> None:
        self.messages = database.messages
        self._session = session

    async def aggregate(self, rows: Any, stages: list[dict[str, Any]], **options: Any) -> Any:
        cursor = await maybe_await(rows.aggregate(stages, session=self._session, **options))
        return await cursor.to_list(None)


async def untrue_owns(seen: Seen) -> dict[str, str]:
    """Whose check-point of own messages is not true, and what would be. Those are left out that no
    read-state can come to any more."""
    spans: dict[str, tuple[int, int]] = {}
    untrue: dict[str, str] = {}
    readers = {each["userId"]: each for each in _readers(seen) if each.get("own") is not None}
    for user_id, each in readers.items():
        own = each["own"]
        if not _is_usable(own) or own["to"] > _last(seen):
            untrue[user_id] = "a count up to a message that is there"
        elif own["from"] >= _start(seen, each) and not is_erased(user_id):
            spans[user_id] = own["from"], own["to"]
    counted = await _count_own(seen, spans)
    for user_id in spans:
        if readers[user_id]["own"]["count"] != counted.get(user_id, 0):
            untrue[user_id] = f"a count of {counted.get(user_id, 0)}"
    return untrue


async def own_counts(seen: Seen) -> list[Violation]:
    """Check-points of own messages that are not true."""
    owns = {each["userId"]: each.get("own") for each in seen.participants}
    return [
        seen.violation("own.count", f"{owns[user_id]} of {user_id}", expected)
        for user_id, expected in (await untrue_owns(seen)).items()
    ]


def _is_usable(own: object) -> bool:
    return isinstance(own, dict) and all(
        is_whole(own.get(each)) for each in ("from", "to", "count")
    )


async def unread_counts(seen: Seen) -> list[Violation]:
    """What users are shown as unread, against the messages of others that are there."""
    within = cast(Database, _Within(seen.database, seen.session))
    conversation = cast(ConversationDocument, seen.conversation)
    heads = {conversation["_id"]: cast(CounterDocument, seen.head)}
    there = await _messages_behind(seen, {_start(seen, each) for each in _readers(seen)})
    spans = {each["userId"]: (_start(seen, each), _last(seen)) for each in _readers(seen)}
    own = await _count_own(seen, spans)
    violations = []
    for each in _readers(seen):
        user_id = each["userId"]
        shown = await count_unread(within, user_id, [conversation], heads, keep=False)
        counted = there[_start(seen, each)] - own.get(user_id, 0)
        if shown[conversation["_id"]] != counted:
            found = f"{shown[conversation['_id']]} of {user_id}"
            violations.append(seen.violation("unread.count", found, counted))
    return violations


async def _messages_behind(seen: Seen, starts: Iterable[int]) -> dict[int, int]:
    """How many messages there are behind each of some numbers, going through them once."""
    counts: dict[int, int] = {}
    above, upto = 0, _last(seen)
    for start in sorted(starts, reverse=True):
        if start < upto:
            above += await _count(seen, {"seq": {"$gt": start, "$lte": upto}})
            upto = start
        counts[start] = above
    return counts


async def _count(seen: Seen, chosen: Mapping[str, Any]) -> int:
    found = await seen.database.messages.count_documents(
        {"conversationId": seen.id, **chosen}, session=seen.session
    )
    return int(found)


async def _count_own(seen: Seen, spans: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    """How many messages users have sent in their spans (from, to]."""
    branches = [
        {"senderId": user_id, "conversationId": seen.id, "seq": {"$gt": start, "$lte": end}}
        for user_id, (start, end) in spans.items()
        if end > start
    ]
    counts: dict[str, int] = {}
    for place in range(0, len(branches), SPANS_AT_A_TIME):
        stages = [
            {"$match": {"$or": branches[place : place + SPANS_AT_A_TIME]}},
            {"$group": {"_id": "$senderId", "count": {"$sum": 1}}},
        ]
        rows = await maybe_await(
            seen.database.messages.aggregate(stages, session=seen.session, hint=OWN_INDEX)
        )
        counts |= {each["_id"]: each["count"] for each in await rows.to_list(None)}
    return counts


def _readers(seen: Seen) -> Iterator[Mapping[str, Any]]:
    return (each for each in seen.participants if is_whole(each.get("lastReadSeq")))


def _start(seen: Seen, reader: Mapping[str, Any]) -> int:
    return max(int(reader["lastReadSeq"]), seen.floor)


def _last(seen: Seen) -> int:
    return int((seen.head or {})["seq"])


_NAMES_A_ROOT = {"threadRootMessageId": {"$type": "string"}}
_IS_REPLY = {"$eq": [{"$type": "$threadRootMessageId"}, "string"]}
_REPLY = {"root": "$threadRootMessageId", "count": 1, "last": "$createdAt"}
_ROOT = {"root": "$_id", "count": 0, "said": "$thread"}


async def threads(seen: Seen) -> list[dict[str, Any]]:
    """Roots whose summary is not what their replies make it; the server goes through messages.

    Each with what it `said` and the `count` and `last` time of the replies that are there.
    """
    stages = [
        {
            "$match": {
                "conversationId": seen.id,
                "seq": {"$gt": seen.floor},
                "$or": [_NAMES_A_ROOT, {"thread": {"$exists": True}}],
            }
        },
        {"$project": {"part": {"$concatArrays": [[_ROOT], {"$cond": [_IS_REPLY, [_REPLY], []]}]}}},
        {"$unwind": "$part"},
        {
            "$group": {
                "_id": "$part.root",
                "count": {"$sum": "$part.count"},
                "last": {"$max": "$part.last"},
                "said": {"$max": "$part.said"},
            }
        },
        {"$match": {"$expr": {"$or": [*_differs()]}}},
    ]
    rows = await maybe_await(seen.database.messages.aggregate(stages, session=seen.session))
    found: list[dict[str, Any]] = await rows.to_list(None)
    return await _above_the_floor(seen, found)


def _differs() -> Iterator[dict[str, Any]]:
    said = {"$ifNull": ["$said.replyCount", 0]}
    yield {"$ne": [said, "$count"]}
    yield {"$and": [{"$gt": ["$count", 0]}, {"$ne": ["$said.lastReplyAt", "$last"]}]}


async def _above_the_floor(seen: Seen, roots: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of them that are there; of one that retention takes its replies may be gone as well."""
    ids = [each["_id"] for each in roots]
    chosen = {"_id": {"$in": ids}, "conversationId": seen.id, "seq": {"$gt": seen.floor}}
    rows = seen.database.messages.find(chosen, {"_id": 1}, session=seen.session)
    there = {each["_id"] for each in await rows.to_list(None)}
    return [each for each in roots if each["_id"] in there]


def thread_violations(seen: Seen, roots: Iterable[Mapping[str, Any]]) -> list[Violation]:
    return [
        seen.violation(
            "thread.count",
            each.get("said"),
            f"{each['count']} replies, the last {each['last']}",
            of="messages",
            at=each["_id"],
        )
        for each in roots
    ]
