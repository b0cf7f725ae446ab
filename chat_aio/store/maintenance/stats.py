"""The daily roll-up, and the statistics read from it (docs/operations/statistics.md).

For each conversation and day in UTC with messages there is a row in `daily_stats`. A row is
computed and replaced as a whole, so runs may be repeated or interrupted, and two may run at once.
Messages are found along the index `conversation_seq`: times never fall as seqs rise
(docs/reference/data-model.md).
"""

from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, cast

from pymongo import ReplaceOne
from typing_extensions import TypedDict

from chat_aio.store import shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import DailyStatsDocument
from chat_aio.store.maintenance.find_messages import MESSAGES_AT_A_TIME, below_younger

MESSAGES_OF_A_PAGE = 1_000
HEADS_AT_A_TIME = 100
ROWS_AT_A_TIME = 500
SECONDS = 60.0

LAST_BUCKET = 20
"""An answer within a second is in bucket 0, one after 2**(n-1) to 2**n seconds in bucket n, and one
after more than six days in the last bucket."""

MARK = "daily_stats"
"""The row of `settings` with the progress of the roll-up."""

_SHOWN = {"seq": 1, "senderId": 1, "createdAt": 1}
_INSTANT = timedelta(milliseconds=1)


class Head(TypedDict):
    """The fields of a conversation's head that a roll-up reads."""

    _id: str
    seq: int
    activityAt: datetime
    public: bool


class Sent(TypedDict):
    """The fields of a message that a roll-up reads."""

    _id: str
    seq: int
    senderId: str
    createdAt: datetime


@dataclass(frozen=True, slots=True)
class Span:
    """Whole days, with both ends at midnight in UTC; without `since` from the first message on."""

    since: datetime | None
    until: datetime

    @property
    def active(self) -> dict[str, Any]:
        """The query for the heads of conversations that may have messages in it."""
        since = {} if self.since is None else {"activityAt": {"$gte": self.since}}
        return {"seq": {"$gt": 0}, **since}

    @property
    def times(self) -> dict[str, datetime]:
        since = {} if self.since is None else {"$gte": self.since}
        return {**since, "$lt": self.until}


def day_of(at: datetime) -> str:
    return at.astimezone(UTC).date().isoformat()


def bucket_of(seconds: float) -> int:
    return min(int(max(seconds, 0)).bit_length(), LAST_BUCKET)


@dataclass(slots=True)
class _Day:
    """A conversation's messages of a day, while they are counted."""

    name: str
    messages: int = 0
    sender_ids: set[str] = field(default_factory=set)
    answers: list[int] = field(default_factory=lambda: [0] * (LAST_BUCKET + 1))

    def row(self, head: Head) -> DailyStatsDocument:
        last = max((n for n, count in enumerate(self.answers) if count), default=-1)
        return {
            "_id": f"{self.name}:{head['_id']}",
            "day": self.name,
            "conversationId": head["_id"],
            "public": head["public"],
            "messages": self.messages,
            "senderIds": sorted(self.sender_ids),
            "answers": self.answers[: last + 1],
        }


@dataclass(slots=True)
class _Turn:
    """The current sender, and since when an answer is awaited."""

    sender_id: str
    since: datetime
    newest: datetime


async def rows_of(
    database: Database, head: Head, span: Span
) -> AsyncGenerator[DailyStatsDocument, None]:
    """The rows of a conversation, day by day. A message that follows one of a later day counts on
    that day."""
    day: _Day | None = None
    turn: _Turn | None = None
    async for message in _messages(database, head, span):
        name = day_of(message["createdAt"])
        if day is None:
            # The first message of the span may answer the newest one before it.
            chosen = {
                "conversationId": head["_id"],
                "seq": {"$lt": message["seq"]},
                "createdAt": {"$type": "date"},
                "senderId": {"$type": "string"},
            }
            before = await database.read(
                partial(database.messages.find_one, chosen, _SHOWN, sort=[("seq", -1)]),
                seconds=SECONDS,
            )
            if before:
                turn = _Turn(before["senderId"], before["createdAt"], before["createdAt"])
        if day is None or name > day.name:
            if day is not None:
                yield day.row(head)
            day = _Day(name)
            if turn is not None:
                # So that a row depends on no earlier day, only on the message before its first one.
                turn.since = turn.newest
        sender_id, at = message["senderId"], message["createdAt"]
        day.messages += 1
        day.sender_ids.add(sender_id)
        if turn is not None and turn.sender_id == sender_id:
            turn.newest = at
            continue
        if turn is not None:
            day.answers[bucket_of((at - turn.since).total_seconds())] += 1
        turn = _Turn(sender_id, at, at)
    if day is not None:
        yield day.row(head)


async def _messages(database: Database, head: Head, span: Span) -> AsyncIterator[Sent]:
    """The well-formed messages of a conversation within a span, in their order."""
    first, end = 1, head["seq"] + 1
    if head["activityAt"] >= span.until:
        end = await below_younger(database, head["_id"], end, span.until - _INSTANT)
    if span.since is not None:
        first = await below_younger(database, head["_id"], end, span.since - _INSTANT)
        # It is "not far above" the newest older message: a few of the span may be below it.
        first = max(1, first - MESSAGES_AT_A_TIME)
    while first < end:
        chosen = {
            "conversationId": head["_id"],
            "seq": {"$gte": first, "$lt": end},
            "createdAt": span.times,
        }
        rows = database.messages.find(chosen, _SHOWN).sort("seq", 1).limit(MESSAGES_OF_A_PAGE)
        found = await database.read(partial(rows.to_list, None), seconds=SECONDS)
        for message in shapes.readable("messages", found, shape=Sent):
            yield message
        # By the rows that were read: malformed ones are left out above, and do not end the list.
        if len(found) < MESSAGES_OF_A_PAGE:
            return
        first = found[-1]["seq"] + 1


async def count_active(database: Database, span: Span, *, after: str) -> int:
    """The number of conversations behind an id that may have messages in a span."""
    chosen = {**span.active, "_id": {"$gt": after}}
    return cast(
        int,
        await database.read(lambda: database.counters.count_documents(chosen), seconds=SECONDS),
    )


async def list_active(database: Database, span: Span, *, after: str) -> list[Head]:
    """The first few heads of such conversations, in the order of their ids."""
    chosen = {**span.active, "_id": {"$gt": after}}
    shown = {"seq": 1, "activityAt": 1, "public": 1}
    rows = database.counters.find(chosen, shown).sort("_id", 1).limit(HEADS_AT_A_TIME)
    found = await database.read(partial(rows.to_list, None), seconds=SECONDS)
    return cast(list[Head], found)


async def roll_up(database: Database, heads: Sequence[Head], span: Span) -> int:
    """Write the rows of some conversations; returns their number."""
    count, rows = 0, list[DailyStatsDocument]()
    for head in shapes.readable("counters", heads, shape=Head):
        async for row in rows_of(database, head, span):
            rows.append(row)
            if len(rows) == ROWS_AT_A_TIME:
                count += await _write(database, rows)
                rows = []
    return count + await _write(database, rows)


async def _write(database: Database, rows: Sequence[DailyStatsDocument]) -> int:
    # Replaced as a whole, never increased: a run may be repeated or be interrupted, and two may run
    # at once (decision 0061).
    writes = [ReplaceOne({"_id": row["_id"]}, row, upsert=True) for row in rows]
    if writes:
        await database.write(partial(database.daily_stats.bulk_write, writes, ordered=False))
    return len(writes)


async def rolled_until(database: Database) -> datetime | None:
    """The midnight up to which all days are rolled up; None before the first run."""
    row = await _mark(database)
    return None if row is None else row.get("at")


async def place_of(database: Database, span: Span) -> str:
    """The conversation at which a run over the same days was interrupted; empty if none was."""
    row = await _mark(database)
    rolling = {} if row is None else row.get("rolling", {})
    is_same = (rolling.get("since"), rolling.get("until")) == (span.since, span.until)
    return str(rolling.get("after", "")) if is_same else ""


async def _mark(database: Database) -> Any:
    found = await database.read(lambda: database.settings.find_one({"_id": MARK}))
    return shapes.one_readable("settings", found)


async def note_place(database: Database, span: Span, after: str) -> None:
    """Record that a run has completed the conversations up to this one."""
    rolling = {"since": span.since, "until": span.until, "after": after}
    await _note(database, {"$set": {"rolling": rolling}})


async def note_done(database: Database, span: Span) -> None:
    """Record that all days of a span are rolled up."""
    await _note(database, {"$max": {"at": span.until}, "$unset": {"rolling": ""}})


async def _note(database: Database, update: dict[str, Any]) -> None:
    here = {"_id": MARK}
    await database.write(lambda: database.settings.update_one(here, update, upsert=True))


async def count_before(database: Database, day: str) -> int:
    """The number of rows of the days before this one."""
    older = {"day": {"$lt": day}}
    found: int = await database.read(lambda: database.daily_stats.count_documents(older))
    return found


async def remove_before(database: Database, day: str) -> int:
    """Remove the rows of the days before this one, a day at a time; returns their number."""
    count, older = 0, {"day": {"$lt": day}}
    while row := await database.read(
        lambda: database.daily_stats.find_one(older, {"day": 1}, sort=[("day", 1)])
    ):
        of_day = {"day": row["day"]}
        done = await database.write(partial(database.daily_stats.delete_many, of_day))
        count += done.deleted_count
    return count


QUERY_SECONDS = 600.0

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
    """A conversation's messages on some days. `name` is None if it has none."""

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
    users = {row["_id"]: row["users"] for row in await _run(database, users_by_day(chosen))}
    answers: dict[str, dict[int, int]] = defaultdict(dict)
    for row in await _run(database, answers_by_day(chosen)):
        answers[row["_id"]["day"]][row["_id"]["bucket"]] = row["answers"]
    return [
        DayStats(
            day=row["_id"],
            messages=row["messages"],
            active_users=users.get(row["_id"], 0),
            active_conversations=row["conversations"],
            answers=sum(answers[row["_id"]].values()),
            median_seconds=median_of(answers[row["_id"]]),
        )
        for row in await _run(database, messages_by_day(chosen))
    ]


async def list_busiest(database: Database, chosen: Mapping[str, Any], *, limit: int) -> list[Busy]:
    """The conversations with the most messages, with their present names."""
    rows = await _run(database, busiest(chosen, limit))
    ids = {"_id": {"$in": [row["_id"] for row in rows]}}
    named = await database.read(
        lambda: database.conversations.find(ids, {"name": 1}).to_list(None), seconds=QUERY_SECONDS
    )
    names = {conversation["_id"]: conversation.get("name") for conversation in named}
    return [
        Busy(
            conversation_id=row["_id"],
            name=names.get(row["_id"]),
            messages=row["messages"],
            days=row["days"],
        )
        for row in rows
    ]


def median_of(counts: Mapping[int, int]) -> float | None:
    """The approximate median of seconds whose numbers by bucket are given. Seconds count as evenly
    spread within a bucket, so the error is less than the bucket's width."""
    half = sum(counts.values()) / 2
    passed = 0
    for bucket, count in sorted(counts.items()):
        if count and passed + count >= half:
            low, high = bounds_of(bucket)
            return round(low + (high - low) * (half - passed) / count, 1)
        passed += count
    return None


def bounds_of(bucket: int) -> tuple[int, int]:
    """The bounds of a bucket in seconds, the upper one excluded. The last bucket is shown as if it
    had an end."""
    assert 0 <= bucket <= LAST_BUCKET
    return (0, 1) if bucket == 0 else (2 ** (bucket - 1), 2**bucket)


async def _run(database: Database, stages: Sequence[Mapping[str, Any]]) -> list[Any]:
    return await database.aggregate(
        database.daily_stats, stages, seconds=QUERY_SECONDS, allowDiskUse=True
    )
