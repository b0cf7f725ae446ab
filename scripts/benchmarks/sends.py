"""Rows about sending: throughput, latency, several processes."""

import asyncio
import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from statistics import median

from benchmarks.data import BODY, Place, places, put_conversations
from benchmarks.floors import CALLERS, naive_round, plain_database
from benchmarks.load import Callers, Connection, Round, middle_percentile, percentile, post
from benchmarks.processes import resting
from benchmarks.stage import Service, Stage, connected
from benchmarks.table import Figures, at_least, at_most, micros, ms, rate, row, times

PROCESSES = 4
QUIET_PAUSE_SECONDS = 0.02


def sends_into(found: Iterable[Place]) -> Iterator[bytes]:
    """Endless POSTs of a message: every member of every conversation in turn, shuffled."""
    requests = [
        post(f"/conversations/{place.id}/messages", user_id, {"body": BODY})
        for place in found
        for user_id in place.user_ids
    ]
    random.Random(1).shuffle(requests)
    return itertools.cycle(requests)


class MeasuredCallers:
    """Callers of some services, round by round: rates, latencies, CPU per answer."""

    def __init__(self, stage: Stage, services: Sequence[Service], callers: Callers) -> None:
        self.services = services
        self.rounds: list[Round] = []
        self.cpu: list[float] = []
        self.cpu_of_services: list[float] = []
        self._stage = stage
        self._callers = callers

    @classmethod
    async def begun(
        cls,
        stack: AsyncExitStack,
        stage: Stage,
        services: Sequence[Service],
        found: Iterable[Place],
        *,
        callers: int = CALLERS,
    ) -> "MeasuredCallers":
        """Callers that send into these conversations."""
        connections = await stack.enter_async_context(connected(services, callers))
        return cls(stage, services, Callers(connections, sends_into(found)))

    async def run(self) -> None:
        """One round: answers per second, their latencies, CPU of services and mongod."""
        await self._callers.warm()
        both = self._stage.meter(self.services)
        own = self._stage.meter(self.services, mongod=False)
        done = await self._callers.run(self._stage.seconds)
        self.cpu.append(both.seconds() / len(done.latencies))
        self.cpu_of_services.append(own.seconds() / len(done.latencies))
        self.rounds.append(done)

    @property
    def rate(self) -> float:
        return median(measured.rate for measured in self.rounds)

    def percentile(self, percent: float) -> float:
        return middle_percentile(self.rounds, percent)

    @property
    def tail(self) -> float:
        """p99 ÷ p50."""
        return self.percentile(99) / self.percentile(50)


def median_ratio(above: Sequence[Round], below: Sequence[Round]) -> float:
    """The median of the ratios of rounds that ran side by side."""
    return median(a.rate / b.rate for a, b in zip(above, below, strict=True))


@row(
    "L1",
    "POST message: one sender, one at a time, otherwise idle; CPU of service + mongod",
)
async def measure_single_sender(stage: Stage) -> Figures:
    async with (
        stage.database("single") as database,
        stage.services(database) as services,
        connected(services) as (connection,),
    ):
        await put_conversations(database, found := places("single", 1))
        requests = sends_into(found)
        for _ in range(20):
            await connection.ask(next(requests))
        both, own = stage.meter(services), stage.meter(services, mongod=False)
        count = stage.sized(600, 150)
        latencies = [await connection.timed(next(requests)) for _ in range(count)]
        cpu, cpu_of_service = both.seconds() / count, own.seconds() / count
    return {
        "p50": ms(percentile(latencies, 50)),
        "p99": ms(percentile(latencies, 99)),
        "CPU/send": micros(cpu),
        "service's part": micros(cpu_of_service),
    }


@row(
    "P1",
    "POST message: 64 callers over HTTP, 1,000 conversations of 4, against naive sends (F5) of 64 "
    "callers without HTTP; CPU of service + mongod",
    at_least("÷ F5", 2.0),
    at_most("CPU/send", 800),
)
async def measure_spread_sends(stage: Stage) -> Figures:
    found, naive = places("spread", 1_000), []
    async with AsyncExitStack() as stack:
        plain = await stack.enter_async_context(plain_database(stage, "naive"))
        database = await stack.enter_async_context(stage.database("spread"))
        services = await stack.enter_async_context(stage.services(database))
        for target in (plain, database):
            await put_conversations(target, found)
        turns = itertools.cycle(found)
        sending = await MeasuredCallers.begun(stack, stage, services, found)
        for _ in range(stage.rounds):
            with resting(service.pid for service in services):
                naive.append(await naive_round(plain, turns, seconds=stage.seconds))
            await sending.run()
    return {
        "sends": rate(sending.rate),
        "F5": rate(median(measured.rate for measured in naive)),
        "p50": ms(sending.percentile(50)),
        "p99": ms(sending.percentile(99)),
        "F5 p50": ms(middle_percentile(naive, 50)),
        "service's part": micros(median(sending.cpu_of_services)),
        "÷ F5": times(median_ratio(sending.rounds, naive)),
        "CPU/send": micros(median(sending.cpu)),
    }


@row(
    "P2",
    "The same into one conversation, against P1 on the same process",
    at_least("÷ P1", 1.0),
    at_most("p99 ÷ p50", 4),
)
async def measure_hot_sends(stage: Stage) -> Figures:
    found, (hot,) = places("spread", 1_000), places("hot", 1)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("hot"))
        services = await stack.enter_async_context(stage.services(database))
        await put_conversations(database, [*found, hot])
        spread = await MeasuredCallers.begun(stack, stage, services, found)
        into_one = await MeasuredCallers.begun(stack, stage, services, [hot])
        for _ in range(stage.rounds):
            await spread.run()
            await into_one.run()
    return {
        "sends": rate(into_one.rate),
        "P1": rate(spread.rate),
        "p50": ms(into_one.percentile(50)),
        "p99": ms(into_one.percentile(99)),
        "CPU/send": micros(median(into_one.cpu)),
        "÷ P1": times(median_ratio(into_one.rounds, spread.rounds)),
        "p99 ÷ p50": times(into_one.tail),
    }


async def _many_and_one(
    stack: AsyncExitStack, stage: Stage, found: Sequence[Place]
) -> tuple[MeasuredCallers, MeasuredCallers]:
    """The same load on four processes and on one, in turns; the others rest."""
    sides: list[MeasuredCallers] = []
    for count in (PROCESSES, 1):
        database = await stack.enter_async_context(stage.database(f"by_{count}"))
        services = await stack.enter_async_context(stage.services(database, count))
        await put_conversations(database, found)
        sides.append(await MeasuredCallers.begun(stack, stage, services, found))
    many, one = sides
    for _ in range(stage.rounds):
        for side, other in ((many, one), (one, many)):
            with resting(service.pid for service in other.services):
                await side.run()
    return many, one


@row(
    "P3",
    "The same into one conversation through 4 processes (64 callers in all), against one process",
    at_least("÷ one", 1.0),
    at_most("p99 ÷ p50", 10),
)
async def measure_hot_processes(stage: Stage) -> Figures:
    async with AsyncExitStack() as stack:
        return _against_one(*await _many_and_one(stack, stage, places("hot", 1)))


@row(
    "P3b",
    "4 processes, 64 callers over 1,000 conversations, against one process; then one quiet sender "
    "(every 20 ms) next to a conversation as hot as in P3, against the same alone",
    at_least("÷ one", 0.9),
    at_most("p99 ÷ p50", 10),
    at_most("quiet p99 ÷ alone", 3),
)
async def measure_spread_processes(stage: Stage) -> Figures:
    async with AsyncExitStack() as stack:
        figures = _against_one(*await _many_and_one(stack, stage, places("spread", 1_000)))
    return {**figures, **await _quiet_beside_hot(stage)}


def _against_one(many: MeasuredCallers, one: MeasuredCallers) -> Figures:
    return {
        "4 processes": rate(many.rate),
        "one": rate(one.rate),
        "p50": ms(many.percentile(50)),
        "p99": ms(many.percentile(99)),
        "CPU/send": micros(median(many.cpu)),
        "of one": micros(median(one.cpu)),
        "÷ one": times(median_ratio(many.rounds, one.rounds)),
        "p99 ÷ p50": times(many.tail),
    }


async def _quiet_beside_hot(stage: Stage) -> Figures:
    (hot,), (quiet,) = places("hot", 1), places("quiet", 1)
    alone: list[float] = []
    beside: list[float] = []
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("quiet"))
        services = await stack.enter_async_context(stage.services(database, PROCESSES))
        (connection,) = await stack.enter_async_context(connected(services))
        await put_conversations(database, [hot, quiet])
        sending = await MeasuredCallers.begun(stack, stage, services, [hot])
        requests = sends_into([quiet])
        for _ in range(stage.rounds):
            alone += await _send_quietly(connection, requests, seconds=stage.seconds)
            heat = asyncio.create_task(sending.run())
            beside += await _send_quietly(connection, requests, seconds=stage.seconds)
            await heat
    return {
        "quiet p50 alone": ms(percentile(alone, 50)),
        "p99 alone": ms(percentile(alone, 99)),
        "beside": ms(percentile(beside, 99)),
        "quiet p99 ÷ alone": times(percentile(beside, 99) / percentile(alone, 99)),
    }


async def _send_quietly(
    connection: Connection, requests: Iterator[bytes], *, seconds: float
) -> list[float]:
    loop = asyncio.get_running_loop()
    latencies, until = [], loop.time() + seconds
    while loop.time() < until:
        latencies.append(await connection.timed(next(requests)))
        await asyncio.sleep(QUIET_PAUSE_SECONDS)
    return latencies
