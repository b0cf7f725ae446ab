"""Delivery: the notifications of each user, in order, several users at once."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.errors import StorageUnavailable
from chat_aio.observability.observer import NotificationOutcome, Observer
from chat_aio.plugins.deliveries.lanes import Lanes
from chat_aio.plugins.deliveries.lease import PositionLease
from chat_aio.plugins.deliveries.rows import Row
from chat_aio.plugins.deliveries.tries import Tries
from chat_aio.plugins.notifications.channels import Channel, Notification
from chat_aio.plugins.notifications.deciding import Decider, Recipients
from chat_aio.plugins.notifications.holding import Holding
from chat_aio.plugins.notifications.rows import Rows
from chat_aio.schema.inbox import UnreadTotals

log = logging.getLogger(__name__)


class Delivery(Lanes):
    """The lanes of users in the process that holds the lease."""

    def __init__(
        self,
        api: PluginAPI,
        lease: PositionLease,
        rows: Rows,
        decider: Decider,
        holding: Holding,
        channels: Sequence[Channel],
        *,
        concurrency: int,
        tries: Tries,
        once_until_read: bool,
    ) -> None:
        super().__init__(api, lease, concurrency=concurrency, tries=tries)
        self._rows = rows
        self._decider = decider
        self._holding = holding
        self._channels = channels
        self._once_until_read = once_until_read

    async def read_waiting(self, key: str, *, limit: int) -> Sequence[Row]:
        return await self._rows.waiting_of(key, limit=limit)

    async def hold_up(self, key: str, first: Row) -> None:
        await self._rows.hold_up(key, first["notBefore"])
        if first["held"]:
            await self._holding.look_again({key: first["notBefore"]})

    async def attempt(self, key: str, row: Row, waiting: Sequence[Row]) -> bool:
        """Deliver one notification; False if the waiting rows have to be read again."""
        # Decided again before each try: the message may be deleted by now, or seen.
        recipients = await self._decider.decide_again(row["messageId"])
        if recipients is None or row["userId"] not in recipients.quiet_until:
            await self._end(row, "dropped", state="dropped")
            return True
        until = recipients.quiet_until[row["userId"]]
        if until is not None and until > self._api.now():
            await self._rows.change(row, held=True, dueAt=until, notBefore=until)
            await self._holding.look_again({row["userId"]: until})
            return False
        if (row["held"] or self._once_until_read) and await self._merge(row, waiting):
            return False
        if self._once_until_read and await self._is_notified(row, recipients):
            await self._end(row, "dropped", state="dropped")
            return True
        return await self._try(row, recipients)

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
                        dueAt=min(other["dueAt"], row["dueAt"]),
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
        message = recipients.audience.message
        notification = Notification(
            user_id=row["userId"],
            message=message,
            conversation=recipients.audience.conversation,
            mentioned=row["userId"] in recipients.audience.mentions,
            count=row["count"],
            tries=row["tries"],
            unread=await self._unread_of(row["userId"]),
            sender=(await self._api.find_users([message.sender_id])).get(message.sender_id),
        )
        done = set(row["done"])
        outcomes = await asyncio.gather(
            *(channel.send(notification, done) for channel in self._channels),
            return_exceptions=True,
        )
        errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if not errors:
            self.has_delivered(row["userId"])
            await self._end(row, "delivered", state="delivered", done=sorted(done), error=None)
            return True
        # The lane was ended, which is no failure of the channel.
        if isinstance(errors[0], asyncio.CancelledError):
            raise errors[0]
        outcome, fields = self.after_failure(row["userId"], row, errors[0])
        await self._end(row, outcome, done=sorted(done), **fields)
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
        seconds = (self._api.now() - row["dueAt"]).total_seconds()
        self._api.notify_observers(
            Observer.notification_ended, outcome=outcome, seconds=max(0.0, seconds)
        )
