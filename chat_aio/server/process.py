"""A process that serves one app at a bound socket until a signal, and then ends within seconds."""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Awaitable
from contextlib import suppress

from aiohttp import web
from aiohttp.web import BaseRequest, StreamResponse

from chat_aio.errors import SetupError
from chat_aio.server.idle_connections import IDLE_SECONDS, PatientRunner
from chat_aio.web.access_log import RouteAccessLogger, route_of
from chat_aio.web.mounts import UNLOGGED

log = logging.getLogger(__name__)

MAX_LINE_BYTES = 32 * 1024
"""Room for a search of 2,048 characters, percent-encoded."""

REQUEST_SECONDS = 1.0
"""How long aiohttp waits for running requests at shutdown, and again after cutting off bodies."""


class ServeAccessLogger(RouteAccessLogger):
    """Leaves out the polled routes: health, readiness and metrics."""

    def log(self, request: BaseRequest, response: StreamResponse, time: float) -> None:
        if route_of(request) not in UNLOGGED:
            super().log(request, response, time)


async def serve(
    app: Awaitable[web.Application],
    at: socket.socket,
    *,
    lifeline: socket.socket | None = None,
    end_within: float | None = None,
) -> None:
    """Serve `app` at a bound socket until SIGTERM or SIGINT; it listens once the app has started.

    A worker has a `lifeline` to its supervisor: it reports there that it serves, and ends when the
    supervisor is gone. Raises SetupError if shutting down takes longer than `end_within` seconds,
    and whatever the app's start raises.
    """
    runner = PatientRunner(
        await app,
        access_log_class=ServeAccessLogger,
        shutdown_timeout=REQUEST_SECONDS,
        max_line_size=MAX_LINE_BYTES,
        keepalive_timeout=IDLE_SECONDS,
        auto_decompress=False,  # Encoded bodies are refused, so aiohttp must not inflate them.
    )
    # The start is part of the task, so that a signal ends a slow start as well.
    serving = asyncio.create_task(_run(runner, at, lifeline))
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # On Windows; there Ctrl+C cancels this coroutine.
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, serving.cancel)
    if lifeline is not None:
        loop.add_reader(lifeline, _cut, lifeline, serving)
    try:
        # `wait` does not raise when a signal cancels `serving`; that is an ordinary end.
        await asyncio.wait({serving})
    finally:
        serving.cancel()
        # Streams end, requests and writes are finished. A request that is cut off gets no answer,
        # so nothing that was acknowledged is lost.
        try:
            async with asyncio.timeout(end_within):
                await runner.cleanup()
        except TimeoutError:
            raise SetupError(
                f"not all was finished within {end_within} seconds, and is cut off"
            ) from None
    if not serving.cancelled():
        serving.result()


async def _run(runner: web.AppRunner, at: socket.socket, lifeline: socket.socket | None) -> None:
    await runner.setup()
    host, port = at.getsockname()[:2]
    try:
        await web.SockSite(runner, at).start()
    except OSError as error:
        raise SetupError(f"cannot listen on {host}:{port} ({error})") from error
    log.info("process %d is serving at %s, port %d", os.getpid(), host, port)
    # Only now: the supervisor replaces the next worker once this one serves.
    if lifeline is not None:
        lifeline.send(b"+")
    await asyncio.Event().wait()


def _cut(lifeline: socket.socket, serving: asyncio.Task[None]) -> None:
    """End this process: the supervisor never writes to a lifeline, so being readable means that it
    is closed."""
    asyncio.get_running_loop().remove_reader(lifeline)
    log.warning("process %d ends because its supervisor is gone", os.getpid())
    serving.cancel()
