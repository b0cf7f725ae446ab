"""The work of the process that holds the lease of a webhook: events are noted as they are stored,
and posted in the order of their conversation (decision 0087)."""

import logging
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any

import orjson

from chat_aio.actions.plugin_api import (
    PluginAPI,
    Position,
    StoredEvent,
    StoredEvents,
    event_of_created,
)
from chat_aio.errors import StorageUnavailable
from chat_aio.observability.observer import Observer, WebhookOutcome
from chat_aio.plugins.deliveries.lanes import Lanes
from chat_aio.plugins.deliveries.lease import LeaseLost, PositionLease
from chat_aio.plugins.deliveries.reading import Reader
from chat_aio.plugins.deliveries.rows import Row
from chat_aio.plugins.deliveries.signed import SignedEndpoint
from chat_aio.plugins.deliveries.tries import Tries
from chat_aio.plugins.deliveries.worker import Work, Worker
from chat_aio.plugins.webhooks.rows import GAP, NOWHERE, Rows, event_of
from chat_aio.schema.wire import timestamp

log = logging.getLogger(__name__)

BEFORE_A_POSITION = timedelta(minutes=1)
"""Changes up to this long before the time of a position have been read."""

# Characters between those of MongoDB's tokens, which are hexadecimal, and of what follows them.
AFTER_ITS_PARTS, AFTER_ALL, AT_THE_START = "/", "~", "0"


class EventReader(Reader[StoredEvent]):
    """Notes the chosen events. Rows that are before `upto` are complete: only they may be
    posted."""

    def __init__(
        self,
        api: PluginAPI,
        lease: PositionLease,
        rows: Rows,
        *,
        webhook: str,
        events: Collection[str],
    ) -> None:
        super().__init__(lease)
        self._api = api
        self._rows = rows
        self._webhook = webhook
        self._events = events
        self._noted: set[str] = set()
        self.upto = ""
        self.wake: Callable[[set[str]], None] = lambda _: None

    async def follow(self, after: Position | None) -> StoredEvents:
        return await self._api.follow_events(after)

    async def note(self, found: Sequence[StoredEvent]) -> None:
        chosen = [event for event in found if event.type in self._events]
        if chosen:
            await self._rows.add(chosen)
            self._noted.update(event.conversation_id for event in chosen)

    def moved(self, position: Position) -> None:
        if position.order:
            # The rows of one read are written in any order: only now are they complete.
            self.upto = position.order + AFTER_ITS_PARTS
        noted, self._noted = self._noted, set()
        if noted:
            self.wake(noted)

    async def read_lost(self, position: Position) -> None:
        """Note the gap for the receiver, and the messages since: nothing else can be read."""
        since = position.at - BEFORE_A_POSITION
        # After all that was read before, and before all that the new stream has.
        place = (position.order or AT_THE_START) + AFTER_ALL
        gap_id = sha256(f"{GAP}\0{place}\0{since}".encode()).hexdigest()[:32]
        await self._rows.add([StoredEvent(gap_id, GAP, NOWHERE, since, place)])
        log.error(
            "webhook %s: events since %s are missing, except new messages",
            self._webhook,
            timestamp(since),
        )
        self._api.notify_observers(Observer.webhook_gap, self._webhook)
        self._noted.add(NOWHERE)
        if "message.created" in self._events:
            async for found in self._api.created_since(position.at, silent=True):
                self._lease.require()
                await self.note(
                    [event_of_created(message, f"{place}{message.seq:020}") for message in found]
                )


class Posting(Lanes):
    """The lanes of conversations: the events of each are posted in order."""

    most_lanes = 1_000
    read_at_once = 20

    def __init__(
        self,
        api: PluginAPI,
        lease: PositionLease,
        rows: Rows,
        reader: EventReader,
        endpoint: SignedEndpoint,
        *,
        webhook: str,
        concurrency: int,
        tries: Tries,
    ) -> None:
        super().__init__(api, lease, concurrency=concurrency, tries=tries)
        self._rows = rows
        self._reader = reader
        self._endpoint = endpoint
        self._webhook = webhook

    async def read_waiting(self, key: str, *, limit: int) -> Sequence[Row]:
        return await self._rows.waiting_in(key, before=self._reader.upto, limit=limit)

    async def hold_up(self, key: str, first: Row) -> None:
        await self._rows.hold_up(key, first["notBefore"])

    async def attempt(self, key: str, row: Row, waiting: Sequence[Row]) -> bool:
        """Post one event; False if the waiting rows have to be read again."""
        try:
            data = await self._data_of(row)
            if data is not None:
                await self._endpoint.post(row["eventId"], _body(row, data))
        except (StorageUnavailable, LeaseLost):
            raise
        except Exception as error:
            outcome, fields = self.after_failure(key, row, error)
            await self._end(row, outcome, **fields)
            return False
        if data is None:
            await self._end(row, "dropped", state="dropped")
            return True
        self.has_delivered(key)
        await self._end(row, "delivered", state="delivered", error=None)
        return True

    async def _data_of(self, row: Row) -> bytes | None:
        """The event's data as of now; None if its message or conversation no longer exists."""
        if row["type"] == GAP:
            return orjson.dumps({"type": GAP, "since": timestamp(row["at"])})
        event = event_of(row)
        return (await self._api.event_data([event])).get(event.id)

    async def _end(self, row: Row, outcome: WebhookOutcome, **fields: Any) -> None:
        await self._rows.change(row, **fields)
        seconds = max(0.0, (self._api.now() - row["at"]).total_seconds())
        self._api.notify_observers(
            Observer.webhook_ended, self._webhook, outcome=outcome, seconds=seconds
        )


class WebhookWorker(Worker[Posting]):
    """Reads and posts while it holds the lease."""

    def __init__(
        self,
        api: PluginAPI,
        lease: PositionLease,
        rows: Rows,
        reader: EventReader,
        make_posting: Callable[[], Posting],
        *,
        webhook: str,
    ) -> None:
        super().__init__(lease, make_posting)
        self._api = api
        self._rows = rows
        self._reader = reader
        self._webhook = webhook

    def works(self, delivery: Posting) -> Sequence[Work]:
        # Another process has written since: its rows are complete once they are read again.
        self._reader.upto = ""
        self._reader.wake = delivery.wake
        return (self._reader.read,)

    async def list_waiting(self) -> Sequence[str]:
        return await self._rows.conversations_waiting(self._api.now())

    async def count(self) -> None:
        backlog = await self._rows.backlog()
        self._api.notify_observers(Observer.webhooks_counted, self._webhook, backlog)

    async def lost(self) -> None:
        self._api.notify_observers(Observer.webhooks_counted, self._webhook, None)


def _body(row: Row, data: bytes) -> bytes:
    head: dict[str, Any] = {"type": row["type"], "timestamp": timestamp(row["at"])}
    if row["previousFailed"]:
        head["previousFailed"] = True
    return orjson.dumps({**head, "data": orjson.Fragment(data)})
