"""What goes wrong: members of the replica set and service processes that die, hang and come back.

Each fault begins and ends while sends are being acknowledged again.
"""

import asyncio
import logging
import random
import signal
from collections.abc import Awaitable, Callable, Sequence

from tests.scenarios.chaos.calls import Book
from tests.scenarios.chaos.service import Service
from tests.support.replica_set import Member, ReplicaSet

log = logging.getLogger(__name__)

CALM = 20


class Faults:
    """All kinds of faults; `failovers` counts how often another member became primary."""

    def __init__(
        self, members: ReplicaSet, services: Sequence[Service], book: Book, *, seed: int
    ) -> None:
        self.failovers = self.count = 0
        self._members = members
        self._services = services
        self._book = book
        self._chance = random.Random(seed)

    async def each_once(self) -> None:
        """Every kind, in random order."""
        kinds = self._kinds()
        self._chance.shuffle(kinds)
        for kind in kinds:
            await self._suffer(kind)

    async def for_seconds(self, seconds: float) -> None:
        """One after the other for so long."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while loop.time() < until:
            await self._suffer(self._chance.choice(self._kinds()))

    def _kinds(self) -> list[Callable[[], Awaitable[None]]]:
        return [
            self._kill_primary,
            self._pause_primary,
            self._blink,
            self._step_down,
            self._kill_service,
            self._pause_service,
        ]

    async def _suffer(self, kind: Callable[[], Awaitable[None]]) -> None:
        await self._book.more(CALM)
        self.count += 1
        log.info("%s", kind.__name__)
        await kind()
        await self._members.wait_healthy()
        await self._book.more(CALM)

    async def _kill_primary(self) -> None:
        primary = await self._members.wait_primary()
        await self._members.kill(primary)
        await self._replaced(primary)
        await self._members.restart(primary)

    async def _pause_primary(self) -> None:
        primary = await self._members.wait_primary()
        self._members.pause(primary)
        await self._replaced(primary)
        self._members.resume(primary)

    async def _blink(self) -> None:
        """A pause that may be too short for an election."""
        primary = await self._members.wait_primary()
        self._members.pause(primary)
        await asyncio.sleep(self._chance.uniform(0.1, 1.5))
        self._members.resume(primary)

    async def _step_down(self) -> None:
        primary = await self._members.wait_primary()
        await self._members.step_down()
        await self._replaced(primary)

    async def _kill_service(self) -> None:
        service = self._chance.choice(self._services)
        await service.kill()
        await self._book.more(CALM)
        await service.start()

    async def _pause_service(self) -> None:
        """It comes back to connections and transactions that are over."""
        service = self._chance.choice(self._services)
        service.send(signal.SIGSTOP)
        await asyncio.sleep(self._chance.uniform(0.1, 4))
        service.send(signal.SIGCONT)

    async def _replaced(self, primary: Member) -> None:
        await self._members.wait_primary(other_than=primary)
        self.failovers += 1
        await self._book.more(CALM)
