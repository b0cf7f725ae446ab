"""GET /stream: server-sent events over HTTP. Their content is decided in `chat_aio.live`."""

import asyncio
import random
import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from typing import cast

from aiohttp import web
from aiohttp_sse import EventSourceResponse

from chat_aio.capabilities import Capability, require
from chat_aio.errors import InternalError, InvalidInput, StorageUnavailable, Unauthenticated
from chat_aio.live.frames import HEARTBEAT, Frame, opened_frame, opening_frame
from chat_aio.live.service import Live
from chat_aio.live.stream import PATIENCE_SECONDS, Pipe, Stream
from chat_aio.schema.inputs import Following
from chat_aio.web.app_keys import CONTEXT, LIVE, STREAMS, USER_ID
from chat_aio.web.authentication import authenticated
from chat_aio.web.connection_takeover import can_take_over
from chat_aio.web.stream_connection import StreamConnection

NEVER = 10.0**8
UNACKNOWLEDGED_SECONDS = 30
SEND_BUFFER_BYTES = 64 * 1024
REPLAY_SECONDS = 60
OPENING_SECONDS = 3
RECONNECT_MS = 2_000, 5_000
"""The shortest and the longest pause after which clients reconnect: not all do so at once."""


async def stream(request: web.Request) -> web.StreamResponse:
    """The acting user's events until the client leaves, falls behind, or the feed is lost.

    If the stream cannot be opened now, the connection is closed without an answer and the client
    tries again: EventSource gives up for good on any status but 200.
    """
    require(request.app[CONTEXT], Capability.STREAMS)
    live: Live = request.app[LIVE]
    if not await live.feed.wait_live(seconds=OPENING_SECONDS):
        raise StorageUnavailable  # The middleware hangs up, and gives the request's quota back.
    try:
        events = await _opened(live, request)
        if request.query.get("heartbeat") == "event":
            events.heartbeat = live.ping
        with ExitStack() as failing:
            failing.callback(events.end)
            response = await _begin(request, events)
            failing.pop_all()
    except (ConnectionError, TimeoutError):
        return hung_up(request)
    return response


async def _opened(live: Live, request: web.Request) -> Stream:
    """The user's own stream, or with `conversationIds` one that follows these."""
    user_id, query = request[USER_ID], request.query
    last_event_id = request.headers.get("Last-Event-ID") or query.get("lastEventId")
    conversation_ids = Following.arguments(query)["conversation_ids"]
    if conversation_ids is None:
        return await live.open_stream(user_id, last_event_id)
    if last_event_id:
        # The client expects a replay, and would take the gap for silence.
        raise InvalidInput("a stream with conversationIds has no replay: leave Last-Event-ID out")
    return await live.follow(user_id, conversation_ids)


class _Response(EventSourceResponse):
    """An SSE response without its own keep-alive, because the hub sends one heartbeat to all
    streams. Where aiohttp would end it, the stream's connection takes over."""

    def __init__(self) -> None:
        super().__init__(sep="\n", ping_interval=NEVER, send_timeout=UNACKNOWLEDGED_SECONDS)
        self.headers["Cache-Control"] = "no-cache, no-transform"
        self.headers["Connection"] = "close"
        self.force_close()
        self.opened: tuple[web.Request, StreamConnection] | None = None

    async def write_eof(self, data: bytes = b"") -> None:
        # Only here all middleware has returned, and aiohttp needs the connection no more.
        if self.opened is not None:
            (request, connection), self.opened = self.opened, None
            if can_take_over(request):
                connection.take(request)
                return
            await connection.wait_over()
        with suppress(ConnectionError):
            await super().write_eof(data)


async def _begin(request: web.Request, events: Stream) -> _Response:
    """Send headers and replay; the stream is live afterwards."""
    if request.transport is None:  # The client left while its replay was read.
        raise ConnectionResetError
    if request.app[CONTEXT].options.reauthenticate:
        events.still_logged_in = partial(_is_logged_in, request, request.transport)
    # The kernel would take megabytes, and so hide from the check for slow readers that a client
    # reads nothing.
    if (connection := request.transport.get_extra_info("socket")) is not None:
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    # Later `request.app` may be the host's app, while its `auth` hook is called again.
    streams = request.app[STREAMS]
    response = _Response()
    await response.prepare(request)
    response.stop_streaming()  # Its keep-alive would be a task for each stream.
    await _write_replay(response, events)
    # From here on events are written to the transport itself: `response.write` may wait for a slow
    # client, and delivery waits for nobody.
    if request.transport is None:
        raise ConnectionResetError
    live = StreamConnection(request, events, streams)
    response.opened = request, live
    events.go_live(live)
    return response


async def _is_logged_in(request: web.Request, transport: asyncio.Transport) -> bool:
    """Whether the host still names the same user for the request that opened a stream. If the hook
    fails, the login counts as valid."""
    # The hook may look at the connection, such as at a client's certificate. aiohttp has forgotten
    # it, and has nothing more to do with it.
    request.protocol.transport = transport
    try:
        return await authenticated(request) == request[USER_ID]
    except Unauthenticated:
        return False
    except InternalError:
        return True


def is_stream(request: web.Request) -> bool:
    return request.match_info.handler is stream


def hung_up(request: web.Request) -> web.StreamResponse:
    """Close the connection without an answer. aiohttp needs a response, but cannot send it."""
    if request.transport is not None:
        cast(Pipe, request.transport).abort()
    return web.Response(status=503)


async def _write_replay(response: EventSourceResponse, events: Stream) -> None:
    """Write the replay as fast as the client takes it, in parts, so that the whole replay is not in
    memory a second time. Raises TimeoutError for a client that is too slow."""
    frames = [opening_frame(random.randint(*RECONNECT_MS)), *events.replay.frames]
    if events.heartbeat is not HEARTBEAT:
        frames.insert(1, opened_frame(events.user_id))
        # Says at once when to expect the next one, and shows the position to a browser.
        frames.append(events.heartbeat)
    try:
        async with asyncio.timeout(REPLAY_SECONDS):
            for part in _parts(frames):
                if events.is_over:
                    return
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await response.write(part)
    except TimeoutError:
        events.end("slow")
        raise


def _parts(frames: Iterable[Frame]) -> Iterator[bytes]:
    """Frames joined into parts of about `SEND_BUFFER_BYTES`."""
    part: list[bytes] = []
    size = 0
    for frame in frames:
        part.append(frame.plain)
        size += len(part[-1])
        if size >= SEND_BUFFER_BYTES:
            yield b"".join(part)
            part, size = [], 0
    if part:
        yield b"".join(part)
