"""The row about other programs' writes, which every change stream of the replica set reads."""

import time
from contextlib import AsyncExitStack
from statistics import median
from typing import Any

from benchmarks.data import places, put_conversations
from benchmarks.deliveries import reading, streams_of
from benchmarks.stage import BenchDatabase, Stage
from benchmarks.table import Figures, at_most, micros, rate, row

PROCESSES = 4
BATCH = 20
DOCUMENT = {"kind": "order", "total": 12.5, "text": "x" * 300}


class Orders:
    """A program that writes its own documents, in batches, for a while."""

    def __init__(self, stage: Stage, database: BenchDatabase) -> None:
        self.cpu: list[float] = []
        self.rates: list[float] = []
        self._stage = stage
        self._orders = database["orders"]

    async def write(self) -> None:
        """Note mongod's CPU per document."""
        meter, began = self._stage.meter([]), time.monotonic()
        count = 0
        while time.monotonic() < began + 2 * self._stage.seconds:
            documents: list[dict[str, Any]] = [dict(DOCUMENT) for _ in range(BATCH)]
            await self._orders.insert_many(documents, ordered=False)
            count += BATCH
        self.cpu.append(meter.seconds() / count)
        self.rates.append(count / (time.monotonic() - began))


@row(
    "P24",
    "A program writes documents into another database of the replica set, in batches of 20: "
    f"mongod's CPU for each document, with {PROCESSES} service processes that have a stream each, "
    "against the same without them; per process",
    at_most("for each change stream", 10),
)
async def measure_writes_of_others(stage: Stage) -> Figures:
    async with stage.database("chat_beside") as chat, stage.database("orders") as orders:
        (group,) = places("group", 1, members=PROCESSES)
        alone, beside = Orders(stage, orders), Orders(stage, orders)
        async with stage.services(chat):
            await put_conversations(chat, [group])
        await Orders(stage, orders).write()  # Warms up both.
        for _ in range(stage.rounds):
            await alone.write()
            async with AsyncExitStack() as stack:
                services = await stack.enter_async_context(stage.services(chat, PROCESSES))
                for service, user_id in zip(services, group.user_ids, strict=True):
                    await stack.enter_async_context(reading(service.port, streams_of([user_id])))
                await beside.write()
    more = median(beside.cpu) - median(alone.cpu)
    return {
        "writes": rate(median(beside.rates)),
        "alone": micros(median(alone.cpu)),
        "beside": micros(median(beside.cpu)),
        "for each change stream": micros(more / PROCESSES),
    }
