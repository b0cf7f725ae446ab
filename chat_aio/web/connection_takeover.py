"""Takes a connection away from aiohttp, once it has answered the request."""

import asyncio

from aiohttp import web


def can_take_over(request: web.Request) -> bool:
    """Whether the request was made on a connection of aiohttp's own server that is still open."""
    transport = request.transport
    is_open = transport is not None and not transport.is_closing()
    is_aiohttps = isinstance(request.protocol, web.RequestHandler)
    return is_open and is_aiohttps and hasattr(transport, "set_protocol")


def take_over(request: web.Request, protocol: asyncio.Protocol) -> None:
    """Let `protocol` handle the connection from now on. aiohttp forgets it, with its parser, its
    timers and the task that waits for the next request."""
    transport = request.transport
    assert transport is not None
    transport.set_protocol(protocol)
    request.protocol.transport = None  # Else `connection_lost` closes it before all is sent.
    request.protocol.connection_lost(None)
    # aiohttp may have paused it, and a paused transport never hears that the client has left.
    transport.resume_reading()
