"""A failover is two lines in the log, and not a warning for every request that waited."""

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import ClientSession
from pymongo import AsyncMongoClient

from chat_aio.store import primary
from chat_aio.store.database import Database as Store
from chat_aio.store.primary import PrimaryWatch
from tests.conftest import Database
from tests.support.failpoints import failing
from tests.support.processes import Service, until
from tests.support.replica_set import ReplicaSet

APP_NAME = "slow-one"
LIMIT_SECONDS = 3.0
"""What no request takes on a busy machine unless something holds it up."""


@pytest.mark.long
async def test_a_failover_is_two_lines(tmp_path: Path) -> None:
    """Real slow requests are still named, before and after."""
    async with ReplicaSet(tmp_path) as mongods:
        url = f"{mongods.url}&appName={APP_NAME}"
        limits = ("--slow-request-seconds", str(LIMIT_SECONDS), "--storage-timeout-seconds", "60")
        service = Service(url, "chat", "--auth-header", "X-User", *limits)
        async with service.running(), ClientSession(headers={"X-User": "ada"}) as session:
            made = await session.post(f"{service.base}/conversations/group", json={})
            group = (await made.json())["conversation"]["id"]

            async def send(number: int) -> int:
                place = f"{service.base}/conversations/{group}/messages"
                async with session.post(place, json={"body": f"hello {number}"}) as response:
                    return response.status

            await send(0)
            assert "slow:" not in service.log
            old = await mongods.wait_primary()
            # No other one is elected until the requests have waited for longer than the limit.
            voter = next(member for member in mongods.members if member is not old)
            mongods.pause(voter)
            await mongods.kill(old)
            await until(lambda: "the primary of MongoDB is away" in service.log)
            sending = [asyncio.create_task(send(number)) for number in range(20)]
            await asyncio.sleep(LIMIT_SECONDS + 0.5)
            mongods.resume(voter)
            assert await asyncio.gather(*sending) == [201] * 20
            await until(lambda: "the primary of MongoDB is back after" in service.log)
            assert service.log.count("the primary of MongoDB is away") == 1
            assert service.log.count("the primary of MongoDB is back") == 1
            assert "slow:" not in service.log
            new = await mongods.wait_primary(other_than=old)
            held_ms = int(LIMIT_SECONDS * 1_000) + 500
            blocked: dict[str, Any] = {"blockConnection": True, "blockTimeMS": held_ms}
            async with failing(new.client, ["insert"], app_name=APP_NAME, **blocked):
                assert await send(21) == 201
            assert service.log.count("slow: POST") == 1


class Topology:
    """What a driver knows, as a test sets it."""

    def __init__(self) -> None:
        self.is_there = True

    @property
    def topology_description(self) -> "Topology":
        return self

    def has_writable_server(self) -> bool:
        return self.is_there


@pytest.fixture
def topology() -> Topology:
    return Topology()


@pytest.fixture
def watch(database: Database, topology: Topology) -> PrimaryWatch:
    store = Store(database)
    store.client = topology
    return PrimaryWatch(store)


async def test_only_the_absence_counts(
    watch: PrimaryWatch, topology: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(100, 200))
    monkeypatch.setattr(primary, "time", type("Clock", (), {"monotonic": lambda: next(clock)}))
    await watch.look()
    topology.is_there = False
    await watch.look()  # At 100.
    assert watch.away_since(90) == 1
    assert watch.away_since(101) == 1
    topology.is_there = True
    await watch.look()  # At 103.
    assert watch.away_since(0) == 3
    assert watch.away_since(102) == 1
    assert watch.away_since(103) == 0


async def test_a_new_client_is_not_away(
    watch: PrimaryWatch, topology: Topology, caplog: pytest.LogCaptureFixture
) -> None:
    topology.is_there = False
    await watch.look()
    assert (caplog.text, watch.away_since(time.monotonic() - 60)) == ("", 0)


async def test_a_client_without_a_topology_is_there(database: Database) -> None:
    """Such as that of a host's own stand-in."""
    async with AsyncMongoClient[dict[str, Any]]() as client:
        store = Store(client["x"])
        store.client = SimpleNamespace()
        watch = PrimaryWatch(store)
        await watch.look()
        assert watch.away_since(0) == 0
