"""Who talks to whom while things go wrong, from the first message to the last."""

import asyncio
import random
from collections.abc import Iterable
from typing import Any

from aiohttp import ClientSession

from tests.scenarios.chaos import verdict
from tests.scenarios.chaos.calls import Book, Caller
from tests.scenarios.chaos.faults import Faults
from tests.scenarios.chaos.readers import Reader
from tests.scenarios.chaos.service import Service
from tests.scenarios.chaos.turnover import HOST, Turnover
from tests.scenarios.chaos.writers import Writer
from tests.support.replica_set import ReplicaSet

WRITERS = 16
READERS_IN_EACH = 10
READ_BY_EACH = 2
WANDERERS = 3
OUTLAWS = 2
CATCH_UP_SECONDS = 60
STAY_SECONDS = 0.15
"""For each reader there is: however many they are, as many come back in a second."""


class World:
    """`readers` in `groups`, each in two of them; wanderers come and go in one more; and in the
    last there are writers only."""

    def __init__(
        self,
        members: ReplicaSet,
        services: list[Service],
        session: ClientSession,
        *,
        readers: int,
        seed: int,
    ) -> None:
        self.book = Book()
        self.faults = Faults(members, services, self.book, seed=seed)
        self._caller = Caller(session, services, self.book, random.Random(seed))
        self._seed = seed
        self._chance = random.Random(seed)
        self._reader_ids = [f"reader {number}" for number in range(readers)]
        self._writer_ids = [f"writer {number}" for number in range(WRITERS)]
        self._homes: dict[str, list[str]] = {}
        self.readers: list[Reader] = []

    async def live(self, seconds: float) -> None:
        """All kinds of faults once, or any of them for so many seconds; then let all catch up."""
        await self._make_groups()
        async with asyncio.TaskGroup() as tasks:
            await asyncio.gather(*(reader.begin() for reader in self.readers))
            following = [tasks.create_task(reader.follow()) for reader in self.readers]
            await self._live_through(seconds)
            await self._say_goodbye()
            await asyncio.wait(following, timeout=CATCH_UP_SECONDS)
            for task in following:
                task.cancel()

    async def judge(self, database: Any) -> list[str]:
        """What does not hold."""
        stored = {message["_id"]: message async for message in database["messages"].find()}
        found = verdict.of_storage(stored, self.book)
        for reader in self.readers:
            expected = self._expected(reader, stored)
            assert expected
            found += verdict.of_reader(reader, stored, expected)
        for user_id in (*self._reader_ids, *self._writer_ids):
            found += await verdict.of_unread(user_id, self._caller, database)
        return found

    def figures(self) -> dict[str, float]:
        return {
            "sends acknowledged": len(self.book.sent),
            "calls repeated": self.book.repeats,
            "connections of readers": sum(reader.connections for reader in self.readers),
            "resets": sum(reader.resets for reader in self.readers),
            "membership changes": self._turnover.changes,
            "faults": self.faults.count,
            "failovers": self.faults.failovers,
            "longest time without an acknowledgement": round(self.book.longest_silence, 1),
        }

    async def _make_groups(self) -> None:
        readers = self._reader_ids
        count = max(2, len(readers) * READ_BY_EACH // READERS_IN_EACH)
        members: list[list[str]] = [[] for _ in range(count)]
        for user_id in readers:
            for group in self._chance.sample(members, READ_BY_EACH):
                group.append(user_id)
        groups = [await self._make_group(of_group) for of_group in members]
        homes = list(zip(groups, members, strict=True))
        self._homes = {
            reader: [one for one, inside in homes if reader in inside] for reader in readers
        }
        self._roamed, secret = await self._make_group([]), await self._make_group([])
        self._groups = [*groups, self._roamed, secret]
        self._writers = [
            Writer(user_id, self._caller, self._groups, seed=self._seed + number)
            for number, user_id in enumerate([*self._writer_ids, HOST])
        ]
        self._host = self._writers.pop()
        for each_group in self._groups:
            await self._host.send(each_group)
        self.readers = [self._make_reader(number) for number in range(len(readers))]
        self._turnover = Turnover(
            self._caller,
            self._roamed,
            wanderers=self.readers[:WANDERERS],
            outlaws=self.readers[WANDERERS : WANDERERS + OUTLAWS],
            seed=self._seed,
        )

    async def _make_group(self, user_ids: Iterable[str]) -> str:
        inside = {"userIds": [*self._writer_ids, *user_ids]}
        made = await self._caller.call(HOST, "POST", "/conversations/group", inside)
        return str(made["conversation"]["id"])

    def _make_reader(self, number: int) -> Reader:
        user_id = self._reader_ids[number]
        allowed = [*self._homes[user_id], *([self._roamed] if number < WANDERERS else [])]
        steady = number >= WANDERERS + OUTLAWS
        return Reader(
            user_id,
            self._caller,
            allowed,
            seed=self._seed + number,
            stay=len(self._reader_ids) * STAY_SECONDS,
            steady=steady,
        )

    async def _live_through(self, seconds: float) -> None:
        async with asyncio.TaskGroup() as tasks:
            for writer in self._writers:
                tasks.create_task(writer.write())
            tasks.create_task(self._turnover.turn_over())
            await (self.faults.for_seconds(seconds) if seconds else self.faults.each_once())
            for writer in self._writers:
                writer.stop()
            self._turnover.stop()

    async def _say_goodbye(self) -> None:
        """The last message of each conversation, which every reader waits for."""
        last = {group: (await self._host.send(group)).message_id for group in self._groups}
        for reader in self.readers:
            present = [*self._homes[reader.user_id]]
            if reader.user_id in self._turnover.joined:
                present.append(self._roamed)
            reader.finish(last[group] for group in present)

    def _expected(self, reader: Reader, stored: verdict.Stored) -> list[str]:
        """All behind the first message; of the conversation wandered in, what was sent since."""
        joined = self._turnover.joined.get(reader.user_id)
        homes = self._homes[reader.user_id]
        return [
            message_id
            for message_id, message in stored.items()
            if (message["conversationId"] in homes and message["seq"] > 1)
            or (
                joined is not None
                and message["conversationId"] == self._roamed
                and self.book.began[message["clientMessageId"]] > joined
            )
        ]
