"""Rows about open streams: the memory of an idle one, and the delay of a busy one."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from benchmarks.data import BODY, Place, put_conversations
from benchmarks.deliveries import Reading, reading, streams_of
from benchmarks.floors import CALLERS
from benchmarks.load import get, paced, percentile, post
from benchmarks.processes import START_SECONDS, LoadFailed, child, resident_bytes
from benchmarks.readers import SSE, StreamKind
from benchmarks.reads import places_of
from benchmarks.stage import Service, Stage, connected
from benchmarks.table import Figure, Figures, at_least, at_most, micros, ms, rate, row
from chat_aio.live.frames import HEARTBEAT

STREAMS_PER_USER = 50
CONVERSATIONS_PER_USER = 4
HEARTBEAT_SECONDS = 15
GONE_SECONDS = 3
CALM_SECONDS = 1
EVENTS_PER_SECOND = 1_000
CONVERSATIONS = 1_000
LAG_SECONDS = 30


def neighbours_of(count: int) -> list[Place]:
    """`count` conversations of 4 neighbours on a circle of `count` users: every user is in 4."""
    users = [f"idle-{number:03}" for number in range(count)]
    return [
        Place(f"circle-{first:03}", tuple((users[first:] + users[:first])[:CONVERSATIONS_PER_USER]))
        for first in range(count)
    ]


@dataclass(frozen=True, slots=True)
class Held:
    """Open streams, and the main memory of their service without and with half of them; `readers`
    read the second half."""

    service: Service
    streams: int
    empty: int
    half: int
    readers: Reading

    @property
    def kib(self) -> float:
        """The memory of each stream now."""
        return (resident_bytes(self.service.pid) - self.empty) / 1024 / self.streams

    @property
    def kib_of_second_half(self) -> float:
        """The memory of each stream in the second half: shared objects existed before."""
        return (resident_bytes(self.service.pid) - self.half) / 512 / self.streams


@asynccontextmanager
async def held_open(
    service: Service, requests: Sequence[bytes], *, kind: StreamKind = SSE
) -> AsyncIterator[Held]:
    """Open these streams in two halves."""
    half, empty = len(requests) // 2, resident_bytes(service.pid)
    async with reading(service.port, requests[:half], kind=kind):
        await asyncio.sleep(CALM_SECONDS)
        with_half = resident_bytes(service.pid)
        async with reading(service.port, requests[half:], kind=kind) as readers:
            await asyncio.sleep(CALM_SECONDS)
            yield Held(service, len(requests), empty, with_half, readers)


@row(
    "P6",
    "5,000 idle streams, 50 of each of 100 users, in 4 conversations each, opened 100 at "
    "a time: growth of the process's memory (RSS), also by the second half of them, the rest "
    "after they are closed; all its CPU in 15 s, one heartbeat each",
    at_most("KiB/stream", 5),
    at_most("second half", 4),
    at_most("CPU/1,000", 1),
)
async def measure_idle_streams(stage: Stage) -> Figures:
    circle = neighbours_of(stage.sized(100, 20))
    users = [place.user_ids[0] for place in circle for _ in range(STREAMS_PER_USER)]
    async with stage.database("idle") as database, stage.services(database) as (service,):
        await put_conversations(database, circle)
        async with held_open(service, streams_of(users)) as held:
            before, meter = await held.readers.wait_for(0), stage.meter([service], mongod=False)
            await asyncio.sleep(HEARTBEAT_SECONDS)
            after, cpu = await held.readers.wait_for(0), meter.seconds()
            kib, kib_of_second_half = held.kib, held.kib_of_second_half
        await asyncio.sleep(GONE_SECONDS)
        left = resident_bytes(service.pid) - held.empty
    beats = 2 * (after.bytes - before.bytes) / len(HEARTBEAT.chunk) / len(users)
    if beats < 1:
        raise LoadFailed(f"{beats:.2f} heartbeats in {HEARTBEAT_SECONDS} s")
    return {
        "streams": Figure(len(users)),
        "heartbeats": Figure(beats),
        "CPU": ms(cpu),
        "process without streams": Figure(held.empty / 2**20, "MiB"),
        "KiB/stream": Figure(kib),
        "second half": Figure(kib_of_second_half, "KiB/stream"),
        "left": Figure(left / 2**20, "MiB"),
        "CPU/1,000": Figure(100 * cpu / HEARTBEAT_SECONDS / len(users) * 1_000, "%"),
    }


@row(
    "P13",
    "Feed: 1,000 messages/s, sent evenly through one process, delivered by another one to a "
    "member of all 1,000 conversations of 4; lag from createdAt until it is read, the commit "
    "included; CPU of the delivering process",
    at_least("events", 950),
    at_most("lag p99", 100),
    at_most("CPU/event", 80),
)
async def measure_lag(stage: Stage) -> Figures:
    found, count = places_of("watcher", *[0] * CONVERSATIONS), stage.sized(5_000, 3_000)
    requests = itertools.cycle(
        post(f"/conversations/{place.id}/messages", place.user_ids[1], {"body": BODY})
        for place in found
    )
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("feed"))
        telling, posting = await stack.enter_async_context(stage.services(database, 2))
        await put_conversations(database, found)
        connections = await stack.enter_async_context(connected([posting], CALLERS))
        watcher = await stack.enter_async_context(child("watcher"))
        request = get("/stream", "watcher").decode()
        async with asyncio.timeout(START_SECONDS):
            await watcher.ask(json.dumps({"port": telling.port, "request": request}))
        for number in (CONVERSATIONS, count):  # First each conversation once, not counted.
            meter = stage.meter([telling], mongod=False)
            lags = asyncio.ensure_future(watcher.ask(str(number)))
            sent = await paced(connections, requests, count=number, per_second=EVENTS_PER_SECOND)
            p50, p99, most = map(float, (await asyncio.wait_for(lags, LAG_SECONDS)).split())
            cpu = meter.seconds() / number
    return {
        "events": rate(sent.rate),
        "lag p50": ms(p50),
        "most": ms(most),
        "answer p99": ms(percentile(sent.latencies, 99)),
        "lag p99": ms(p99),
        "CPU/event": micros(cpu),
    }
