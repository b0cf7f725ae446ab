"""Rows about read states."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from statistics import median

from benchmarks.data import BODY, Place, places, put_conversations
from benchmarks.floors import CALLERS
from benchmarks.load import Callers, Connection, percentile, post
from benchmarks.stage import Service, Stage, connected
from benchmarks.table import Figures, at_most, micros, ms, rate, row, times

MESSAGES = 20


class Marking:
    """A group whose members all mark the same new messages read."""

    def __init__(self, stage: Stage, group: Place, services: list[Service]) -> None:
        self.cpu: list[float] = []
        self.rates: list[float] = []
        self._stage = stage
        self._group = group
        self._services = services
        self._path = f"/conversations/{group.id}"

    @property
    def send(self) -> bytes:
        """The request of another message by the first member."""
        return post(f"{self._path}/messages", self._group.user_ids[0], {"body": BODY})

    async def run(self, sender: Connection, connections: list[Connection]) -> None:
        """255 members mark each of 20 new messages as read."""
        answers = [json.loads(await sender.ask(self.send)) for _ in range(MESSAGES)]
        callers = Callers(connections, self._marks([answer["message"]["id"] for answer in answers]))
        meter = self._stage.meter(self._services)
        done = await callers.run(60)
        self.cpu.append(meter.seconds() / len(done.latencies))
        self.rates.append(done.rate)

    def _marks(self, message_ids: list[str]) -> Iterator[bytes]:
        for message_id in message_ids:
            for user_id in self._group.user_ids[1:]:
                yield post(f"{self._path}/read", user_id, {"messageId": message_id})


@row(
    "P14",
    "POST read: 255 members mark each of 20 messages, 64 callers; CPU of service + mongod, HTTP "
    "included; then one sender into it at the same time, against the same alone",
    at_most("CPU/mark", 120),
    at_most("send p99 ÷ alone", 2),
)
async def measure_marks(stage: Stage) -> Figures:
    (group,) = places("group", 1, members=256)
    alone: list[float] = []
    beside: list[float] = []
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(stage.database("marks"))
        services = await stack.enter_async_context(stage.services(database))
        await put_conversations(database, [group])
        (sender,) = await stack.enter_async_context(connected(services))
        connections = await stack.enter_async_context(connected(services, CALLERS))
        quietly, busily = (Marking(stage, group, services) for _ in range(2))
        for _ in range(stage.rounds):
            await quietly.run(sender, connections)
            alone += [await sender.timed(quietly.send) for _ in range(100)]
            (other,) = await stack.enter_async_context(connected(services))
            marking = asyncio.create_task(busily.run(other, connections))
            while not marking.done():
                beside.append(await sender.timed(busily.send))
            await marking
    return {
        "marks": rate(median(quietly.rates)),
        "send p99 alone": ms(percentile(alone, 99)),
        "meanwhile": ms(percentile(beside, 99)),
        "p50 alone": ms(percentile(alone, 50)),
        "p50 meanwhile": ms(percentile(beside, 50)),
        "CPU/mark": micros(median(quietly.cpu)),
        "send p99 ÷ alone": times(percentile(beside, 99) / percentile(alone, 99)),
    }
