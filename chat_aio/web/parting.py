"""Requests that are answered before they are read: how their connection ends.

aiohttp goes on reading a body that nobody has read, for ten seconds behind the answer, and where it
inflates bodies it inflates that one as well: one megabyte becomes a gigabyte, on the event loop.
"""

import asyncio

from aiohttp import web

GOODBYE_SECONDS = 2.0
"""How long a client has to notice the answer while it is still sending."""

PARTING = web.RequestKey("parting", bool)
"""Set where the connection must not be used, or read by aiohttp, any more."""


def is_encoded(request: web.Request) -> bool:
    """Whether a request has a body in a Content-Encoding."""
    named = ",".join(request.headers.getall("Content-Encoding", ())).strip().lower()
    return request.body_exists and named not in ("", "identity")


def stop_reading(request: web.Request) -> None:
    """From here on nothing more of the body is taken in, or inflated; the connection ends with the
    answer."""
    request[PARTING] = True
    if request.transport is not None:
        request.transport.pause_reading()


async def answer_and_part(request: web.Request, response: web.StreamResponse) -> None:
    """Send an answer, and take the connection away from aiohttp: what still comes is thrown away
    unread, so that a client that is sending gets to the answer, and then the connection closes."""
    response.force_close()
    await response.prepare(request)
    await response.write_eof()
    if request.transport is None:
        return
    transport = request.transport
    transport.set_protocol(_Goodbye(transport))
    request.protocol.transport = None  # Or it would be closed with what has not been sent yet.
    request.protocol.connection_lost(None)
    transport.resume_reading()


class _Goodbye(asyncio.Protocol):
    """Throws away what comes, until the client leaves or has had time enough."""

    def __init__(self, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        self._end = loop.call_later(GOODBYE_SECONDS, transport.abort)
        if transport.can_write_eof():
            transport.write_eof()

    def connection_lost(self, error: Exception | None) -> None:
        self._end.cancel()
