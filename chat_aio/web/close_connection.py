"""Ends the connection of a request that was answered before its body was read.

aiohttp goes on reading an unread body for ten seconds after the answer. If it inflates bodies, it
inflates that one too: a megabyte can become a gigabyte, on the event loop.
"""

import asyncio

from aiohttp import web

from chat_aio.web.connection_takeover import take_over

GOODBYE_SECONDS = 2.0
"""How long a client that is still sending has to notice the answer."""

PARTING = web.RequestKey("parting", bool)
"""Set if aiohttp must not read from, or reuse, the connection any more."""


def stop_reading(request: web.Request) -> None:
    """Read, and inflate, no more of the body; the connection ends with the answer."""
    request[PARTING] = True
    if request.transport is not None:
        request.transport.pause_reading()


async def answer_and_part(request: web.Request, response: web.StreamResponse) -> None:
    """Send an answer, then discard what still arrives until the client closes or time is up."""
    response.force_close()
    try:
        await response.prepare(request)
        await response.write_eof()
    except ConnectionError:
        return  # It has left, such as an upload that was cancelled.
    if request.transport is None:
        return
    # Taken away from aiohttp, which would read the rest of the body or close at once. If the socket
    # closes while the client still sends, the reset can destroy the answer before it is read.
    take_over(request, _Goodbye(request.transport))


class _Goodbye(asyncio.Protocol):
    """Discards what arrives, until the client closes or `GOODBYE_SECONDS` are over."""

    def __init__(self, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        self._end = loop.call_later(GOODBYE_SECONDS, transport.abort)
        if transport.can_write_eof():
            transport.write_eof()

    def connection_lost(self, error: Exception | None) -> None:
        self._end.cancel()
