"""Closes connections on which no request arrives in time, so that idle ones cannot pile up."""

import asyncio
from typing import cast

from aiohttp import web
from aiohttp.web_server import Server

HEAD_SECONDS = 15.0
"""From connecting to the end of the first request's head. aiohttp knows only one time for this and
for idle connections, and IDLE_SECONDS would be too long for a client that sends nothing."""

IDLE_SECONDS = 75.0
"""From an answer to the end of the next request's head. Proxies by default close idle connections
earlier, so none of them sends a request into a connection that is just being closed here."""

END_OF_HEAD = b"\r\n\r\n"


class PatientRunner(web.AppRunner):
    """An AppRunner that aborts connections whose first request head does not arrive in time."""

    @property
    def server(self) -> Server | None:
        """The factory of each connection's protocol, which sites call."""
        server = super().server
        return server and cast(Server, lambda: FirstHead(server()))


class FirstHead(asyncio.Protocol):
    """Passes a connection's bytes to its own protocol until the first request head is complete, and
    then hands the connection over; aborts it after `HEAD_SECONDS`."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        self._protocol = protocol
        self._last = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        loop = asyncio.get_running_loop()
        self._end = loop.call_later(HEAD_SECONDS, self._transport.abort)
        self._protocol.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        seen = self._last + data
        if END_OF_HEAD in seen:
            self._end.cancel()
            # From here on aiohttp gets the bytes directly, so long connections cost nothing extra.
            self._transport.set_protocol(self._protocol)
        # The end of the head may be cut in two: its first three bytes may have arrived already.
        self._last = seen[1 - len(END_OF_HEAD) :]
        self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        return self._protocol.eof_received()

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        self._end.cancel()
        self._protocol.connection_lost(error)
