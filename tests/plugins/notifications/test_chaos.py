"""Two processes, of which the one that notifies is killed again and again, and readers who come and
go: nothing unseen is left out, nothing that was seen in time is told."""

import asyncio
import json
import random
import signal
from collections import defaultdict
from collections.abc import Iterable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import ClientError, ClientSession

from chat_aio import Chat
from tests.conftest import Database, MakeChat
from tests.plugins.notifications.served import DELAY_SECONDS
from tests.plugins.notifications.telling import all_told
from tests.support.processes import Service

SENDING_SECONDS = 14.0
KILLS = 5
AWAY, STREAMING = ("away0", "away1"), ("stream0", "stream1")
READER = "reader"
IN_TIME = timedelta(seconds=DELAY_SECONDS - 1.2)
"""Before the delay is over, and what was shown is surely written."""

AROUND_A_KILL = timedelta(seconds=1)

Place = tuple[str, int]
"""(conversation, seq)."""


@dataclass
class Story:
    """What has happened, and when."""

    sent: dict[Place, datetime] = field(default_factory=dict)
    seen: dict[str, dict[Place, datetime]] = field(default_factory=lambda: defaultdict(dict))
    read: dict[str, list[tuple[int, datetime]]] = field(default_factory=lambda: defaultdict(list))
    kills: list[datetime] = field(default_factory=list)
    closed: dict[str, list[datetime]] = field(default_factory=lambda: defaultdict(list))

    def is_near_a_kill(self, at: datetime) -> bool:
        return any(at - AROUND_A_KILL < moment < at + AROUND_A_KILL for moment in self.kills)

    def stayed(self, user_id: str, at: datetime) -> bool:
        """Whether a stream was open long enough after a time, so that what it got counts."""
        return not any(at <= moment < at + AROUND_A_KILL for moment in self.closed[user_id])

    def was_cut_off(self, user_id: str, place: Place) -> bool:
        """Whether a stream was closed just after a message: where a busy machine has let it lie
        unread for a second, it counts as shown (docs/guides/notifications.md)."""
        at = self.sent[place]
        return any(at <= moment < at + 2 * AROUND_A_KILL for moment in self.closed[user_id])

    def was_read(self, place: Place) -> datetime | None:
        """When the reader had read a message; None if never."""
        return min((at for seq, at in self.read[place[0]] if seq >= place[1]), default=None)


@pytest.mark.long
async def test_nothing_unseen_is_left_out(
    make_chat: MakeChat, mongo_url: str, database: Database
) -> None:
    chat, story = await make_chat(), Story()
    users = [*AWAY, *STREAMING, READER]
    groups = [(await chat.api.create_group_conversation("ada", user_ids=users)).id for _ in "abc"]
    app = ("--app", "tests.plugins.notifications.served:make")
    services = [Service(mongo_url, database.name, *app) for _ in "ab"]
    async with AsyncExitStack() as running:
        for service in services:
            await running.enter_async_context(service.running())
        streams = [asyncio.create_task(stream(services, user_id, story)) for user_id in STREAMING]
        killing = asyncio.create_task(kill(services, database, story))
        await send(chat, groups, story)
        await killing
        for task in streams:
            task.cancel()
        await asyncio.wait(streams)
        await all_told(database, len(story.sent))
    told = await database["told"].find().sort("at", 1).to_list(None)
    expect_all_who_have_not_seen_it(story, told)
    expect_none_who_have_seen_it_in_time(story, told)
    expect_order(told)
    expect_duplicates_around_kills_only(story, told)


async def send(chat: Chat, groups: list[str], story: Story) -> None:
    """Messages to all groups; one user reads some of them at once."""
    until = asyncio.get_running_loop().time() + SENDING_SECONDS
    while asyncio.get_running_loop().time() < until:
        group = random.choice(groups)
        sent = await chat.api.send_message("ada", group, "hello")
        story.sent[group, sent.seq] = sent.created_at
        if random.random() < 0.2:
            await chat.api.mark_read(READER, group, sent.id)
            story.read[group].append((sent.seq, datetime.now(UTC)))
        await asyncio.sleep(random.uniform(0.02, 0.1))


async def stream(services: list[Service], user_id: str, story: Story) -> None:
    """Streams without a position, that come and go: what was sent in between is unseen."""
    while True:
        with suppress(ClientError, TimeoutError):
            async with asyncio.timeout(random.uniform(1.0, 5.0)), ClientSession() as session:
                url, headers = f"{random.choice(services).base}/stream", {"X-User": user_id}
                async with session.get(url, headers=headers) as response:
                    async for line in response.content:
                        if line.startswith(b"data:") and b'"message.created"' in line:
                            message = json.loads(line[5:])["message"]
                            place = message["conversationId"], message["seq"]
                            story.seen[user_id].setdefault(place, datetime.now(UTC))
        story.closed[user_id].append(datetime.now(UTC))
        await asyncio.sleep(random.uniform(0.1, 0.5))


async def kill(services: list[Service], database: Database, story: Story) -> None:
    """Kill the process that notifies, and start another one in its place."""
    for _ in range(KILLS):
        await asyncio.sleep(2.5)
        last = await database["told"].find_one(sort={"at": -1})
        holder = next(
            (service for service in services if last and service.pids()[-1] == last["pid"]),
            services[0],
        )
        story.kills.append(datetime.now(UTC))
        holder.send(signal.SIGKILL)
        await holder.ended()
        await holder.start()


def places_of(told: Iterable[Any], user_id: str) -> list[Place]:
    return [(row["conversationId"], row["seq"]) for row in told if row["userId"] == user_id]


def expect_all_who_have_not_seen_it(story: Story, told: list[Any]) -> None:
    for user_id in AWAY:
        assert set(places_of(told, user_id)) == set(story.sent)
    for user_id in STREAMING:
        assert len(story.seen[user_id]) > 10
        missing = set(story.sent) - set(story.seen[user_id]) - set(places_of(told, user_id))
        assert not [place for place in missing if not story.was_cut_off(user_id, place)]
    unread = {place for place in story.sent if story.was_read(place) is None}
    assert unread - set(places_of(told, READER)) == set()


def expect_none_who_have_seen_it_in_time(story: Story, told: list[Any]) -> None:
    for user_id in STREAMING:
        in_time = {
            place
            for place, at in story.seen[user_id].items()
            if at < story.sent[place] + IN_TIME
            and not story.is_near_a_kill(at)
            and story.stayed(user_id, at)
        }
        assert in_time & set(places_of(told, user_id)) == set()
    for place in places_of(told, READER):
        at = story.was_read(place)
        assert at is None or at > story.sent[place] + IN_TIME


def expect_order(told: list[Any]) -> None:
    for user_id in {row["userId"] for row in told}:
        by_group = defaultdict(list)
        for group, seq in dict.fromkeys(places_of(told, user_id)):
            by_group[group].append(seq)
        assert all(seqs == sorted(seqs) for seqs in by_group.values())


def expect_duplicates_around_kills_only(story: Story, told: list[Any]) -> None:
    """A repetition has the same id, comes from another process, and a kill lies in between."""
    first: dict[str, Any] = {}
    repeated = 0
    for row in told:
        earlier = first.setdefault(row["id"], row)
        if earlier is not row:
            repeated += 1
            begin, end = (at.replace(tzinfo=UTC) for at in (earlier["at"], row["at"]))
            assert row["pid"] != earlier["pid"]
            assert any(begin - AROUND_A_KILL < at < end for at in story.kills)
    # What was under way when a process was killed, for at most five users.
    assert repeated <= 5 * len(story.kills)


def test_what_is_wrong_is_found() -> None:
    """The verdicts are not always green."""
    now = datetime.now(UTC)
    story = Story(sent={("c", 1): now, ("c", 2): now})
    rows = [
        {"userId": user_id, "conversationId": "c", "seq": seq, "id": f"{user_id}{seq}", "at": now}
        for user_id in (*AWAY, *STREAMING, READER)
        for seq in (2, 1)
    ]
    with pytest.raises(AssertionError):
        expect_order(rows)
    with pytest.raises(AssertionError):
        expect_all_who_have_not_seen_it(story, rows[:-1])
    story.seen["stream0"]["c", 1] = now
    with pytest.raises(AssertionError):
        expect_none_who_have_seen_it_in_time(story, rows)
    again = [{**row, "pid": 1} for row in (*rows, *rows)]
    with pytest.raises(AssertionError):
        expect_duplicates_around_kills_only(story, again)
