"""`chat-aio stats`: the numbers are those counted one by one, however the roll-up was run."""

import asyncio
import json
import random
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat
from chat_aio.actions.maintenance import stats as rules
from chat_aio.actions.maintenance.stats import StatsPeriod, update
from chat_aio.store.maintenance import stats as stored
from chat_aio.store.maintenance.stats import bounds_of, bucket_of, median_of
from tests.admin.running import DO, People, Tool
from tests.conftest import Database
from tests.support.histories import (
    Row,
    counted,
    messages_by_conversation,
    midnight,
    random_times,
    seconds_to_answer,
    write_history,
)

DAYS = 20
COMMITTED_WITHIN = rules.COMMITTED_WITHIN
DOCUMENT = Path(__file__).parents[2] / "docs/operations/statistics.md"


@pytest.fixture(autouse=True)
def complete_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Yesterday is complete whenever the tests run, also in the first minutes of a day."""
    monkeypatch.setattr(rules, "COMMITTED_WITHIN", timedelta(0))


def day(days_ago: int) -> str:
    return f"{midnight(days_ago):%Y-%m-%d}"


async def histories_of(database: Database, seed: int, *, count: int = 40) -> list[list[Row]]:
    dice = random.Random(seed)
    return [
        await write_history(
            database, random_times(dice, days=DAYS, most=60), public=dice.random() < 0.5
        )
        for _ in range(count)
    ]


async def rows_of(database: Database) -> list[Any]:
    return await database["daily_stats"].find().sort("_id", 1).to_list(None)


async def mark_of(chat: Chat) -> Any:
    """How far the statistics are."""
    return await chat._context.database.settings.find_one({"_id": "daily_stats"})


@pytest.mark.parametrize("seed", range(3))
async def test_the_numbers_are_those_counted_one_by_one(
    database: Database, tool: Tool, seed: int
) -> None:
    histories = await histories_of(database, seed)
    complete = [day(number) for number in range(DAYS + 5, 0, -1)]
    done = await tool("stats", "update", "--json")
    assert done.json["statistics"]["before"] == day(0)
    shown = (await tool("stats", "show", "--since", complete[0], "--json")).json["days"]
    period = counted(histories, complete)
    assert [shown_day["day"] for shown_day in shown] == [*period]
    for total in shown:
        one_by_one = period[total["day"]]
        seconds = one_by_one.pop("seconds")
        assert {name: total[name] for name in one_by_one} == one_by_one
        assert total["answers"] == len(seconds)
        require_median(total["medianSecondsToAnswer"], seconds)
    for messages in histories:
        await require_buckets(database, messages)
    by_conversation = messages_by_conversation(histories, {day(number) for number in range(1, 8)})
    busy = (await tool("stats", "busiest", "--limit", "5", "--json")).json
    assert busy["more"] == (len(by_conversation) > 5)
    ranked = sorted(by_conversation.items(), key=lambda item: (-item[1], item[0]))
    assert [
        (conversation["conversationId"], conversation["messages"])
        for conversation in busy["conversations"]
    ] == (ranked[:5])
    of_one = ("show", "--since", complete[0], "--conversation", histories[0][0]["conversationId"])
    lines = (await tool("stats", *of_one, "--json-lines")).output.splitlines()
    alone = counted(histories[:1], complete)
    assert {line["day"]: line["messages"] for line in map(json.loads, lines)} == {
        name: value["messages"] for name, value in alone.items()
    }


async def require_buckets(database: Database, messages: list[Row]) -> None:
    """The answers of a conversation are in the buckets of their seconds."""
    of = {"conversationId": messages[0]["conversationId"]}
    waited = seconds_to_answer(messages)
    async for row in database["daily_stats"].find(of):
        buckets = [bucket_of(second) for second in waited[row["day"]]]
        assert row["answers"] == [buckets.count(n) for n in range(max(buckets, default=-1) + 1)]


def require_median(shown: float | None, seconds: list[float]) -> None:
    """It is within the bucket of one of the two values in the middle."""
    if not seconds:
        assert shown is None
        return
    assert shown is not None
    middle = seconds[(len(seconds) - 1) // 2], seconds[len(seconds) // 2]
    assert bounds_of(bucket_of(middle[0]))[0] <= shown <= bounds_of(bucket_of(middle[1]))[1]


def test_the_median_is_off_by_less_than_its_bucket() -> None:
    dice = random.Random(5)
    for _ in range(200):
        seconds = [
            dice.uniform(0, 2 ** dice.randrange(1, 19)) for _ in range(dice.randrange(1, 99))
        ]
        buckets = [bucket_of(second) for second in seconds]
        found = median_of({bucket: buckets.count(bucket) for bucket in buckets})
        require_median(found, sorted(seconds))
        if len(seconds) % 2:
            low, high = bounds_of(bucket_of(median(seconds)))
            assert found is not None
            assert abs(found - median(seconds)) <= high - low
    assert [bucket_of(second) for second in (-1, 0.9, 1, 2, 3.9, 4, 2**19, 2**40)] == [
        *(0, 0, 1, 2, 2, 3, 20, 20),
    ]


async def test_runs_day_by_day_and_again_write_the_same(
    database: Database, chat: Chat, tool: Tool
) -> None:
    await histories_of(database, 7)
    await update(chat._context, StatsPeriod())
    at_once = await rows_of(database)
    assert len(at_once) > 60
    await update(chat._context, StatsPeriod(since=midnight(9).date()))
    await update(chat._context, StatsPeriod())
    assert await rows_of(database) == at_once
    await database["daily_stats"].delete_many({})
    await database["settings"].delete_many({"_id": "daily_stats"})
    for days_ago in range(DAYS + 1, 0, -1):
        await update(chat._context, StatsPeriod(until=midnight(days_ago).date()))
        assert (await mark_of(chat))["at"] == midnight(days_ago - 1)
    assert await rows_of(database) == at_once
    assert (await tool("stats", "update")).output.startswith("Rolled up from")
    assert await rows_of(database) == at_once


async def test_a_run_that_was_killed_goes_on(database: Database, chat: Chat) -> None:
    await histories_of(database, 11, count=30)
    await update(chat._context, StatsPeriod())
    at_once = await rows_of(database)
    await database["daily_stats"].delete_many({})
    await database["settings"].delete_many({"_id": "daily_stats"})
    looked_into: list[str] = []
    rows = stored.rows_of

    def cut_short(database: Any, head: Any, span: Any) -> Any:
        looked_into.append(head["_id"])
        if len(looked_into) == 18:
            raise KeyboardInterrupt
        return rows(database, head, span)

    with (
        patch.object(stored, "HEADS_AT_A_TIME", 5),
        patch.object(stored, "rows_of", cut_short),
    ):
        with pytest.raises(KeyboardInterrupt):
            await update(chat._context, StatsPeriod())
        mark = await mark_of(chat)
        assert (mark["rolling"]["after"], "at" in mark) == (looked_into[14], False)
        done = await update(chat._context, StatsPeriod())
    assert done.conversations == 15
    assert looked_into[18:] == sorted(looked_into[18:])
    assert looked_into[18] == looked_into[15]
    assert await rows_of(database) == at_once
    assert (await mark_of(chat)).keys() == {"_id", "at"}


async def test_two_runs_at_once_write_the_same(database: Database, chat: Chat) -> None:
    await histories_of(database, 13)
    with patch.object(stored, "HEADS_AT_A_TIME", 3):
        await asyncio.gather(*(update(chat._context, StatsPeriod()) for _ in range(2)))
        at_once = await rows_of(database)
        short = StatsPeriod(since=midnight(5).date(), until=midnight(3).date())
        long = StatsPeriod(since=midnight(9).date())
        await asyncio.gather(*(update(chat._context, period) for period in (short, long)))
    assert await rows_of(database) == at_once
    assert (await mark_of(chat))["at"] == midnight(0)


async def test_malformed_messages_are_left_out(database: Database, chat: Chat) -> None:
    sent = [("ab"[n % 2], midnight(2) + timedelta(seconds=10 * n)) for n in range(12)]
    messages = await write_history(database, sent)
    far = datetime(2199, 1, 1, tzinfo=UTC)
    odd: dict[int, Row] = {3: {"senderId": 7}, 5: {"createdAt": "noon"}, 8: {"createdAt": far}}
    for seq, fields in odd.items():
        await database["messages"].update_one(
            {"seq": seq}, {"$set": fields}, bypass_document_validation=True
        )
    await database["counters"].insert_one(
        {"_id": "odd", "seq": 3, "activityAt": "late"}, bypass_document_validation=True
    )
    await update(chat._context, StatsPeriod())
    (row,) = await rows_of(database)
    assert (row["messages"], row["senderIds"]) == (9, ["a", "b"])
    left = [message for message in messages if message["seq"] not in odd]
    assert sum(row["answers"]) == sum(
        one["senderId"] != two["senderId"] for one, two in pairwise(left)
    )


async def test_a_day_of_a_long_history_is_found_by_an_index(database: Database, chat: Chat) -> None:
    """Neither all messages nor all of the conversation are read."""
    long = [("ab"[n % 2], midnight(60) + timedelta(minutes=10 * n)) for n in range(60 * 144)]
    await write_history(database, long)
    for _ in range(30):
        await write_history(database, [("c", midnight(30))])
    await update(chat._context, StatsPeriod(since=midnight(4).date(), until=midnight(4).date()))
    await database.command("profile", 2)
    try:
        done = await update(chat._context, StatsPeriod(until=midnight(3).date()))
        await stored.list_days(chat._context.database, stored.between(day(40), day(1)))
        await stored.list_busiest(chat._context.database, stored.between(day(40), day(1)), limit=9)
    finally:
        await database.command("profile", 0)
    assert (done.conversations, done.rows) == (1, 1)
    profiled = await database["system.profile"].find({"planSummary": {"$exists": True}}).to_list()
    await database["system.profile"].drop()
    of = {
        name: [query for query in profiled if query["ns"].endswith(f".{name}")]
        for name in ("messages", "counters", "daily_stats")
    }
    assert all(of.values())
    for query in (*of["messages"], *of["counters"], *of["daily_stats"]):
        assert "COLLSCAN" not in query["planSummary"], query
    for query in of["messages"]:
        assert query["planSummary"] == "IXSCAN { conversationId: 1, seq: 1 }"
    assert sum(query["docsExamined"] for query in of["messages"]) < 1_200
    covered = [query for query in of["daily_stats"] if query.get("docsExamined") == 0]
    assert len(covered) >= 2


async def test_old_rows_are_removed(database: Database, tool: Tool) -> None:
    await write_history(database, [("a", midnight(number)) for number in range(9, 0, -1)])
    kept = (await tool("stats", "update", "--keep-days", "4", "--yes", "--json")).json["statistics"]
    assert (kept["since"], kept["rows"], kept["removed"]) == (day(4), 4, 0)
    whole = (await tool("stats", "update", "--since", day(9), "--json")).json["statistics"]
    assert (whole["rows"], len(await rows_of(database))) == (9, 9)
    later = (await tool("stats", "update", "--keep-days", "2", "--yes", "--json")).json[
        "statistics"
    ]
    assert (later["rows"], later["removed"]) == (0, 7)
    assert [row["day"] for row in await rows_of(database)] == [day(2), day(1)]


async def test_what_is_shown_and_what_is_refused(
    people: People, database: Database, tool: Tool
) -> None:
    for command in ("show", "busiest"):
        nothing = await tool("stats", command)
        assert (nothing.output, "stats update" in nothing.errors) == ("(none)\n", True)
    channel = await people("alice").group("bob", visibility="public", name="Engine room")
    await people("alice").send(channel, "hi")
    await database["messages"].update_many({}, {"$set": {"createdAt": midnight(1)}})
    await write_history(database, [("bob", midnight(1)), ("carol", midnight(1))])
    run = await tool("stats", "update")
    assert run.output == (
        f"Rolled up from the first message to before {day(0)}: 2 conversations, wrote 2 rows.\n"
    )
    assert "Rolling up" in run.errors
    (line,) = (await tool("stats", "show")).output.splitlines()[1:]
    assert line.split() == [day(1), "3", "3", "2", "1", "0.5"]
    rows = (await tool("stats", "busiest", "--public")).output.splitlines()[1:]
    assert [row.split(maxsplit=3) for row in rows] == [[channel, "1", "1", "Engine room"]]
    today = await tool("stats", "update", "--until", day(0))
    assert "not complete" in today.refusal
    wrong = await tool("stats", "show", "--since", "yesterday")
    assert (wrong.code, "is not a day" in wrong.errors) == (2, True)


async def test_a_day_is_complete_a_while_after_its_end(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was dated before midnight may be committed after it."""
    monkeypatch.setattr(rules, "COMMITTED_WITHIN", COMMITTED_WITHIN)
    for wait, until in ((timedelta(minutes=4), day(1)), (timedelta(minutes=5), day(0))):
        context = replace(chat._context, clock=partial(midnight(0).__add__, wait))
        assert (await update(context, StatsPeriod())).until == until


async def test_an_erased_user_is_counted_and_not_named(
    people: People, database: Database, tool: Tool
) -> None:
    people("mod")
    await write_history(database, [(name, midnight(1)) for name in ("ada", "mallory", "ada")])
    await tool("stats", "update")
    before = (await tool("stats", "show", "--json")).json
    exported = (await tool("users", "export", "mallory")).output.splitlines()
    assert {"kind": "activeDay", "day": day(1)}.items() <= json.loads(exported[-1]).items()
    pseudonym = (await tool("users", "erase", "mallory", *DO, "--json")).json["pseudonym"]
    (row,) = await rows_of(database)
    assert sorted(row["senderIds"]) == ["ada", pseudonym]
    assert (await tool("stats", "show", "--json")).json == before
    await tool("stats", "update", "--since", day(1))
    assert (await tool("stats", "show", "--json")).json == before
    assert (await rows_of(database))[0]["senderIds"] == ["ada", pseudonym]


def documented(name: str) -> Any:
    """The pipeline of docs/operations/statistics.md below a heading; JSON is JavaScript, too."""
    text = DOCUMENT.read_text().partition(f"## {name}\n")[2]
    section = text.partition("\n## ")[0]
    (pipeline,) = re.findall(r"\ndb\.daily_stats\.aggregate\((.*?)\);\n", section, re.S)
    return json.loads(pipeline)


def test_the_pipelines_of_the_document_are_these() -> None:
    days = stored.between("2026-01-01", "2026-01-31")
    assert documented("Messages of a day") == stored.messages_by_day(days)
    assert documented("Daily active users") == stored.users_by_day(days)
    assert documented("Median time to answer") == stored.answers_by_day(days)
    busy = stored.between("2026-01-25", "2026-01-31", public=True)
    assert documented("Busiest channels") == stored.busiest(busy, 10)
