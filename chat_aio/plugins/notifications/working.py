"""The work of the process that holds the lease: created messages are noted, decided when they are
due, and delivered (decision 0063)."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextvars import Context
from datetime import timedelta

from chat_aio.actions.plugin_api import CreatedMessages, PluginAPI, PositionLost
from chat_aio.errors import StorageUnavailable
from chat_aio.observability.observer import Observer
from chat_aio.plugins.notifications.deciding import Decider, rows_of
from chat_aio.plugins.notifications.delivering import Delivery
from chat_aio.plugins.notifications.lease import LeaseLost, NotificationLease
from chat_aio.plugins.notifications.rows import Rows
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

DECIDED_AT_ONCE = 50
LOOK_SECONDS = 1.0
LOOKS_SHARE = 20
"""A look at all who wait may take a twentieth of the time."""

COUNT_SECONDS = 10.0
MOVE_SECONDS = 10.0
"""While nothing is created the position is stored so often: its token must stay in the oplog."""

PAUSE_SECONDS = 0.5
FINISH_SECONDS = 1.5
LONGEST_WAIT = 1.0


class Worker:
    """Tries to hold the lease, and works while it does."""

    def __init__(
        self,
        api: PluginAPI,
        lease: NotificationLease,
        rows: Rows,
        decider: Decider,
        make_delivery: Callable[[], Delivery],
        *,
        delay_seconds: float,
    ) -> None:
        self._api = api
        self._lease = lease
        self._rows = rows
        self._decider = decider
        self._make_delivery = make_delivery
        self._delay = timedelta(seconds=delay_seconds)
        self._noted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._delivery: Delivery | None = None

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
                log.warning("the lease of notifications was not released: it expires by itself")

    async def _run(self) -> None:
        while True:
            try:
                if await self._lease.take():
                    await self._work()
            except StorageUnavailable:
                pass
            except Exception:
                log.exception("notifications failed, and are tried again")
            await asyncio.sleep(self._lease.seconds / 3)

    async def _work(self) -> None:
        """Work until the lease is lost."""
        log.info("this process delivers notifications, with fence %d", self._lease.fence)
        delivery = self._delivery = self._make_delivery()
        works = {
            asyncio.create_task(coroutine)
            for coroutine in (
                self._renew(),
                self._repeat(self._read),
                self._repeat(lambda: self._decide(delivery)),
                self._repeat(lambda: self._look(delivery)),
            )
        }
        try:
            # The first that ends has lost the lease, or has failed in a way that none should.
            done, _ = await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except LeaseLost:
            log.warning("another process delivers notifications from now on")
        finally:
            await cancel_and_wait(*works)
            self._delivery = None
            await delivery.close()
            await self._decider.close()
            self._api.notify_observers(Observer.notifications_counted, None)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._lease.seconds / 3)
            try:
                # Apart from the other works: none of them can delay it.
                await self._lease.renew()
            except StorageUnavailable:
                self._lease.require()

    async def _repeat(self, work: Callable[[], Awaitable[None]]) -> None:
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
                log.exception("a part of notifications failed, and is tried again")
            await asyncio.sleep(PAUSE_SECONDS)

    async def _read(self) -> None:
        """Note created messages, from the stored position on."""
        created = await self._follow()
        moved = 0.0
        try:
            while True:
                self._lease.require()
                found = await created.next()
                if found:
                    await self._rows.add_messages(found, self._delay)
                    self._noted.set()
                # Only now: if this process ends in between, they are read again.
                if found or time.monotonic() - moved > MOVE_SECONDS:
                    await self._lease.move(created.position)
                    moved = time.monotonic()
        finally:
            created.close()

    async def _follow(self) -> CreatedMessages:
        """The created messages after the stored position. If that is lost, messages are read from
        storage, after the change stream was opened: changes in between are in both."""
        position = await self._lease.position()
        if position is None or position.token is not None:
            try:
                created = await self._api.follow_created(position)
            except PositionLost as error:
                log.error("the position of notifications was lost: %s", error)
                self._api.notify_observers(Observer.notification_gap)
            else:
                if position is None:
                    await self._lease.move(created.position)
                return created
        created = await self._api.follow_created()
        try:
            if position is not None:
                async for found in self._api.created_since(position.at):
                    self._lease.require()
                    await self._rows.add_messages(found, self._delay)
                    self._noted.set()
            await self._lease.move(created.position)
        except BaseException:
            created.close()
            raise
        return created

    async def _decide(self, delivery: Delivery) -> None:
        """Decide the recipients of the messages that are due."""
        while True:
            # First: a message that is noted during the read below must wake the next round.
            self._noted.clear()
            self._lease.require()
            due = await self._rows.due_messages(self._api.now(), limit=DECIDED_AT_ONCE)
            if not due:
                # Until the next message is due, or until one is noted.
                next_due = await self._rows.next_due()
                left = (next_due - self._api.now()).total_seconds() if next_due else LONGEST_WAIT
                timer = asyncio.get_running_loop().call_later(
                    min(max(left, 0.0), LONGEST_WAIT), self._noted.set
                )
                try:
                    await self._noted.wait()
                finally:
                    timer.cancel()
                continue
            decided = await self._decider.decide([row["_id"] for row in due])
            rows = [
                row
                for pending in due
                if pending["_id"] in decided
                for row in rows_of(pending, decided[pending["_id"]])
            ]
            self._lease.require()
            await self._rows.add(rows)
            # Only now: if this process ends in between, they are decided again.
            await self._rows.set_decided([row["_id"] for row in due])
            delivery.wake({row["userId"] for row in rows})

    async def _look(self, delivery: Delivery) -> None:
        """Wake those for whom something waits, also what another process has left, and count."""
        counted = -COUNT_SECONDS
        while True:
            self._lease.require()
            began = time.monotonic()
            delivery.wake_again(await self._rows.users_waiting(self._api.now()))
            if began - counted > COUNT_SECONDS:
                backlog = await self._rows.backlog()
                self._api.notify_observers(Observer.notifications_counted, backlog)
                counted = began
            # A look that takes long is repeated seldom.
            took = time.monotonic() - began
            await asyncio.sleep(max(LOOK_SECONDS, LOOKS_SHARE * took))
