"""Messages of past days, and what they come to when they are counted one by one."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from typing import Any

from chat_aio.actions.context import new_id, utc_now
from chat_aio.store.database import Database as Store
from chat_aio.store.maintenance.stats import Span, list_active, roll_up
from chat_aio.store.messages import new_message
from tests.conftest import Database

Row = dict[str, Any]


def midnight(days_ago: int) -> datetime:
    return datetime.combine(utc_now().date(), time(), UTC) - timedelta(days=days_ago)


async def write_history(
    database: Database, sent: Iterable[tuple[str, datetime]], *, public: bool = False
) -> list[Row]:
    """A conversation in which so many have written at so many times; returns its messages."""
    conversation_id = new_id()
    rows: list[Row] = [
        {**new_message(new_id(), conversation_id, sender_id, "x", at=at), "seq": seq}
        for seq, (sender_id, at) in enumerate(sent, 1)
    ]
    head = {"seq": len(rows), "activityAt": rows[-1]["createdAt"], "epoch": 1, "fence": 0}
    await database["counters"].insert_one(
        {"_id": conversation_id, **head, "public": public, "floorSeq": 0}
    )
    await database["messages"].insert_many(rows)
    return rows


async def roll_up_all(database: Database) -> None:
    """The statistics of all messages up to now, those of today too."""
    store = Store(database)
    span = Span(None, midnight(-1))
    await roll_up(store, await list_active(store, span, after=""), span)


def random_times(dice: random.Random, *, days: int, most: int) -> list[tuple[str, datetime]]:
    """Who wrote when, up to now: bursts, and days without a message."""
    at = midnight(dice.randrange(1, days + 1))
    found: list[tuple[str, datetime]] = []
    while len(found) < dice.randrange(1, most) or not found:
        seconds = dice.choice([0, 0.5, 1, 2, 7, 64, 600, 5_000, 40_000, 90_000, 600_000])
        at += timedelta(seconds=seconds * dice.uniform(0.9, 1.1))
        if at >= utc_now():
            break
        # MongoDB keeps milliseconds.
        exact = at.replace(microsecond=at.microsecond // 1_000 * 1_000)
        found.append((dice.choice("abcdefgh"[: dice.choice([1, 2, 8])]), exact))
    return found or [("a", midnight(1))]


def day_of(message: Row) -> str:
    return f"{message['createdAt']:%Y-%m-%d}"


def seconds_to_answer(messages: Sequence[Row]) -> dict[str, list[float]]:
    """The seconds of each answer in a conversation, by the day of the answer."""
    found: dict[str, list[float]] = defaultdict(list)
    for number, (before, message) in enumerate(pairwise(messages), 1):
        if before["senderId"] == message["senderId"]:
            continue
        begin, first = number - 1, before
        while (
            begin > 0
            and messages[begin - 1]["senderId"] == before["senderId"]
            and day_of(first) == day_of(message)
        ):
            begin -= 1
            first = messages[begin]
        waited = message["createdAt"] - first["createdAt"]
        found[day_of(message)].append(waited.total_seconds())
    return found


def counted(histories: Iterable[Sequence[Row]], days: Iterable[str]) -> dict[str, Row]:
    """For each day: messages, users, conversations, and the seconds of the answers."""
    found: dict[str, Row] = {}
    for day in days:
        of_day = [
            message for messages in histories for message in messages if day_of(message) == day
        ]
        if of_day:
            found[day] = {
                "messages": len(of_day),
                "activeUsers": len({message["senderId"] for message in of_day}),
                "activeConversations": len({message["conversationId"] for message in of_day}),
                "seconds": sorted(
                    seconds
                    for messages in histories
                    for seconds in seconds_to_answer(messages).get(day, ())
                ),
            }
    return found


def messages_by_conversation(histories: Iterable[Sequence[Row]], days: set[str]) -> Counter[str]:
    return Counter(
        message["conversationId"]
        for messages in histories
        for message in messages
        if day_of(message) in days
    )
