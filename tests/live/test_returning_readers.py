"""Readers that come back at random, to processes that remember little or nothing: live and replay
together are complete (R3 in small)."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.conftest import Database, MakePeople
from tests.support.ageing import age
from tests.support.people import Frame, Person

GROUPS = 5
WRITERS = 4
READERS = 8
TURNS = 40
LAST = "the last one"


class Reader:
    """What somebody has made of all that they were told."""

    def __init__(self, user_id: str, *, seed: int) -> None:
        self.user_id = user_id
        self.random = random.Random(seed)
        self.position: str | None = None
        self.messages: dict[str, Any] = {}
        self.lasts = 0
        self.resets = 0

    async def follow(self, places: list[Callable[[str], Person]]) -> None:
        """Come and go until every conversation has said its last."""
        while self.lasts < GROUPS:
            place = self.random.choice(places)
            async with place(self.user_id).tab(self.position) as tab:
                patience = self.random.randrange(3, 60)
                created: Counter[str] = Counter()
                while self.lasts < GROUPS and patience:
                    frame = await tab.next()
                    self.position = tab.last_event_id
                    self.take(frame, created)
                    patience -= 1
                assert set(created.values()) <= {1}, created

    def take(self, frame: Frame, created: Counter[str]) -> None:
        if frame.event == "stream.reset":
            self.resets += 1
        if frame.event is None or "message" not in frame.data:
            return
        message = frame.data["message"]
        if frame.event == "message.created":
            created[message["id"]] += 1
        self.messages[message["id"]] = message
        bodies = Counter(kept["body"] for kept in self.messages.values())
        self.lasts = bodies[LAST]


async def write(person: Callable[[str], Person], number: int, groups: list[str]) -> None:
    writer, chance = person(f"writer {number}"), random.Random(number)
    sent: list[str] = []
    for turn in range(TURNS):
        deed = chance.random()
        if deed < 0.6 or not sent:
            message = await writer.send(chance.choice(groups), f"{number}.{turn}")
            sent.append(message["id"])
        elif deed < 0.8:
            await writer.edit(chance.choice(sent), f"{number}.{turn}, edited")
        else:
            await writer.delete(sent.pop(chance.randrange(len(sent))))


async def test_nothing_is_missed_or_told_to_strangers(
    serve: MakePeople, database: Database
) -> None:
    """Of three processes one remembers much, one little, and one nothing."""
    places = [
        await serve(replay_buffer_seconds=60),
        await serve(replay_buffer_seconds=0, replay_buffer_events=3),
        await serve(replay_buffer_seconds=0, replay_buffer_bytes=1),
    ]
    writers = [f"writer {number}" for number in range(WRITERS)]
    readers = [Reader(f"reader {number}", seed=number) for number in range(READERS)]
    ids = [reader.user_id for reader in readers]
    host = places[0]("host")
    groups = [await host.group(*writers, *ids) for _ in range(GROUPS)]
    secret = await host.group(*writers)
    await age(database)
    for reader in readers:
        async with places[1](reader.user_id).tab() as tab:
            await host.send(groups[0], "the first one")
            while "body" not in str((await tab.next()).data):
                pass
            reader.position = tab.last_event_id
            assert reader.position

    following = [asyncio.create_task(reader.follow(places)) for reader in readers]
    await asyncio.gather(
        *(
            write(places[number % 3], number, [*groups, secret] if number else [secret])
            for number in range(WRITERS)
        )
    )
    for group in groups:
        await host.send(group, LAST)
    async with asyncio.timeout(60):
        await asyncio.gather(*following)

    stored = {
        message["_id"]: message
        async for message in database["messages"].find({"conversationId": {"$in": groups}})
    }
    first = {key for key, message in stored.items() if message["body"] == "the first one"}
    for reader in readers:
        assert reader.resets == 0
        assert set(reader.messages) | first == set(stored)
        for key, message in reader.messages.items():
            assert message["body"] == stored[key]["body"]
            assert (message["deletedAt"] is None) == (stored[key]["deletedAt"] is None)
