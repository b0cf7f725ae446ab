"""Receipts: events that a message was delivered to a user, or read."""

import asyncio
from collections import OrderedDict

from chat_aio.actions.plugin_api import EphemeralEvent
from chat_aio.plugin_types.base import DeliveredMessage, Plugin
from chat_aio.schema.events import DeliveredEvent, ReadReceiptEvent

GATHER_SECONDS = 0.05
MESSAGES_REMEMBERED = 10_000


class Receipts(Plugin):
    """Publishes receipt.delivered to the sender, once for each recipient to whose stream the
    message was delivered, and receipt.read to the other participants (specification 12.4).

    Receipts of 50 milliseconds are sent together. Each process remembers the deliveries of its last
    10,000 messages only, so clients must dedupe by `messageId` and sender.
    """

    events = (DeliveredEvent, ReadReceiptEvent)

    def __init__(self) -> None:
        self._delivered: OrderedDict[str, set[str]] = OrderedDict()
        self._gathered: list[EphemeralEvent] = []
        self._timer: asyncio.TimerHandle | None = None

    async def close(self) -> None:
        if self._timer is not None:
            # Gathered receipts are published now: the timer would fire after the chat is closed.
            self._timer.cancel()
            self._publish()

    def message_delivered(self, user_id: str, message: DeliveredMessage) -> None:
        recipients = self._delivered.setdefault(message.message_id, set())
        if user_id in recipients:
            return
        recipients.add(user_id)
        if len(self._delivered) > MESSAGES_REMEMBERED:  # Bounded: a duplicate does little harm.
            self._delivered.popitem(last=False)

        payload = {"messageId": message.message_id, "seq": message.seq}
        self._gather(
            self.api.ephemeral(
                "receipt.delivered",
                user_id,
                payload,
                conversation_id=message.conversation_id,
                to_users=[message.sender_id],
            )
        )

    def message_read(self, user_id: str, conversation_id: str, message_id: str) -> None:
        payload = {"messageId": message_id}
        self._gather(
            self.api.ephemeral("receipt.read", user_id, payload, conversation_id=conversation_id)
        )

    def _gather(self, receipt: EphemeralEvent) -> None:
        # By moment, not by message: receipts of 255 recipients become one write (decision 0007).
        self._gathered.append(receipt)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._publish)

    def _publish(self) -> None:
        self._timer = None
        gathered, self._gathered = self._gathered, []
        self.api.publish(*gathered)
