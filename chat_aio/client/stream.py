"""The live stream: it reconnects and resumes by itself, and gives no created event twice."""

import logging
from asyncio import sleep
from collections import deque
from types import TracebackType
from typing import Self

from aiohttp import ClientResponse, ClientTimeout
from pydantic_core import from_json

from chat_aio.client.connection import CUT, Connection, growing
from chat_aio.client.events import Event, event_from
from chat_aio.client.sse import Frame, Parser
from chat_aio.schema.events import MessageEvent

log = logging.getLogger(__name__)

CONNECT_SECONDS = 10.0
RETRY_SECONDS = 3.0
LONGEST_PAUSE_SECONDS = 30.0
SILENT_HEARTBEATS = 3
REMEMBERED_MESSAGES = 10_000
UNSUPPORTED = 501


class EventStream:
    """An async iterator of events, until it is closed. One task at a time may wait for the next.

    `last_event_id` is the position after the last event that was returned. Store it once an event
    is processed, to resume from there after a restart.
    """

    def __init__(
        self, connection: Connection, last_event_id: str | None, heartbeat_seconds: float
    ) -> None:
        self.last_event_id = last_event_id
        self._connection = connection
        self._timeout = ClientTimeout(
            total=None,
            sock_connect=CONNECT_SECONDS,
            sock_read=SILENT_HEARTBEATS * heartbeat_seconds,
        )
        self._response: ClientResponse | None = None
        self._parser = Parser()
        self._frames: deque[Frame] = deque()
        self._told: dict[str, None] = {}
        self._in_order = self._after_event = False
        self._retry_seconds = RETRY_SECONDS
        self._failures = 0
        self.closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        """The next event. Raises ChatError if the service refuses the stream for good."""
        while not self.closed:
            while self._frames:
                event = self._take(self._frames.popleft())
                # Positions that follow belong to this event: a caller that stores `last_event_id`
                # after processing it must not be given the event again.
                while self._frames and not self._frames[0].data:
                    self._move(self._frames.popleft().id)
                if event is not None:
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

    def _take(self, frame: Frame) -> Event | None:
        """The event of a frame; None if it has none, or for a message that was returned before."""
        if not frame.data:
            self._move(frame.id)
            return None
        event = event_from(frame.event, from_json(frame.data))
        self._after_event = True
        if not isinstance(event, MessageEvent) or event.type != "message.created":
            return event
        if self._in_order:
            self.last_event_id = frame.id
        return event if self._is_new(event.message.id) else None

    def _move(self, position: str | None) -> None:
        """Move to a position that the service has sent.

        The events of a replay from storage are not in the order of positions: after each one the
        service repeats the position that the stream was opened with, so that a replay that is cut
        starts over. Any other position, or the same one without an event before it, ends that
        phase. Later only the ids of created events are positions: an edit has the id of its
        message, which may be old, and is followed by the position.
        """
        if position != self.last_event_id or not self._after_event:
            self._in_order = True
        # An empty id means that there is no position, as the standard says.
        self.last_event_id = position or None
        self._after_event = False

    def _is_new(self, message_id: str) -> bool:
        # Replays from storage begin a minute early (docs/behaviour.md 7.5).
        if message_id in self._told:
            return False
        self._told[message_id] = None
        if len(self._told) > REMEMBERED_MESSAGES:  # A dict keeps its order: the oldest goes.
            del self._told[next(iter(self._told))]
        return True

    async def _read(self) -> None:
        """Read more frames, or connect again. Cancelling this loses nothing."""
        try:
            if self._response is None:
                await self._connect()
            elif chunk := await self._response.content.readany():
                # Not on connecting: a service that closes at once would be called in a loop.
                self._failures = 0
                self._frames.extend(self._parser.feed(chunk))
            else:
                raise ConnectionResetError("the service has ended the stream")
        except (*CUT, ConnectionError) as reason:
            self._hang_up()
            if not self.closed:
                await self._pause(reason)

    async def _connect(self) -> None:
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        if self.last_event_id is not None:
            headers["Last-Event-ID"] = self.last_event_id
        response = await self._connection.request(
            "GET", ("stream",), timeout=self._timeout, headers=headers
        )
        # The type is checked, because a proxy may answer with a page of its own.
        if response.status == 200 and response.content_type == "text/event-stream":
            self._response, self._parser = response, Parser()
            # Without a position nothing is replayed.
            self._in_order, self._after_event = self.last_event_id is None, False
            return
        async with response:
            refusal = await self._connection.refusal(response)
        # Other server errors pass: they lead to another attempt after a pause.
        if response.status < 500 or response.status == UNSUPPORTED:
            raise refusal
        raise ConnectionResetError(str(refusal)) from refusal

    async def _pause(self, reason: Exception) -> None:
        """Wait as long as the service has asked for, and longer after each further failure."""
        if self._parser.retry_ms is not None:
            self._retry_seconds = self._parser.retry_ms / 1000
        pause = growing(self._retry_seconds, self._failures, LONGEST_PAUSE_SECONDS)
        self._failures += 1
        log.info("the stream was cut (%s); reconnecting in %.1f s", reason, pause)
        await sleep(pause)

    def _hang_up(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None
