"""The live stream over HTTP: it reconnects and resumes by itself."""

import logging
from asyncio import sleep
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from aiohttp import ClientResponse, ClientTimeout

from chat_aio.client.connection import CUT, Connection, backoff_delay
from chat_aio.client.events import Event
from chat_aio.client.reader import EventReader

log = logging.getLogger(__name__)

CONNECT_SECONDS = 10.0
RETRY_SECONDS = 3.0
LONGEST_PAUSE_SECONDS = 30.0
SILENT_HEARTBEATS = 3
UNSUPPORTED = 501
ATTEMPTS = 5
RESET = b'event: stream.reset\ndata: {"type": "stream.reset", "reason": "position_unknown"}\n\n'
"""What the service sends where it cannot replay."""


class EventStream:
    """An async iterator of events, until it is closed. One task at a time may wait for the next.

    `last_event_id` is the position after the last event that was returned, and so is the event's
    `position`. Store it once an event is processed, to resume from there after a restart.
    """

    def __init__(
        self,
        connection: Connection,
        last_event_id: str | None,
        heartbeat_seconds: float,
        attempts: int = ATTEMPTS,
        conversation_ids: Sequence[str] | None = None,
    ) -> None:
        self._query = None
        if conversation_ids is not None:
            self._query = {"conversationIds": ",".join(conversation_ids)}
        self._has_opened = False
        self._connection = connection
        self._attempts = attempts
        self._timeout = ClientTimeout(
            total=None,
            sock_connect=CONNECT_SECONDS,
            # Without heartbeats the connection is dead, though TCP may not notice for hours.
            sock_read=SILENT_HEARTBEATS * heartbeat_seconds,
        )
        self._response: ClientResponse | None = None
        self._reader = EventReader(last_event_id)
        self._retry_seconds = RETRY_SECONDS
        self._failures = 0
        self._errors = 0
        self.closed = False

    @property
    def last_event_id(self) -> str | None:
        return self._reader.last_event_id

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        """The next event. Raises ChatError if the service refuses the stream, and InternalError if
        it has answered 500 as often in a row as there are `attempts`."""
        while not self.closed:
            if (event := self._reader.next()) is not None:
                return event
            await self._read()
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        """Connect: every event from now on is delivered."""
        while self._response is None and not self.closed:
            await self._read()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the stream, also for a task that is waiting for the next event."""
        self.closed = True
        self._hang_up()

    async def _read(self) -> None:
        """Read more frames, or connect again. Cancelling this loses nothing."""
        try:
            if self._response is None:
                await self._connect()
            elif chunk := await self._response.content.readany():
                # Not on connecting: a service that closes at once would be called in a loop.
                self._failures = 0
                self._reader.feed(chunk)
            else:
                raise ConnectionResetError("the service has ended the stream")
        except (*CUT, ConnectionError) as reason:
            self._hang_up()
            # Closed by the caller: that is no failure.
            if self.closed:
                return
            # The delay that the service asks for, and longer after each further failure.
            if self._reader.retry_ms is not None:
                self._retry_seconds = self._reader.retry_ms / 1000
            pause = backoff_delay(self._retry_seconds, self._failures, LONGEST_PAUSE_SECONDS)
            self._failures += 1
            log.info("the stream was cut (%s); reconnecting in %.1f s", reason, pause)
            await sleep(pause)

    async def _connect(self) -> None:
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        if self.last_event_id is not None:
            headers["Last-Event-ID"] = self.last_event_id
        response = await self._connection.request(
            "GET", ("stream",), timeout=self._timeout, query=self._query, headers=headers
        )
        if self.closed:  # Meanwhile: nobody will read it.
            response.close()
            return
        # The type is checked, because a proxy may answer with its own page.
        if response.status == 200 and response.content_type == "text/event-stream":
            self._response = response
            self._reader.begin()
            # Without positions there is no replay: what came in between is lost.
            if self._query is not None and self._has_opened:
                self._reader.feed(RESET)
            self._has_opened = True
            self._errors = 0
            return
        async with response:
            refusal = await self._connection.refusal(response)
        # For good: a ban or a wrong login is not cured by trying again.
        if response.status < 500 or response.status == UNSUPPORTED:
            raise refusal
        if response.status == 500:  # Such as an `auth` hook that fails.
            self._errors += 1
            log.warning("the stream was refused, attempt %d: %s", self._errors, refusal)
            if self._errors >= self._attempts:
                raise refusal
        else:
            self._errors = 0
        # Other server errors pass: they lead to another attempt after a pause.
        raise ConnectionResetError(str(refusal)) from refusal

    def _hang_up(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None
