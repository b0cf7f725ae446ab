"""Works while this process holds a lease."""

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Generic, TypeVar

from chat_aio.errors import StorageUnavailable
from chat_aio.plugins.deliveries.lanes import Lanes
from chat_aio.plugins.deliveries.lease import LeaseLost, PositionLease
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

RENEWALS = 3
"""A lease is renewed this often within its time, and looked for as often."""

LOOK_SECONDS = 1.0
LOOKS_SHARE = 20
"""A look at all that wait may take a twentieth of the time."""

COUNT_SECONDS = 10.0
PAUSE_SECONDS = 0.5
FINISH_SECONDS = 1.5

Work = Callable[[], Awaitable[None]]
L = TypeVar("L", bound=Lanes)


class Worker(ABC, Generic[L]):
    """Tries to hold a lease, and works while it does."""

    def __init__(self, lease: PositionLease, make_delivery: Callable[[], L]) -> None:
        self._lease = lease
        self._make_delivery = make_delivery
        self._task: asyncio.Task[None] | None = None
        self._delivery: L | None = None

    @abstractmethod
    def works(self, delivery: L) -> Sequence[Work]:
        """Further works; one that fails is done again."""

    @abstractmethod
    async def list_waiting(self) -> Sequence[str]:
        """The lanes in which something is due, the longest waiting first."""

    @abstractmethod
    async def count(self) -> None:
        """Count the waiting deliveries, for the observers."""

    async def lost(self) -> None:
        """The lease was lost or is given away; the works have ended."""

    def open(self) -> None:
        self._task = asyncio.create_task(self._run(), context=Context())

    async def close(self) -> None:
        """Stop, and give the lease to another process."""
        if self._task is None:
            return
        if self._delivery is not None:
            # Before the lease is given away: the next holder would deliver it again.
            await self._delivery.finish(seconds=FINISH_SECONDS)
        await cancel_and_wait(self._task)
        if self._lease.is_held:
            try:
                await self._lease.release()
            except StorageUnavailable:
                log.warning("the lease of %s was not released: it will expire", self._lease.name)

    async def _run(self) -> None:
        while True:
            try:
                if await self._lease.take():
                    await self._work()
            except StorageUnavailable:
                pass
            except Exception:
                log.exception("%s failed, and are tried again", self._lease.name)
            await asyncio.sleep(self._lease.seconds / RENEWALS)

    async def _work(self) -> None:
        """Work until the lease is lost."""
        log.info("this process delivers %s, with fence %d", self._lease.name, self._lease.fence)
        delivery = self._delivery = self._make_delivery()
        works = {
            asyncio.create_task(self._renew()),
            asyncio.create_task(self._repeat(lambda: self._look(delivery))),
            *(asyncio.create_task(self._repeat(work)) for work in self.works(delivery)),
        }
        try:
            # The first that ends has lost the lease, or has failed in a way that none should.
            done, _ = await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except LeaseLost:
            log.warning("another process delivers %s from now on", self._lease.name)
        finally:
            await cancel_and_wait(*works)
            self._delivery = None
            await delivery.close()
            await self.lost()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._lease.seconds / RENEWALS)
            try:
                # Apart from the other works: none of them can delay it.
                await self._lease.renew()
            except StorageUnavailable:
                self._lease.require()

    async def _repeat(self, work: Work) -> None:
        """Work until the lease is lost; what fails is tried again."""
        while True:
            try:
                self._lease.require()
                await work()
            except StorageUnavailable:
                pass
            except LeaseLost:
                raise
            except Exception:
                log.exception("part of the work on %s failed; trying again", self._lease.name)
            await asyncio.sleep(PAUSE_SECONDS)

    async def _look(self, delivery: L) -> None:
        """Wake the lanes in which something waits, also what another process has left, and
        count."""
        counted = -COUNT_SECONDS
        while True:
            self._lease.require()
            began = time.monotonic()
            delivery.wake_again(await self.list_waiting())
            if began - counted > COUNT_SECONDS:
                await self.count()
                counted = began
            # A look that takes long is repeated seldom.
            took = time.monotonic() - began
            await asyncio.sleep(max(LOOK_SECONDS, LOOKS_SHARE * took))
