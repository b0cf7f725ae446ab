"""Delivery: what each user is to be told, in order, several users at once.

Each user has a lane, a task that lives as long as something waits for them. A try that fails holds
up that user alone. Those that have failed before have slots of their own, so that many dead ends do
not hold up the others.
"""

import asyncio
import logging
import random
from collections.abc import Iterable, Sequence
from contextvars import Context
from datetime import timedelta
from itertools import islice
from typing import Any

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.errors import StorageUnavailable
from chat_aio.observability.observer import NotificationOutcome, Observer
from chat_aio.plugins.notifications.channels import Channel, DeliveryFailed, Notification
from chat_aio.plugins.notifications.deciding import Decider, Recipients
from chat_aio.plugins.notifications.lease import Lease, LeaseLost
from chat_aio.plugins.notifications.rows import Row, Rows
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

READ_AT_ONCE = 50
LOOKS_AT_ONCE = 32
LANE_SECONDS = 2.0
MOST_LANES = 500
"""So many lanes are made for what has waited before; what is new always gets one."""

PAUSE_SECONDS = 1.0
LONGEST_BACK_OFF = 3_600.0
ERROR_LENGTH = 200
TOO_OLD = timedelta(days=1)
"""A notification that fails is given up at this age, whatever its number of tries."""


class Delivery:
    """The lanes of the process that holds the lease."""

    def __init__(
        self,
        api: PluginAPI,
        lease: Lease,
        rows: Rows,
        decider: Decider,
        channels: Sequence[Channel],
        *,
        concurrency: int,
        tries: int,
        back_off_seconds: float,
    ) -> None:
        self._api = api
        self._lease = lease
        self._rows = rows
        self._decider = decider
        self._channels = channels
        self._most_tries = tries
        self._back_off = back_off_seconds
        self._looks = asyncio.Semaphore(LOOKS_AT_ONCE)
        self._slots = asyncio.Semaphore(concurrency)
        self._slots_after_failure = asyncio.Semaphore(max(1, concurrency // 4))
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._failing: set[str] = set()
        self._trying: set[asyncio.Task[None]] = set()
        self._finishing = False

    def wake_again(self, user_ids: Iterable[str]) -> None:
        """Something has waited for these users, in this order; some of them get a lane."""
        room = max(0, MOST_LANES - len(self._lanes))
        self.wake([*islice((user_id for user_id in user_ids if user_id not in self._lanes), room)])

    def wake(self, user_ids: Iterable[str]) -> None:
        """Something new waits for these users."""
        for user_id in user_ids:
            self._again.add(user_id)
            if user_id not in self._lanes:
                lane = asyncio.create_task(self._serve(user_id), context=Context())
                self._lanes[user_id] = lane

    async def finish(self, *, seconds: float) -> None:
        """Begin nothing new, and wait for what is under way: in another process it would be
        delivered again."""
        self._finishing = True
        if self._trying:
            await asyncio.wait(self._trying, timeout=seconds)

    async def close(self) -> None:
        """End all lanes. What is under way is tried again by whoever holds the lease next."""
        await cancel_and_wait(*self._lanes.values())
        self._lanes.clear()

    async def _serve(self, user_id: str) -> None:
        try:
            while user_id in self._again and not self._finishing:
                self._again.discard(user_id)
                try:
                    await self._tell(user_id)
                except StorageUnavailable:
                    self._again.add(user_id)
                    await asyncio.sleep(PAUSE_SECONDS)
        except LeaseLost:
            pass
        except Exception:
            # It is woken again by the next look at all who wait.
            log.exception("notifications of a user could not be delivered")
        finally:
            self._lanes.pop(user_id, None)

    async def _tell(self, user_id: str) -> None:
        """Deliver all that waits for a user, in its order."""
        while True:
            async with self._looks:
                self._lease.require()
                waiting = await self._rows.waiting_of(user_id, limit=READ_AT_ONCE)
            if not waiting:
                return
            for row in waiting:
                if self._finishing:
                    return
                left = (row["notBefore"] - self._api.now()).total_seconds()
                if left > LANE_SECONDS:
                    # Without a lane meanwhile: the next look at all who wait makes one in time.
                    await self._rows.hold_up(user_id, row["notBefore"])
                    return
                if left > 0:
                    await asyncio.sleep(left)
                    break
                if not await self._tell_one(row, waiting):
                    break

    async def _tell_one(self, row: Row, waiting: Sequence[Row]) -> bool:
        """Deliver one notification; False if the waiting rows have to be read again."""
        failing = row["tries"] or row["userId"] in self._failing
        slots = self._slots_after_failure if failing else self._slots
        lane = self._lanes[row["userId"]]
        async with slots:
            self._lease.require()
            if self._finishing:
                return False
            self._trying.add(lane)
            try:
                return await self._tell_wanted(row, waiting)
            finally:
                self._trying.discard(lane)

    async def _tell_wanted(self, row: Row, waiting: Sequence[Row]) -> bool:
        """As `_tell_one`, unless the notification is no longer wanted, or not now."""
        recipients = await self._decider.decide_again(row["messageId"])
        if recipients is None or row["userId"] not in recipients.quiet_until:
            await self._end(row, "dropped", state="dropped")
            return True
        until = recipients.quiet_until[row["userId"]]
        if until is not None and until > self._api.now():
            await self._rows.change(row, held=True, due=until, notBefore=until)
            return False
        if row["held"] and await self._merge(row, waiting):
            return False
        return await self._try(row, recipients)

    async def _merge(self, row: Row, waiting: Sequence[Row]) -> bool:
        """After quiet hours a user is told once of each conversation: of the newest message, with
        their number. Returns whether this row was merged into the next one."""
        for other in waiting:
            if (
                other["held"]
                and other["conversationId"] == row["conversationId"]
                and other["seq"] > row["seq"]
                and other["notBefore"] <= self._api.now()
            ):
                recipients = await self._decider.decide_again(other["messageId"])
                if recipients is not None and row["userId"] in recipients.quiet_until:
                    # The newer one first: if this process ends in between, the number is too
                    # large, and nothing is lost.
                    await self._rows.change(other, count=other["count"] + row["count"])
                    await self._rows.change(row, state="merged")
                    return True
        return False

    async def _try(self, row: Row, recipients: Recipients) -> bool:
        notification = Notification(
            user_id=row["userId"],
            message=recipients.audience.message,
            conversation=recipients.audience.conversation,
            mentioned=row["userId"] in recipients.audience.mentions,
            count=row["count"],
            tries=row["tries"],
        )
        done = set(row["done"])
        outcomes = await asyncio.gather(
            *(channel.send(notification, done) for channel in self._channels),
            return_exceptions=True,
        )
        errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if not errors:
            self._failing.discard(row["userId"])
            await self._end(row, "delivered", state="delivered", done=sorted(done), error=None)
            return True
        if isinstance(errors[0], asyncio.CancelledError):
            raise errors[0]
        await self._fail(row, errors[0], sorted(done))
        return False

    async def _fail(self, row: Row, error: BaseException, done: list[str]) -> None:
        self._failing.add(row["userId"])
        tries = row["tries"] + 1
        said = {"tries": tries, "done": done, "error": _text_of(error)}
        if tries >= self._most_tries or self._api.now() - row["due"] > TOO_OLD:
            log.error("a notification was given up after %d tries: %s", tries, said["error"])
            await self._end(row, "dead", state="dead", **said)
            return
        seconds = min(self._back_off * 2 ** (tries - 1), LONGEST_BACK_OFF)
        later = self._api.now() + timedelta(seconds=seconds * random.uniform(0.8, 1.2))
        await self._end(row, "failed", notBefore=later, **said)

    async def _end(self, row: Row, outcome: NotificationOutcome, **fields: Any) -> None:
        await self._rows.change(row, **fields)
        seconds = (self._api.now() - row["due"]).total_seconds()
        self._api.notify_observers(
            Observer.notification_ended, outcome=outcome, seconds=max(0.0, seconds)
        )


def _text_of(error: BaseException) -> str:
    """What operators see. Other errors are logged with their traceback: their texts may quote
    messages."""
    if isinstance(error, DeliveryFailed):
        return str(error)[:ERROR_LENGTH]
    log.warning("a notification could not be delivered", exc_info=error)
    return type(error).__name__
