"""What is read from the daily roll-up: the pipelines of docs/statistics.md, and the median of an
answer's time. Days are texts such as `2026-01-31`, both ends included."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chat_aio.store.database import Database
from chat_aio.store.maintenance.daily_stats import LAST_BUCKET

SECONDS = 600.0

Pipeline = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DayStats:
    """A day of all conversations, or of one. The median is None without answers."""

    day: str
    messages: int
    active_users: int
    active_conversations: int
    answers: int
    median_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """A conversation's messages on some days. `name` is None where it has none."""

    conversation_id: str
    name: str | None
    messages: int
    days: int


def between(since: str, until: str, **further: object) -> dict[str, Any]:
    """The rows of some days; `further` are conditions such as `conversationId`."""
    return {"day": {"$gte": since, "$lte": until}, **further}


def messages_by_day(chosen: Mapping[str, Any]) -> Pipeline:
    return [
        {"$match": chosen},
        {
            "$group": {
                "_id": "$day",
                "messages": {"$sum": "$messages"},
                "conversations": {"$sum": 1},
            }
        },
        {"$sort": {"_id": 1}},
    ]


def users_by_day(chosen: Mapping[str, Any]) -> Pipeline:
    return [
        {"$match": chosen},
        {"$unwind": "$senderIds"},
        {"$group": {"_id": {"day": "$day", "userId": "$senderIds"}}},
        {"$group": {"_id": "$_id.day", "users": {"$sum": 1}}},
        {"$sort": {"_id": 1}},
    ]


def answers_by_day(chosen: Mapping[str, Any]) -> Pipeline:
    return [
        {"$match": chosen},
        {"$unwind": {"path": "$answers", "includeArrayIndex": "bucket"}},
        {"$match": {"answers": {"$gt": 0}}},
        {
            "$group": {
                "_id": {"day": "$day", "bucket": "$bucket"},
                "answers": {"$sum": "$answers"},
            }
        },
        {"$sort": {"_id": 1}},
    ]


def busiest(chosen: Mapping[str, Any], limit: int) -> Pipeline:
    return [
        {"$match": chosen},
        {
            "$group": {
                "_id": "$conversationId",
                "messages": {"$sum": "$messages"},
                "days": {"$sum": 1},
            }
        },
        {"$sort": {"messages": -1, "_id": 1}},
        {"$limit": limit},
    ]


async def list_days(database: Database, chosen: Mapping[str, Any]) -> list[DayStats]:
    """The days that have messages, in their order."""
    users = {each["_id"]: each["users"] for each in await _run(database, users_by_day(chosen))}
    answers: dict[str, dict[int, int]] = defaultdict(dict)
    for each in await _run(database, answers_by_day(chosen)):
        answers[each["_id"]["day"]][each["_id"]["bucket"]] = each["answers"]
    return [
        DayStats(
            day=each["_id"],
            messages=each["messages"],
            active_users=users.get(each["_id"], 0),
            active_conversations=each["conversations"],
            answers=sum(answers[each["_id"]].values()),
            median_seconds=median_of(answers[each["_id"]]),
        )
        for each in await _run(database, messages_by_day(chosen))
    ]


async def list_busiest(database: Database, chosen: Mapping[str, Any], *, limit: int) -> list[Busy]:
    """The conversations with the most messages, with their present names."""
    rows = await _run(database, busiest(chosen, limit))
    ids = {"_id": {"$in": [each["_id"] for each in rows]}}
    named = await database.read(
        lambda: database.conversations.find(ids, {"name": 1}).to_list(None), seconds=SECONDS
    )
    names = {each["_id"]: each.get("name") for each in named}
    return [
        Busy(
            conversation_id=each["_id"],
            name=names.get(each["_id"]),
            messages=each["messages"],
            days=each["days"],
        )
        for each in rows
    ]


def median_of(counts: Mapping[int, int]) -> float | None:
    """About the median of seconds whose numbers by bucket are given. Within a bucket they count as
    evenly spread, so it is off by less than the bucket is wide."""
    half = sum(counts.values()) / 2
    passed = 0
    for bucket, count in sorted(counts.items()):
        if count and passed + count >= half:
            low, high = bounds_of(bucket)
            return round(low + (high - low) * (half - passed) / count, 1)
        passed += count
    return None


def bounds_of(bucket: int) -> tuple[int, int]:
    """From how many seconds to below how many. The last bucket is shown as if it had an end."""
    assert 0 <= bucket <= LAST_BUCKET
    return (0, 1) if bucket == 0 else (2 ** (bucket - 1), 2**bucket)


async def _run(database: Database, stages: Sequence[Mapping[str, Any]]) -> list[Any]:
    return await database.aggregate(
        database.daily_stats, stages, seconds=SECONDS, allowDiskUse=True
    )
