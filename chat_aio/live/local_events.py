"""The events of a stream within the process: `chat.events`. Their content is that of a stream over
HTTP, and so is what happens to a reader that falls behind."""

import asyncio
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from types import TracebackType
from typing import Self

from chat_aio.client.events import Event, OtherEvent
from chat_aio.client.reader import EventReader
from chat_aio.errors import InvalidInput, StorageUnavailable
from chat_aio.live.frames import HEARTBEAT
from chat_aio.live.service import Live
from chat_aio.live.stream import HOST, Stream
from chat_aio.observability.observer import Ending
from chat_aio.schema.events import ChangedEvent, ResetEvent
from chat_aio.schema.fields import is_id

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0


class EventSubscription:
    """An async iterator of events, until it is closed or the chat closes. One task at a time may
    wait for the next; cancelling it loses nothing.

    A reader that falls behind as far as a stream over HTTP may (specification 7.8) loses its
    place among the open streams. It gets the events queued by then, and then resumes from
    its position, by a replay.
    """

    _stream: Stream | None = None

    def __init__(
        self,
        live: Live,
        *,
        conversation_ids: Collection[str] | None,
        user_id: str | None,
        after: str | None,
    ) -> None:
        self._live = live
        self._closing = live.closing
        # Never by chance: an empty id would be the host, who may read everything.
        if user_id is not None and not is_id(user_id):
            raise InvalidInput("user_id must be an id")
        self._user_id = HOST if user_id is None else user_id
        self._only = None if conversation_ids is None else frozenset(conversation_ids)
        self._reader = EventReader(after)
        self._queue: _Queue | None = None
        self._pause = FIRST_PAUSE_SECONDS
        self._closed = False

    @property
    def position(self) -> str | None:
        """The position after the last event that was returned."""
        return self._reader.last_event_id

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        """The next event. Raises UserBanned, and RateLimited for more than `streams_per_user`."""
        while not (self._closed or self._closing.done()):
            event = self._reader.next()
            if event is None:
                await self._read()
                continue
            if self._only is None or isinstance(event, ResetEvent | ChangedEvent):
                return event
            # A user's stream also has events of no conversation that it is subscribed to.
            conversation_id = (
                event.data.get("conversationId")
                if isinstance(event, OtherEvent)
                else getattr(event, "conversation_id", None)
            )
            if conversation_id in self._only:
                return event
        await self.aclose()
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        """Open the stream: every event from now on is delivered."""
        while self._queue is None and not (self._closed or self._closing.done()):
            await self._read()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End, also for a task that is waiting for the next event. Closing twice is harmless."""
        self._closed = True
        if self._stream is not None:
            self._stream.end()
        if self._queue is not None:
            self._queue.finish("left")

    def __del__(self) -> None:
        # Left by `break`: nobody will read the queue. Any thread may collect it; once the loop
        # is closed nothing is delivered.
        if self._stream is not None:
            with suppress(RuntimeError):
                self._closing.get_loop().call_soon_threadsafe(self._stream.end)

    async def _read(self) -> None:
        """Read more of the stream, or open it from the reader's position; after an end and where it
        cannot be opened, wait before the next attempt."""
        if self._queue is None:
            with suppress(StorageUnavailable):
                if self._live.feed.is_live:
                    stream = await self._live.open_stream(
                        self._user_id, self.position, only=self._only
                    )
                    self._reader.begin()
                    # In one piece, so that the position after an event is known with the event.
                    self._reader.feed(b"".join(frame.plain for frame in stream.replay.frames))
                    self._queue, self._stream = _Queue(), stream
                    stream.go_live(self._queue)
                    return
        elif (chunk := await self._queue.read()) is not None:
            self._pause = FIRST_PAUSE_SECONDS
            self._reader.feed(chunk)
            return
        else:
            # A stream that ends at once would be opened in a loop: wait here too.
            self._queue = self._stream = None
        # Longer each time, but no longer than the chat is open.
        pause, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE_SECONDS)
        await asyncio.wait({self._closing}, timeout=pause)


class _Queue:
    """What a stream has written and nobody has read; the stream bounds it, as it does for a socket.
    After its end `read` returns the rest, and then None."""

    chunked = False

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._over = False
        self._arrived = asyncio.Event()

    @property
    def pipe(self) -> Self:
        return self

    async def read(self) -> bytes | None:
        """The next bytes, once there are any."""
        while not self._chunks and not self._over:
            self._arrived.clear()
            await self._arrived.wait()
        if not self._chunks:
            return None
        chunk = self._chunks.popleft()
        self._size -= len(chunk)
        return chunk

    def write(self, data: bytes) -> None:
        if data != HEARTBEAT.plain:
            self._chunks.append(data)
            self._size += len(data)
            self._arrived.set()

    def get_write_buffer_size(self) -> int:
        return self._size

    def is_closing(self) -> bool:
        return self._over

    def abort(self) -> None:
        self._over = True
        self._arrived.set()

    def finish(self, ending: Ending) -> None:
        self.abort()
