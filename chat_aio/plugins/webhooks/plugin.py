"""The plugin: its settings, and its parts."""

import re
from collections.abc import Collection
from contextlib import AsyncExitStack
from functools import partial

from chat_aio.plugin_types.base import Plugin
from chat_aio.plugins.deliveries.lease import PositionLease
from chat_aio.plugins.deliveries.signed import SignedEndpoint
from chat_aio.plugins.deliveries.tries import Tries
from chat_aio.plugins.webhooks.rows import Rows
from chat_aio.plugins.webhooks.working import EventReader, Posting, WebhookWorker
from chat_aio.schema.events import STORED_EVENTS, StoredEventType

LEASES = "webhooks:"
"""The beginning of the names of leases."""

_NAME = re.compile(r"[a-z0-9_-]{1,40}")


class Webhooks(Plugin):
    """Posts the chosen kinds of events to `url`, an endpoint of the host: at least once, in order
    for each conversation, signed with `secret` (docs/guides/webhooks.md). `events` are all kinds by
    default. Webhooks of one chat need different names: otherwise `open` of the chat raises
    SetupError.

    One process at a time does it. If it dies, another one goes on within `lease_seconds` and a
    third of them. Anything but a 2xx within `timeout_seconds` is tried again, `max_attempts` times,
    at first after `retry_backoff_seconds` and then after twice as long each time; later events of
    the same conversation wait. Events of `concurrency` conversations are posted at once, and of a
    quarter as many whose last try has failed.

    Raises SetupError without the package standardwebhooks, and ValueError for a wrong argument.
    """

    def __init__(
        self,
        url: str,
        secret: str,
        *,
        events: Collection[StoredEventType] = STORED_EVENTS,
        name: str = "default",
        timeout_seconds: float = 10.0,
        lease_seconds: float = 5.0,
        max_attempts: int = 12,
        retry_backoff_seconds: float = 5.0,
        concurrency: int = 50,
    ) -> None:
        positive = (timeout_seconds, lease_seconds, max_attempts, retry_backoff_seconds)
        if min(*positive, concurrency) <= 0:
            raise ValueError("Webhooks: times and numbers must be positive")
        if not events:
            raise ValueError("Webhooks(events=...): name at least one")
        if unknown := {*events} - {*STORED_EVENTS}:
            raise ValueError(f"Webhooks(events=...): unknown {', '.join(sorted(unknown))}")
        if not _NAME.fullmatch(name):
            raise ValueError("Webhooks(name=...): 1 to 40 of a-z, 0-9, _ and -")
        self._endpoint = SignedEndpoint(url, secret, seconds=timeout_seconds)
        self._events = frozenset(events)
        self._name = name
        self._lease_seconds = lease_seconds
        self._tries = Tries(most=max_attempts, back_off=retry_backoff_seconds)
        self._concurrency = concurrency
        self._opened = AsyncExitStack()

    async def open(self) -> None:
        api, webhook = self.api, self._name
        lease = PositionLease.of(api, LEASES + webhook, seconds=self._lease_seconds)
        rows = Rows(api, webhook)
        reader = EventReader(api, lease, rows, webhook=webhook, events=self._events)
        make_posting = partial(
            Posting,
            api,
            lease,
            rows,
            reader,
            self._endpoint,
            webhook=webhook,
            concurrency=self._concurrency,
            tries=self._tries,
        )
        worker = WebhookWorker(api, lease, rows, reader, make_posting, webhook=webhook)
        # Last: if something fails before, nothing is open.
        await self._endpoint.open(api)
        self._opened.push_async_callback(self._endpoint.close)
        worker.open()
        self._opened.push_async_callback(worker.close)

    async def close(self) -> None:
        await self._opened.aclose()
