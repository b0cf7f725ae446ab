"""The stage of a row: MongoDB, temporary databases, services, connections."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymongo
from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase

from benchmarks.load import Connection
from benchmarks.loops import LoopKind
from benchmarks.processes import START_SECONDS, Child, child, cpu_seconds
from chat_aio.capabilities import Capability

DROP_SECONDS = 20

Client = AsyncMongoClient[dict[str, Any]]
BenchDatabase = AsyncDatabase[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Service:
    """A running service process."""

    process: Child
    port: int

    @property
    def pid(self) -> int:
        return self.process.pid


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The environment of all rows; `mongod_pid` is None if MongoDB runs on another machine."""

    url: str
    client: Client
    mongod_pid: int | None
    loop: LoopKind
    quick: bool

    @property
    def rounds(self) -> int:
        return 3 if self.quick else 5

    @property
    def seconds(self) -> float:
        """The length of one round of load."""
        return 1.0 if self.quick else 2.5

    def sized(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def tell(self, text: str) -> None:
        """Progress, next to the table."""
        print(f"  {text}", file=sys.stderr, flush=True)

    @asynccontextmanager
    async def database(self, name: str) -> AsyncIterator[BenchDatabase]:
        """An empty database of the benchmark; dropped at the end."""
        full_name = f"chat_bench_{name}"
        await self.client.drop_database(full_name)
        try:
            yield self.client[full_name]
        finally:
            with pymongo.timeout(DROP_SECONDS):
                await self.client.drop_database(full_name)

    @asynccontextmanager
    async def services(
        self,
        database: BenchDatabase,
        count: int = 1,
        *,
        without: Iterable[Capability] = (),
        prefix_search: bool = False,
        extra_events: bool = False,
        inbox: bool = False,
    ) -> AsyncIterator[list[Service]]:
        """Service processes over `database`; the first one creates missing indexes."""
        options = {
            "without": [capability.name for capability in without],
            "prefix_search": prefix_search,
            "extra_events": extra_events,
            "inbox": inbox,
        }
        async with AsyncExitStack() as stack:
            yield [await self._service(stack, database, options) for _ in range(count)]

    async def _service(
        self, stack: AsyncExitStack, database: BenchDatabase, options: Mapping[str, object]
    ) -> Service:
        process = await stack.enter_async_context(
            child("service", self.url, database.name, self.loop, json.dumps(options))
        )
        async with asyncio.timeout(START_SECONDS + 60):  # Over loaded data it builds indexes.
            return Service(process, int(await process.say()))

    def meter(self, services: Iterable[Service], *, mongod: bool = True) -> "Meter":
        """A CPU meter over these processes, from now on."""
        pids = [service.pid for service in services]
        return Meter([*pids, self.mongod_pid] if mongod and self.mongod_pid else pids)


class Meter:
    """The CPU seconds that some processes have used since the meter was made."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._pids = pids
        self._began = cpu_seconds(pids)

    def seconds(self) -> float:
        return cpu_seconds(self._pids) - self._began


@asynccontextmanager
async def connected(
    services: Sequence[Service], count: int = 1, made_by: type[Connection] = Connection
) -> AsyncIterator[list[Connection]]:
    """`count` connections, spread evenly over the services."""
    loop = asyncio.get_running_loop()
    connections: list[Connection] = []
    try:
        for number in range(count):
            port = services[number % len(services)].port
            _, made = await loop.create_connection(made_by, "127.0.0.1", port)
            connections.append(made)
        yield connections
    finally:
        for connection in connections:
            connection.close()


async def local_mongod_pid(client: Client) -> int | None:
    """The process id of the server, if it is a mongod on this machine."""
    pid = int((await client.admin.command("serverStatus"))["pid"])
    return pid if _name_of(pid).startswith("mongod") else None


def _name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return ""
