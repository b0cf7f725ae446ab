"""Rows about groups: the cost of their size for a send, and the wait of a change for sends."""

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from statistics import median

from benchmarks.data import Place, places, put_conversations
from benchmarks.floors import CALLERS
from benchmarks.load import Callers, Connection, Round, patch, percentile
from benchmarks.sends import MeasuredCallers, sends_into
from benchmarks.stage import Stage, connected
from benchmarks.table import Figure, Figures, at_most, micros, ms, rate, row, times

PROCESSES = 2
CHANGES_SECONDS = 15


@row(
    "P10",
    "POST message into a group of 256 against one of 2, 64 callers as its members in turn, no "
    "streams open; CPU of service + mongod",
    at_most("CPU ÷ of 2", 1.3),
)
async def measure_group_sizes(stage: Stage) -> Figures:
    (group,), (pair,) = places("group", 1, members=256), places("pair", 1, members=2)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("sizes"))
        services = await stack.enter_async_context(stage.services(database))
        await put_conversations(database, [group, pair])
        large = await MeasuredCallers.begun(stack, stage, services, [group])
        small = await MeasuredCallers.begun(stack, stage, services, [pair])
        for number in range(stage.sized(4, 2)):
            for side in (large, small) if number % 2 else (small, large):
                await side.run()
    ratio = median(a / b for a, b in zip(large.cpu, small.cpu, strict=True))
    return {
        "sends": rate(large.rate),
        "into 2": rate(small.rate),
        "p50": ms(large.percentile(50)),
        "p50 into 2": ms(small.percentile(50)),
        "CPU/send": micros(median(large.cpu)),
        "CPU/send into 2": micros(median(small.cpu)),
        "CPU ÷ of 2": times(ratio),
    }


class Roles:
    """Makes the last member of a group an admin and a member again, in its admin's name, one change
    after the other, through each connection in turn."""

    def __init__(self, group: Place, connections: Sequence[Connection]) -> None:
        path, user_id = f"/conversations/{group.id}/participants", group.user_ids[-1]
        requests = [
            patch(path, group.user_ids[0], {"userId": user_id, "role": role})
            for role in ("admin", "member")
        ]
        self._requests = itertools.cycle(requests)
        self._connections = itertools.cycle(connections)

    async def change(self, count: int) -> list[float]:
        """The seconds of the changes, until there are `count` of them or the time is over."""
        loop = asyncio.get_running_loop()
        taken, until = list[float](), loop.time() + CHANGES_SECONDS
        while len(taken) < count and loop.time() < until:
            taken.append(await next(self._connections).timed(next(self._requests)))
        return taken


async def change_beside(
    roles: Roles, count: int, connections: Sequence[Connection], requests: Iterator[bytes]
) -> tuple[list[float], Round]:
    """Changes during saturating sends, and the results of these sends until the last change."""
    over = asyncio.Event()
    callers = Callers(connections, itertools.takewhile(lambda _: not over.is_set(), requests))
    await callers.warm()
    sending = asyncio.create_task(callers.run(2 * CHANGES_SECONDS))
    try:
        taken = await roles.change(count)
    finally:
        over.set()
        sent = await sending
    return taken, sent


@row(
    "P15",
    "100 role changes of a conversation, one after the other, through 2 processes in turn, while "
    "both send into it for 64 callers; the same changes alone",
    at_most("worst", 1_000),
)
async def measure_role_changes(stage: Stage) -> Figures:
    (group,), count = places("hot", 1), stage.sized(100, 30)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("roles"))
        services = await stack.enter_async_context(stage.services(database, PROCESSES))
        await put_conversations(database, [group])
        roles = Roles(group, await stack.enter_async_context(connected(services, PROCESSES)))
        connections = await stack.enter_async_context(connected(services, PROCESSES * CALLERS))
        alone = await roles.change(count)
        before = await Callers(connections, sends_into([group])).run(stage.seconds)
        taken, sent = await change_beside(roles, count, connections, sends_into([group]))
    return {
        "changes": Figure(len(taken)),
        "p50": ms(percentile(taken, 50)),
        "p99": ms(percentile(taken, 99)),
        "p50 alone": ms(percentile(alone, 50)),
        "sends meanwhile": rate(sent.rate),
        "sends alone": rate(before.rate),
        "worst": ms(max(taken)),
    }
