"""The work of the process that holds the lease: created messages are noted, decided when they are
due, and delivered (decision 0063)."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta

from chat_aio.actions.plugin_api import CreatedMessage, CreatedMessages, PluginAPI, Position
from chat_aio.observability.observer import Observer
from chat_aio.plugins.deliveries.lease import PositionLease
from chat_aio.plugins.deliveries.reading import Reader
from chat_aio.plugins.deliveries.worker import Work, Worker
from chat_aio.plugins.notifications.deciding import Decider, rows_of
from chat_aio.plugins.notifications.delivering import Delivery
from chat_aio.plugins.notifications.holding import Holding
from chat_aio.plugins.notifications.rows import Rows

NAME = "notifications"
"""The name of the lease."""

DECIDED_AT_ONCE = 50
LONGEST_WAIT = 1.0


class CreatedReader(Reader[CreatedMessage]):
    """Notes the created messages, and sets `noted`."""

    def __init__(
        self, api: PluginAPI, lease: PositionLease, rows: Rows, *, delay: timedelta
    ) -> None:
        super().__init__(lease)
        self._api = api
        self._rows = rows
        self._delay = delay
        self.noted = asyncio.Event()

    async def follow(self, after: Position | None) -> CreatedMessages:
        return await self._api.follow_created(after)

    async def note(self, found: Sequence[CreatedMessage]) -> None:
        await self._rows.add_messages(found, self._delay)
        self.noted.set()

    async def read_lost(self, position: Position) -> None:
        async for found in self._api.created_since(position.at):
            self._lease.require()
            await self.note(found)

    def gap_found(self) -> None:
        self._api.notify_observers(Observer.notification_gap)


class NotificationWorker(Worker[Delivery]):
    """Reads, decides and delivers while it holds the lease."""

    def __init__(
        self,
        api: PluginAPI,
        lease: PositionLease,
        rows: Rows,
        decider: Decider,
        holding: Holding,
        make_delivery: Callable[[], Delivery],
        *,
        delay_seconds: float,
    ) -> None:
        super().__init__(lease, make_delivery)
        self._api = api
        self._rows = rows
        self._decider = decider
        self._holding = holding
        self._reader = CreatedReader(api, lease, rows, delay=timedelta(seconds=delay_seconds))
        self._noted = self._reader.noted

    def works(self, delivery: Delivery) -> Sequence[Work]:
        return self._reader.read, lambda: self._decide(delivery)

    async def list_waiting(self) -> Sequence[str]:
        return await self._rows.users_waiting(self._api.now())

    async def count(self) -> None:
        backlog = await self._rows.backlog()
        self._api.notify_observers(Observer.notifications_counted, backlog)

    async def lost(self) -> None:
        await self._decider.close()
        self._api.notify_observers(Observer.notifications_counted, None)

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
            if held := {row["userId"]: row["notBefore"] for row in rows if row["held"]}:
                await self._holding.look_again(held)
            # Only now: if this process ends in between, they are decided again.
            await self._rows.set_decided([row["_id"] for row in due])
            delivery.wake({row["userId"] for row in rows if not row["held"]})
