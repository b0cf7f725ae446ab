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
from chat_aio.schema.events import ResetEvent
from chat_aio.schema.fields import is_id

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0


class LocalEvents:
    """An async iterator of events, until it is closed or the chat closes. One task at a time may
    wait for the next; cancelling it loses nothing.

    A reader that falls behind as far as a stream over HTTP may (docs/behaviour.md 7.8) loses its
    place among the open streams. It is given what was queued for it by then, and then resumes from
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
            elif self._is_wanted(event):
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
        # Left by `break`: nobody will read what is queued. Any thread may collect it; once the loop
        # is closed nothing is delivered.
        if self._stream is not None:
            with suppress(RuntimeError):
                self._closing.get_loop().call_soon_threadsafe(self._stream.end)

    async def _read(self) -> None:
        """Read more of the stream, or open it again."""
        if self._queue is None:
            await self._open()
        elif (chunk := await self._queue.read()) is not None:
            self._pause = FIRST_PAUSE_SECONDS
            self._reader.feed(chunk)
        else:
            self._queue = self._stream = None
            # A stream that ends at once would be opened in a loop.
            await self._rest()

    async def _open(self) -> None:
        """Open the stream from the reader's position; wait while that cannot be."""
        while not (self._closed or self._closing.done()):
            with suppress(StorageUnavailable):
                if self._live.feed.is_live:
                    stream = await self._live.open_stream(
                        self._user_id, self.position, only=self._only
                    )
                    self._begin(stream)
                    return
            await self._rest()

    async def _rest(self) -> None:
        """Wait before the next attempt, longer each time, but no longer than the chat is open."""
        pause, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE_SECONDS)
        await asyncio.wait({self._closing}, timeout=pause)

    def _begin(self, stream: Stream) -> None:
        """Queue the replay and what comes from now on."""
        self._reader.begin()
        # In one piece, so that the position after an event is known with the event.
        self._reader.feed(b"".join(frame.plain for frame in stream.replay.frames))
        self._queue, self._stream = _Queue(), stream
        stream.go_live(self._queue)

    def _is_wanted(self, event: Event) -> bool:
        """Whether an event is of the wanted conversations. A user's stream has others, which are
        not of a conversation that it is subscribed to."""
        if self._only is None or isinstance(event, ResetEvent):
            return True
        if isinstance(event, OtherEvent):
            return event.data.get("conversationId") in self._only
        return getattr(event, "conversation_id", None) in self._only


class _Queue:
    """What a stream has written and nobody has read; the stream bounds it, as it does for a socket.
    After its end `read` gives what is left, and then None."""

    chunked = False

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._over = False
        self._arrived: asyncio.Future[None] | None = None

    @property
    def pipe(self) -> Self:
        return self

    async def read(self) -> bytes | None:
        """The next bytes, once there are any."""
        while not self._chunks and not self._over:
            self._arrived = asyncio.get_running_loop().create_future()
            await self._arrived
        if not self._chunks:
            return None
        chunk = self._chunks.popleft()
        self._size -= len(chunk)
        return chunk

    def write(self, data: bytes) -> None:
        if data != HEARTBEAT.plain:
            self._chunks.append(data)
            self._size += len(data)
            self._wake()

    def get_write_buffer_size(self) -> int:
        return self._size

    def is_closing(self) -> bool:
        return self._over

    def abort(self) -> None:
        self._over = True
        self._wake()

    def finish(self, ending: Ending) -> None:
        self.abort()

    def _wake(self) -> None:
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_result(None)
