"""Rows about further processes: their cost if they only read, and if they share the sends."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import median

from benchmarks.data import places, put_conversations
from benchmarks.deliveries import reading, streams_of
from benchmarks.load import Callers
from benchmarks.sends import MeasuredCallers, sends_into
from benchmarks.stage import Service, Stage, connected
from benchmarks.table import Figure, Figures, at_most, micros, row, times

FURTHER = 3
CALLERS = 16
COUNTS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of CPU per message: of all processes that are measured, and of mongod."""

    processes: float
    mongod: float


async def _cost(stage: Stage, callers: Callers, services: Sequence[Service]) -> Cost:
    """The median of some rounds."""
    processes, mongod = [], []
    for _ in range(stage.rounds):
        await callers.warm()
        theirs, its = stage.meter(services, mongod=False), stage.meter([])
        count = len((await callers.run(stage.seconds)).latencies)
        processes.append(theirs.seconds() / count)
        mongod.append(its.seconds() / count)
    return Cost(median(processes), median(mongod))


@row(
    "P3c",
    f"{CALLERS} callers send over 1,000 conversations to one process: CPU per message for each of "
    f"{FURTHER} further processes that get no requests, in the process and in mongod; first "
    "without streams, then with a stream each that hears nothing",
)
async def measure_further_processes(stage: Stage) -> Figures:
    found, (quiet,) = places("spread", 1_000), places("quiet", 1)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("further"))
        services = await stack.enter_async_context(stage.services(database))
        await put_conversations(database, [*found, quiet])
        connections = await stack.enter_async_context(connected(services, CALLERS))
        callers = Callers(connections, sends_into(found))
        alone = await _cost(stage, callers, ())
        further = await stack.enter_async_context(stage.services(database, FURTHER))
        silent = await _cost(stage, callers, further)
        for service, user_id in zip(further, quiet.user_ids, strict=False):
            await stack.enter_async_context(reading(service.port, streams_of([user_id])))
        streaming = await _cost(stage, callers, further)
    return {
        "mongod alone": micros(alone.mongod),
        "process": micros(silent.processes / FURTHER),
        "its part of mongod": micros((silent.mongod - alone.mongod) / FURTHER),
        "process with a stream": micros(streaming.processes / FURTHER),
        "its part of mongod then": micros((streaming.mongod - alone.mongod) / FURTHER),
    }


@row(
    "P3d",
    "64 callers over 1,000 conversations through 1, 2, 4 and 8 processes: CPU of all of them and "
    "mongod per message, against one",
    at_most("2 ÷ one", 1.15),
    at_most("4 ÷ one", 1.4),
)
async def measure_shared_sends(stage: Stage) -> Figures:
    found = places("spread", 1_000)
    figures: dict[str, Figure] = {}
    services: list[Service] = []
    one = 0.0
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("shared"))
        for count in COUNTS:
            missing = count - len(services)
            services += await stack.enter_async_context(stage.services(database, missing))
            if count == 1:
                await put_conversations(database, found)
            async with AsyncExitStack() as calling:
                sending = await MeasuredCallers.begun(calling, stage, services, found)
                for _ in range(stage.rounds):
                    await sending.run()
            cpu, own = median(sending.cpu), median(sending.cpu_of_services)
            figures |= {f"{count}": micros(cpu), f"mongod with {count}": micros(cpu - own)}
            one = one or cpu
            if count > 1:
                figures[f"{count} ÷ one"] = times(cpu / one)
    return figures
