"""The connection of a live stream, after aiohttp has begun the response."""

import asyncio

from aiohttp import HttpVersion11, web

from chat_aio.live.stream import Stream
from chat_aio.observability.observer import Ending
from chat_aio.web.connection_takeover import take_over

LAST_CHUNK = b"0\r\n\r\n"
FAREWELL_SECONDS = 3
LAST_FAREWELL_SECONDS = 1


class StreamConnection(asyncio.Protocol):
    """Takes aiohttp's place on a connection: no task, request or parser is kept for an open stream.

    What the client sends is ignored. A stream that is over closes its connection after what is
    buffered, and a client that leaves ends its stream.
    """

    __slots__ = ("_abort", "_all", "_ending", "_is_taken", "_over", "_stream", "chunked", "pipe")

    def __init__(self, request: web.Request, stream: Stream, all_open: "StreamConnections") -> None:
        assert request.transport is not None
        self.pipe = request.transport
        self.chunked = request.version >= HttpVersion11
        self._stream = stream
        self._all = all_open
        self._is_taken = False
        self._ending: Ending | None = None
        self._over: asyncio.Future[None] | None = None
        self._abort: asyncio.TimerHandle | None = None

    def take(self, request: web.Request) -> None:
        """Take the connection over from aiohttp, which has answered the request up to here."""
        take_over(request, self)
        self._is_taken = True
        self._all.add(self)
        if self._ending is not None:
            self.finish(self._ending)

    async def wait_over(self) -> None:
        """Where the connection cannot be taken, the request lasts as long as its stream."""
        if self._ending is None:
            self._over = asyncio.get_running_loop().create_future()
            await self._over

    def connection_lost(self, error: Exception | None) -> None:
        self._all.remove(self)
        self._stream.end()
        if self._abort is not None:
            self._abort.cancel()

    def finish(self, ending: Ending) -> None:
        """End the response after the buffered bytes; a client that does not take it is cut off a
        few seconds later."""
        self._ending = ending
        if self._over is not None:
            if not self._over.done():
                self._over.set_result(None)
        elif not self._is_taken:
            return  # aiohttp is still at work on the request; `take` comes back to this.
        elif not self.pipe.is_closing():
            if self.chunked:
                self.pipe.write(LAST_CHUNK)
            self.pipe.close()
        # In any case: a client that has closed its own side only, and reads nothing, would keep the
        # connection, which waits for its buffer to be empty.
        patience = LAST_FAREWELL_SECONDS if ending == "closing" else FAREWELL_SECONDS
        self._abort = asyncio.get_running_loop().call_later(patience, self.pipe.abort)


class StreamConnections:
    """The connections of a chat's live streams. aiohttp does not know them any more, so a shutdown
    must wait for them here."""

    def __init__(self) -> None:
        self._open: set[StreamConnection] = set()
        self._none_left: asyncio.Future[None] | None = None

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: StreamConnection) -> None:
        self._open.add(connection)

    def remove(self, connection: StreamConnection) -> None:
        self._open.discard(connection)
        if not self._open and self._none_left is not None and not self._none_left.done():
            self._none_left.set_result(None)

    async def wait_closed(self) -> None:
        """Wait until all are closed, whose streams have ended: their clients get the end."""
        if self._open:
            self._none_left = asyncio.get_running_loop().create_future()
            await asyncio.wait({self._none_left}, timeout=2 * LAST_FAREWELL_SECONDS)
