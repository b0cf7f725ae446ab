"""R1 to R5 and R7 over faults of all kinds: three mongods, two service processes, 16 writers.

`CHAT_AIO_CHAOS_SECONDS=600 pytest -m long tests/scenarios/chaos -o log_cli=true
-o log_cli_level=INFO` takes longer; with 0 seconds there is one fault of each kind.
`CHAT_AIO_CHAOS_SEED` begins with the choices of another run.
"""

import asyncio
import logging
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector
from pymongo import AsyncMongoClient

from tests.conftest import Database
from tests.scenarios.chaos.service import Service
from tests.scenarios.chaos.world import World
from tests.support.checking import expect_no_violation
from tests.support.replica_set import ReplicaSet

log = logging.getLogger(__name__)

MEMORIES = (20_000, 40)
"""How many events each process remembers: nearly all, and little."""

READERS = 200


@pytest.fixture
async def members(tmp_path: Path) -> AsyncIterator[ReplicaSet]:
    async with ReplicaSet(tmp_path) as members:
        yield members


@asynccontextmanager
async def serving(members: ReplicaSet, folder: Path) -> AsyncIterator[list[Service]]:
    """Two processes, which end cleanly."""
    services = [
        Service(members.url, folder / f"service{number}.log", memory=memory)
        for number, memory in enumerate(MEMORIES)
    ]
    try:
        await asyncio.gather(*(service.start() for service in services))
        yield services
        await asyncio.gather(*(service.stop() for service in services))
    finally:
        for service in services:
            await service.kill()


@pytest.mark.long
async def test_nothing_is_lost_doubled_or_told_to_strangers(
    members: ReplicaSet, tmp_path: Path
) -> None:
    seconds = float(os.environ.get("CHAT_AIO_CHAOS_SECONDS", "120"))
    seed = int(os.environ.get("CHAT_AIO_CHAOS_SEED") or random.randrange(10_000))
    log.info("CHAT_AIO_CHAOS_SEED=%d", seed)
    async with (
        asyncio.timeout(seconds + 400),
        AsyncMongoClient[dict[str, Any]](members.url) as client,
        ClientSession(connector=TCPConnector(limit=0)) as session,
    ):
        database: Database = client["chaos"]
        async with serving(members, tmp_path) as services:
            world = World(members, services, session, readers=READERS, seed=seed)
            await world.live(seconds)
            violations = await world.judge(database)
            log.info("%s", world.figures())
        assert not violations, "\n".join(violations[:50])
        await expect_no_violation(database)
