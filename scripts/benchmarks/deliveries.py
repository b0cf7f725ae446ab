"""Rows about live streams: the cost of a delivery, and the time until the last reader has it."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from statistics import median

from benchmarks.data import BODY, Place, places, put_conversations
from benchmarks.load import Connection, get, percentile, post
from benchmarks.processes import START_SECONDS, Child, child
from benchmarks.readers import BYTES, SSE, StreamKind
from benchmarks.stage import Meter, Stage, connected
from benchmarks.table import Figure, Figures, at_most, micros, ms, row, times

GROUPS = 4
STREAMS = 250
AT_ONCE = 100
WAIT_SECONDS = 10
FRAME_BYTES = 660
DRAFT_PARTS = StreamKind(event=b"event: draft.updated\n")


@dataclass(frozen=True, slots=True)
class Arrival:
    """The number of events so far, the time of the last one (monotonic), and bytes in all."""

    count: int
    seconds: float
    bytes: int


class Reading:
    """A process with open streams; it started to connect them at `began` (monotonic)."""

    def __init__(self, process: Child, began: float) -> None:
        self.began = began
        self._process = process

    async def wait_for(self, count: int, *, seconds: float = WAIT_SECONDS) -> Arrival:
        """Wait until `count` events have arrived since the start. TimeoutError after a while."""
        async with asyncio.timeout(seconds):
            said = (await self._process.ask(f"wait {count}")).split()
        return Arrival(int(said[0]), int(said[1]) / 1e9, int(said[2]))


@asynccontextmanager
async def reading(
    port: int,
    requests: Iterable[bytes],
    *,
    at_once: int = AT_ONCE,
    kind: StreamKind = SSE,
) -> AsyncIterator[Reading]:
    """One open stream per request, in a separate process that opens `at_once` at a time."""
    texts = [request.decode(BYTES) for request in requests]
    given = {"port": port, "requests": texts, "at_once": at_once, "kind": kind.as_json()}
    async with child("readers") as process, asyncio.timeout(2 * START_SECONDS) as starting:
        said = await process.ask(json.dumps(given))
        starting.reschedule(None)
        yield Reading(process, int(said.split()[1]) / 1e9)


def streams_of(user_ids: Iterable[str]) -> list[bytes]:
    """The requests that open one stream for each of these users."""
    return [get("/stream", user_id) for user_id in user_ids]


class Deliveries:
    """CPU per delivery: events are sent to all streams, one after the other."""

    def __init__(
        self, tell: Callable[[], Awaitable[object]], readers: Reading, streams: int
    ) -> None:
        self.cpu: list[float] = []
        self.bytes = 0.0
        self._tell = tell
        self._readers = readers
        self._streams = streams
        self._told = 0

    async def tell(self, count: int) -> Arrival:
        """Send `count` events, each time waiting until every stream has received it."""
        for _ in range(count):
            self._told += self._streams
            await self._tell()
            last = await self._readers.wait_for(self._told)
        return last

    async def run(self, meter: Callable[[], Meter], count: int) -> None:
        before = await self.tell(1)
        running = meter()
        after = await self.tell(count)
        self.cpu.append(running.seconds() / (count * self._streams))
        self.bytes = (after.bytes - before.bytes) / (count * self._streams)


@asynccontextmanager
async def writing(stage: Stage, size: int) -> AsyncIterator[tuple[Deliveries, Callable[[], Meter]]]:
    """Floor F3: `transport.write` of the same bytes to 1,000 sockets, and its CPU meter."""
    streams = GROUPS * STREAMS
    async with child("writer", stage.loop) as writer:
        port = int(await writer.say())
        async with reading(port, streams_of(map(str, range(streams)))) as readers:
            yield (
                Deliveries(lambda: writer.ask(f"write {size}"), readers, streams),
                lambda: Meter([writer.pid]),
            )


def posts_to(
    connections: Sequence[Connection], groups: Sequence[Place]
) -> Callable[[], Awaitable[object]]:
    """A message to every group, at once, from its last member, without a stream."""
    requests = [
        post(f"/conversations/{group.id}/messages", group.user_ids[-1], {"body": BODY})
        for group in groups
    ]

    async def tell() -> None:
        await asyncio.gather(
            *(
                connection.ask(request)
                for connection, request in zip(connections, requests, strict=True)
            )
        )

    return tell


@row("F3", "Floor: transport.write of the same bytes to 1,000 loopback sockets; CPU per socket")
async def measure_writes(stage: Stage) -> Figures:
    async with writing(stage, FRAME_BYTES) as (floor, meter):
        for _ in range(3):
            await floor.run(meter, stage.sized(120, 20))
    return {"CPU": micros(median(floor.cpu)), "bytes": Figure(floor.bytes)}


@row(
    "P4",
    "One message to 1,000 live streams (4 groups of 256, 250 streams each), posted through another "
    "process; CPU of the streams' process, feed included, against F3",
    at_most("÷ F3", 1.3),
    at_most("CPU/delivery", 11),
)
async def measure_deliveries(stage: Stage) -> Figures:
    groups = places("group", GROUPS, members=256)
    users = [user_id for group in groups for user_id in group.user_ids[:STREAMS]]
    count = stage.sized(120, 20)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("deliveries"))
        streaming, posting = await stack.enter_async_context(stage.services(database, 2))
        await put_conversations(database, groups)
        readers = await stack.enter_async_context(reading(streaming.port, streams_of(users)))
        connections = await stack.enter_async_context(connected([posting], GROUPS))
        chat = Deliveries(posts_to(connections, groups), readers, len(users))

        def meter() -> Meter:
            return stage.meter([streaming], mongod=False)

        await chat.run(meter, 5)
        floor, floor_meter = await stack.enter_async_context(writing(stage, round(chat.bytes)))
        chat.cpu.clear()
        for _ in range(stage.rounds):
            await chat.run(meter, count)
            await floor.run(floor_meter, count)
    ratio = median(a / b for a, b in zip(chat.cpu, floor.cpu, strict=True))
    return {
        "F3": micros(median(floor.cpu)),
        "bytes": Figure(chat.bytes),
        "÷ F3": times(ratio),
        "CPU/delivery": micros(median(chat.cpu)),
    }


@row(
    "P5",
    "One message to 256 readers, one at a time, on the sender's process: from the sender's "
    "response until the last reader has it",
    at_most("p50", 10),
    at_most("p99 ÷ p50", 3),
)
async def measure_last_reader(stage: Stage) -> Figures:
    (group,) = places("group", 1, members=256)
    request = post(f"/conversations/{group.id}/messages", group.user_ids[0], {"body": BODY})
    beyond: list[float] = []
    answers: list[float] = []
    async with (
        stage.database("readers") as database,
        stage.services(database) as services,
        connected(services) as (sender,),
    ):
        await put_conversations(database, [group])
        async with reading(services[0].port, streams_of(group.user_ids)) as readers:
            for told in itertools.count(1):
                if told > stage.sized(420, 120):
                    break
                began = time.monotonic()
                last = asyncio.ensure_future(readers.wait_for(told * len(group.user_ids)))
                await sender.ask(request)
                answered = time.monotonic()
                beyond.append(max(0.0, (await last).seconds - answered))
                answers.append(answered - began)
                await asyncio.sleep(0.005)
    p50, p99 = (percentile(beyond[20:], value) for value in (50, 99))
    return {
        "p99": ms(p99),
        "sender's answer p50": ms(percentile(answers[20:], 50)),
        "p50": ms(p50),
        "p99 ÷ p50": times(p99 / max(p50, 1e-6)),
    }


@row(
    "P18",
    "One part of a draft to 1,000 live streams (as P4), posted through another process: CPU of the "
    "streams' process, feed included, for each stream; and of the process that takes the part",
    at_most("CPU/delivery", 11),
)
async def measure_drafts(stage: Stage) -> Figures:
    groups = places("group", GROUPS, members=256)
    users = [user_id for group in groups for user_id in group.user_ids[:STREAMS]]
    count = stage.sized(60, 20)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("drafts"))
        streaming, posting = await stack.enter_async_context(stage.services(database, 2))
        await put_conversations(database, groups)
        readers = await stack.enter_async_context(
            reading(streaming.port, streams_of(users), kind=DRAFT_PARTS)
        )
        connections = await stack.enter_async_context(connected([posting], GROUPS))
        parts = await parts_to(connections, groups)
        chat = Deliveries(parts, readers, len(users))
        taken: list[float] = []
        for _ in range(stage.rounds):
            taking = stage.meter([posting], mongod=False)
            await chat.run(lambda: stage.meter([streaming], mongod=False), count)
            taken.append(taking.seconds() / ((count + 1) * GROUPS))
    return {
        "bytes": Figure(chat.bytes),
        "CPU/part": micros(median(taken)),
        "CPU/delivery": micros(median(chat.cpu)),
    }


async def parts_to(
    connections: Sequence[Connection], groups: Sequence[Place]
) -> Callable[[], Awaitable[object]]:
    """The next part of a draft to every group, at once, from its last member."""
    paths = [f"/conversations/{group.id}/drafts" for group in groups]
    writers = [group.user_ids[-1] for group in groups]
    drafts = [
        json.loads(await connection.ask(post(path, writer, {})))["draft"]["id"]
        for connection, path, writer in zip(connections, paths, writers, strict=True)
    ]
    numbers = itertools.count()

    async def tell() -> None:
        index = next(numbers)
        parts = (
            post(
                f"{path}/append", writer, {"draftId": draft, "index": index, "text": "a few words "}
            )
            for path, writer, draft in zip(paths, writers, drafts, strict=True)
        )
        await asyncio.gather(
            *(connection.ask(part) for connection, part in zip(connections, parts, strict=True))
        )

    return tell
