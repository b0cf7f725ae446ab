"""Delivery: the notifications of each user, in order, several users at once.

Each user has a lane, a task that lives as long as something waits for them. A try that fails holds
up that user alone. Those that have failed before have separate slots, so that many dead ends do
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
from chat_aio.plugins.notifications.lease import LeaseLost, NotificationLease
from chat_aio.plugins.notifications.rows import Row, Rows
from chat_aio.schema.inbox import UnreadTotals
from chat_aio.tasks import cancel_and_wait

log = logging.getLogger(__name__)

READ_AT_ONCE = 50
LOOKS_AT_ONCE = 32
LANE_SECONDS = 2.0
MOST_LANES = 500
"""The maximum number of lanes for older notifications; a new notification always gets one."""

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
        lease: NotificationLease,
        rows: Rows,
        decider: Decider,
        channels: Sequence[Channel],
        *,
        concurrency: int,
        max_attempts: int,
        retry_backoff_seconds: float,
        once_until_read: bool,
    ) -> None:
        self._api = api
        self._lease = lease
        self._rows = rows
        self._decider = decider
        self._channels = channels
        self._max_attempts = max_attempts
        self._back_off = retry_backoff_seconds
        self._once_until_read = once_until_read
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
        # The longest waiting come first; the others get a lane at a later look.
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
        """Start nothing new, and wait for running deliveries: in another process it would be
        delivered again."""
        self._finishing = True
        if self._trying:
            await asyncio.wait(self._trying, timeout=seconds)

    async def close(self) -> None:
        """End all lanes. The next holder of the lease repeats running deliveries."""
        await cancel_and_wait(*self._lanes.values())
        self._lanes.clear()

    async def _serve(self, user_id: str) -> None:
        try:
            while user_id in self._again and not self._finishing:
                self._again.discard(user_id)
                try:
                    await self._deliver_waiting(user_id)
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

    async def _deliver_waiting(self, user_id: str) -> None:
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
                    # No lane for now: the next look at all waiting users makes one in time.
                    await self._rows.hold_up(user_id, row["notBefore"])
                    return
                if left > 0:
                    await asyncio.sleep(left)
                    break
                if not await self._deliver_one(row, waiting):
                    break

    async def _deliver_one(self, row: Row, waiting: Sequence[Row]) -> bool:
        """Deliver one notification; False if the waiting rows have to be read again."""
        # Of the user, not of the row: their next notification would fail as well.
        failing = row["tries"] or row["userId"] in self._failing
        slots = self._slots_after_failure if failing else self._slots
        lane = self._lanes[row["userId"]]
        async with slots:
            # Again, for the wait for a slot may have been long.
            self._lease.require()
            if self._finishing:
                return False
            self._trying.add(lane)
            try:
                # Decided again before each try: the message may be deleted by now, or seen.
                recipients = await self._decider.decide_again(row["messageId"])
                if recipients is None or row["userId"] not in recipients.quiet_until:
                    await self._end(row, "dropped", state="dropped")
                    return True
                until = recipients.quiet_until[row["userId"]]
                if until is not None and until > self._api.now():
                    await self._rows.change(row, held=True, due=until, notBefore=until)
                    return False
                if (row["held"] or self._once_until_read) and await self._merge(row, waiting):
                    return False
                if self._once_until_read and await self._is_notified(row, recipients):
                    await self._end(row, "dropped", state="dropped")
                    return True
                return await self._try(row, recipients)
            finally:
                self._trying.discard(lane)

    async def _merge(self, row: Row, waiting: Sequence[Row]) -> bool:
        """After quiet hours, and always with `once_until_read`, a user gets one notification per
        conversation: the newest message, with their number. Returns whether this row was merged
        into the next one."""
        if row["done"]:
            # A channel has delivered it: as a part of another one it would arrive there again.
            return False
        for other in waiting:
            if (
                (other["held"] or self._once_until_read)
                and other["conversationId"] == row["conversationId"]
                and other["seq"] > row["seq"]
                and other["notBefore"] <= self._api.now()
            ):
                recipients = await self._decider.decide_again(other["messageId"])
                if recipients is not None and row["userId"] in recipients.quiet_until:
                    # The newer one first: if this process ends in between, the number is too
                    # large, and nothing is lost.
                    await self._rows.change(
                        other,
                        count=other["count"] + row["count"],
                        # A next message neither renews the tries nor the time of a failing one.
                        tries=max(other["tries"], row["tries"]),
                        due=min(other["due"], row["due"]),
                    )
                    await self._rows.change(row, state="merged")
                    return True
        return False

    async def _is_notified(self, row: Row, recipients: Recipients) -> bool:
        """Whether the user was notified of an earlier message of the conversation and has not read
        it since."""
        audience = recipients.audience
        (joined_at,) = (
            participant.joined_at
            for participant in audience.conversation.participants
            if participant.user_id == row["userId"]
        )
        read = audience.read_seqs[row["userId"]]
        return await self._rows.notified_since(row, read=read, joined_at=joined_at)

    async def _try(self, row: Row, recipients: Recipients) -> bool:
        """Send by all channels that have not delivered yet; returns whether none has failed."""
        notification = Notification(
            user_id=row["userId"],
            message=recipients.audience.message,
            conversation=recipients.audience.conversation,
            mentioned=row["userId"] in recipients.audience.mentions,
            count=row["count"],
            tries=row["tries"],
            unread=await self._unread_of(row["userId"]),
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
        # The lane was ended, which is no failure of the channel.
        if isinstance(errors[0], asyncio.CancelledError):
            raise errors[0]
        self._failing.add(row["userId"])
        if isinstance(errors[0], DeliveryFailed):
            text = str(errors[0])[:ERROR_LENGTH]
        else:
            # Operators see only its name: the text of an unknown error may quote the message.
            log.warning("a notification could not be delivered", exc_info=errors[0])
            text = type(errors[0]).__name__
        tries = row["tries"] + 1
        failed = {"tries": tries, "done": sorted(done), "error": text}
        if tries >= self._max_attempts or self._api.now() - row["due"] > TOO_OLD:
            log.error("a notification was given up after %d tries: %s", tries, text)
            await self._end(row, "dead", state="dead", **failed)
            return False
        # Spread by a fifth: notifications that failed together are not tried again together.
        seconds = min(self._back_off * 2 ** (tries - 1), LONGEST_BACK_OFF)
        later = self._api.now() + timedelta(seconds=seconds * random.uniform(0.8, 1.2))
        await self._end(row, "failed", notBefore=later, **failed)
        return False

    async def _unread_of(self, user_id: str) -> UnreadTotals | None:
        """The user's number of unread messages; None without the option `inbox`."""
        try:
            return await self._api.count_unread(user_id)
        except StorageUnavailable:
            raise
        except Exception:
            # Of the host's `can_read`, for one: a notification does not fail for its number.
            log.exception("the unread messages of a user could not be counted")
            return None

    async def _end(self, row: Row, outcome: NotificationOutcome, **fields: Any) -> None:
        if outcome == "delivered" and self._once_until_read:
            await self._rows.set_notified(row, **fields)
        else:
            await self._rows.change(row, **fields)
        seconds = (self._api.now() - row["due"]).total_seconds()
        self._api.notify_observers(
            Observer.notification_ended, outcome=outcome, seconds=max(0.0, seconds)
        )
