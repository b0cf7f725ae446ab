"""MongoDB goes away, and comes back: so does every process, and nobody waits for ever.

Each process is asked by people who give up early, which cancels requests, and `/readyz` is asked
all the time.
"""

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from aiohttp import ClientError, ClientSession, ClientTimeout

from tests.scenarios.chaos.service import Service
from tests.support.replica_set import ReplicaSet

PROCESSES = 3
ASKING, ASKING_LONG = 8, 30
"""So many people ask each process at once."""
ANSWERED_WITHIN = ClientTimeout(total=30)
"""What is promised is the storage's timeout (3 s here) and a second; a busy machine adds to it, and
a process that is stuck does not answer at all."""

RECOVERED_WITHIN = 180

KINDS = ["kill", "stop", "step down"]


class Asked:
    """What became of requests, and which of them had no answer."""

    def __init__(self) -> None:
        self.answers: Counter[int] = Counter()
        self.unanswered: list[str] = []
        self.over = False

    async def patiently(self, session: ClientSession, address: str, path: str) -> None:
        while not self.over:
            try:
                async with session.get(address + path, headers={"X-User": "alice"}) as answer:
                    self.answers[answer.status] += 1
            except TimeoutError:
                self.unanswered.append(address + path)
            except ClientError:
                pass
            await asyncio.sleep(random.uniform(0.02, 0.2))

    async def impatiently(self, session: ClientSession, address: str, path: str) -> None:
        """Give up in the middle, again and again."""
        while not self.over:
            soon = ClientTimeout(total=random.uniform(0.01, 2))
            with suppress(TimeoutError, ClientError):
                async with session.get(
                    address + path, headers={"X-User": "bob"}, timeout=soon
                ) as answer:
                    await answer.read()
            await asyncio.sleep(random.uniform(0.02, 0.2))


@asynccontextmanager
async def asked(
    services: list[Service], conversation_id: str, asking_each: int
) -> AsyncIterator[Asked]:
    """While open, everything is asked all the time."""
    seen = Asked()
    path = f"/conversations/{conversation_id}/messages"
    async with ClientSession(timeout=ANSWERED_WITHIN) as session:
        asking = [
            asyncio.create_task(act(session, service.address, path))
            for service in services
            for act in [seen.patiently, seen.impatiently] * (asking_each // 2)
        ]
        asking += [
            asyncio.create_task(
                seen.patiently(session, service.address.removesuffix("/api/chat"), place)
            )
            for service in services
            for place in ("/readyz", "/healthz")
        ]
        try:
            yield seen
        finally:
            seen.over = True
            await asyncio.gather(*asking)


async def away(members: ReplicaSet, kind: str, seconds: float) -> None:
    """The whole of MongoDB is gone for so long; or its primary gives way."""
    if kind == "step down":
        await members.step_down()
        await asyncio.sleep(seconds)
        return
    for member in members.members:
        if kind == "kill":
            await members.kill(member)
        else:
            member.send(signal.SIGSTOP)
    await asyncio.sleep(seconds)
    for member in members.members:
        if kind == "kill":
            await members.restart(member)
        else:
            member.send(signal.SIGCONT)


async def recovered(service: Service) -> None:
    """Until it is ready again: its feed is live, and its client answers."""
    ready = service.address.removesuffix("/api/chat") + "/readyz"
    async with ClientSession(timeout=ANSWERED_WITHIN) as session:
        async with asyncio.timeout(RECOVERED_WITHIN):
            while True:
                with suppress(ClientError, TimeoutError):
                    async with session.get(ready) as answer:
                        if answer.status == 200:
                            return
                await asyncio.sleep(0.1)


async def suffer(tmp_path: Path, outages: list[tuple[str, float]], asking_each: int) -> None:
    async with ReplicaSet(tmp_path) as members:
        logs = [tmp_path / f"service{number}.log" for number in range(PROCESSES)]
        services = [Service(members.url, log, memory=1_000) for log in logs]
        try:
            await asyncio.gather(*(service.start() for service in services))
            conversation_id = await prepared(services[0])
            for kind, seconds in outages:
                async with asked(services, conversation_id, asking_each) as seen:
                    await away(members, kind, seconds)
                    await members.wait_healthy()
                    await asyncio.gather(*map(recovered, services))
                assert seen.unanswered == [], kind
                assert set(seen.answers) <= {200, 503}, kind
                assert seen.answers[200], kind
            await asyncio.gather(*(service.stop() for service in services))
        finally:
            await asyncio.gather(*(service.kill() for service in services))
        for log in logs:
            assert "is stuck" not in log.read_text()


async def prepared(service: Service) -> str:
    """A conversation to ask about."""
    async with (
        ClientSession(timeout=ANSWERED_WITHIN) as session,
        session.post(
            f"{service.address}/conversations/group",
            json={"userIds": ["bob"]},
            headers={"X-User": "alice"},
        ) as answer,
    ):
        found: str = (await answer.json())["conversation"]["id"]
        return found


async def test_every_process_comes_back_after_an_outage(tmp_path: Path) -> None:
    await suffer(tmp_path, [(KINDS[0], 4.0)], ASKING)


@pytest.mark.long
async def test_every_process_comes_back_after_many_outages(tmp_path: Path) -> None:
    """Three processes in each, on a machine that is busy; CHAT_AIO_CHAOS_OUTAGES for more."""
    count = int(os.environ.get("CHAT_AIO_CHAOS_OUTAGES", "8"))
    burning = [
        # It hands on the signal that ends it.
        await asyncio.create_subprocess_exec("timeout", "1500", "sh", "-c", "while :; do :; done")
        for _ in range(8)
    ]
    try:
        chance = random.Random(7)
        outages = [(KINDS[number % 3], chance.uniform(5, 40)) for number in range(count)]
        await suffer(tmp_path, outages, ASKING_LONG)
    finally:
        for process in burning:
            process.terminate()
            await process.wait()
