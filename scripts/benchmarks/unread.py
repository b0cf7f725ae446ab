"""Rows about the number of unread messages over all conversations."""

import asyncio
import json
import time
from contextlib import AsyncExitStack
from statistics import median

from benchmarks.data import Place, places, put_conversations
from benchmarks.deliveries import Deliveries, posts_to, reading, streams_of
from benchmarks.load import Connection, get
from benchmarks.processes import LoadFailed
from benchmarks.reads import places_of
from benchmarks.stage import Meter, Stage, connected
from benchmarks.table import Figure, Figures, at_most, micros, ms, row, times

CONVERSATIONS = 3_000
UNREAD_SHARE = 10
"""Every tenth conversation has an unread message."""

GROUPS = 20
CIRCLES = 4
"""The groups of members: five conversations have the same."""

IDLE_SHARE = 0.2
SETTLE_SECONDS = 120
USER = "user"


async def counted(connection: Connection, count: int, expected: int) -> None:
    for _ in range(count):
        totals = json.loads(await connection.ask(get("/unread", USER)))
        assert totals["all"]["messages"] == expected, totals


@row(
    "P22",
    "GET unread for a member of 3,000 conversations, 300 of them unread, without a stream and with "
    "one; CPU of service + mongod",
    at_most("CPU with a stream", 5),
)
async def measure_counts(stage: Stage) -> Figures:
    unread = CONVERSATIONS // UNREAD_SHARE
    messages = [int(number % UNREAD_SHARE == 0) for number in range(CONVERSATIONS)]
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("counts"))
        services = await stack.enter_async_context(
            stage.services(database, inbox=True, extra_events=True)
        )
        await put_conversations(database, places_of(USER, *messages))
        (connection,) = await stack.enter_async_context(connected(services))
        count = stage.sized(100, 20)

        async def cpu(meter: Meter, count: int) -> float:
            await counted(connection, count, unread)
            return meter.seconds() / count

        await counted(connection, 3, unread)
        service = await cpu(stage.meter(services, mongod=False), count)
        both = await cpu(stage.meter(services), count)
        await stack.enter_async_context(reading(services[0].port, streams_of([USER])))
        await counted(connection, 3, unread)
        followed = await cpu(stage.meter(services), 10 * count)
    return {
        "CPU of the service": ms(service),
        "CPU": ms(both),
        "CPU with a stream": ms(followed),
    }


class Side:
    """A streaming and a posting process of one kind, with all members of the groups live."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    async def open(self, stack: AsyncExitStack, name: str, *, inbox: bool) -> None:
        circles = places(name, CIRCLES, members=256)
        groups = [
            Place(f"{circle.id}-{number}", circle.user_ids)
            for number in range(GROUPS // CIRCLES)
            for circle in circles
        ]
        database = await stack.enter_async_context(self._stage.database(name))
        self._streaming, posting = await stack.enter_async_context(
            self._stage.services(database, 2, extra_events=True, inbox=inbox)
        )
        await put_conversations(database, groups)
        users = [user_id for circle in circles for user_id in circle.user_ids]
        readers = await stack.enter_async_context(reading(self._streaming.port, streams_of(users)))
        connections = await stack.enter_async_context(connected([posting], len(groups)))
        # A message to each group: five to each stream.
        heard = len(users) * GROUPS // CIRCLES
        self.deliveries = Deliveries(posts_to(connections, groups), readers, heard)

    async def settle(self) -> None:
        """Wait until all readers of a first message are counted, which happens once. Raises
        LoadFailed if they never are."""
        await self.deliveries.tell(1)
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline:
            running = self.meter()
            await asyncio.sleep(2)
            if running.seconds() < 2 * IDLE_SHARE:
                return
        raise LoadFailed(f"the readers were not counted within {SETTLE_SECONDS} s")

    def meter(self) -> Meter:
        return self._stage.meter([self._streaming])

    async def run(self, count: int) -> None:
        await self.deliveries.run(self.meter, count)


@row(
    "P22b",
    "Messages into 20 groups of 256, all members live (1,024 streams, each in five groups), posted "
    "through another process, with unread.updated against without; CPU of the streams' process + "
    "mongod",
    at_most("÷ without", 1.1),
)
async def measure_live_numbers(stage: Stage) -> Figures:
    async with AsyncExitStack() as stack:
        plain, following = Side(stage), Side(stage)
        await plain.open(stack, "plain", inbox=False)
        await following.open(stack, "following", inbox=True)
        count = stage.sized(20, 10)
        for side in (plain, following):
            await side.settle()
        for _ in range(stage.rounds):
            await plain.run(count)
            await following.run(count)
    ratio = median(
        a / b for a, b in zip(following.deliveries.cpu, plain.deliveries.cpu, strict=True)
    )
    return {
        "CPU/delivery without": micros(median(plain.deliveries.cpu)),
        "CPU/delivery": micros(median(following.deliveries.cpu)),
        "bytes without": Figure(plain.deliveries.bytes),
        "bytes": Figure(following.deliveries.bytes),
        "÷ without": times(ratio),
    }
