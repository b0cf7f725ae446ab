"""The connection of a live stream, after aiohttp has begun the response."""

import asyncio
from contextvars import Context

from aiohttp import HttpVersion11, web

from chat_aio.live.stream import Stream
from chat_aio.web.handover import take_over

LAST_CHUNK = b"0\r\n\r\n"
FAREWELL_SECONDS = 3
LAST_FAREWELL_SECONDS = 1

_NOTHING = Context()
"""What callbacks run in. A copy of the request's context would keep the request in memory."""


class StreamConnection(asyncio.Protocol):
    """Takes aiohttp's place on a connection: no task, request or parser is kept for an open stream.

    What the client sends is ignored. A stream that ends closes its connection after what is
    buffered, and a client that leaves ends its stream.
    """

    __slots__ = ("_abort", "_all", "_chunked", "_stream", "_transport")

    def __init__(self, request: web.Request, stream: Stream, all_open: "StreamConnections") -> None:
        assert request.transport is not None
        self._transport = request.transport
        self._chunked = request.version >= HttpVersion11
        self._stream = stream
        self._all = all_open
        self._abort: asyncio.TimerHandle | None = None

    def take(self, request: web.Request) -> None:
        """Take the connection of the request over, which is answered up to here."""
        if request.transport is None:
            self._stream.end()
            return
        take_over(request, self)
        self._all.add(self)
        self._stream.ended.add_done_callback(self._finish, context=_NOTHING)

    def connection_lost(self, error: Exception | None) -> None:
        self._all.remove(self)
        self._stream.end()
        if self._abort is not None:
            self._abort.cancel()

    def _finish(self, _: asyncio.Future[None]) -> None:
        """End the response after what is buffered; a client that does not take it is cut off a few
        seconds later."""
        if self._transport.is_closing():
            return
        if self._chunked:
            self._transport.write(LAST_CHUNK)
        self._transport.close()
        closing = self._stream.ending == "closing"
        patience = LAST_FAREWELL_SECONDS if closing else FAREWELL_SECONDS
        self._abort = asyncio.get_running_loop().call_later(patience, self._transport.abort)


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
