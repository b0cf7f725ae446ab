"""The points about a proxy in front of the service, as a client sees it."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout

from chat_aio.admin.doctor.points import Point, ok, problem, warning
from chat_aio.tasks import cancel_and_wait

ANSWER_SECONDS = 10.0
AT_ONCE_SECONDS = 1.0
MOST_HEARTBEATS = 3.5
"""Give up waiting for two heartbeats after this many heartbeat intervals."""

UNBUFFERED = "switch buffering off for /stream (in nginx: proxy_buffering off)"


async def points_of_proxy(
    url: str, headers: Mapping[str, str], *, heartbeat: float
) -> AsyncIterator[Point]:
    """All points. `url` is the URL of the mount, such as `https://example.org/api/chat`; `headers`
    log a user in; `heartbeat` is in seconds."""
    answer = ClientTimeout(total=ANSWER_SECONDS)
    async with ClientSession(timeout=answer, headers=headers, auto_decompress=False) as session:
        yield await check_ready(session, url)
        yield await check_http(url)
        async for point in points_of_stream(session, url, heartbeat=heartbeat):
            yield point


async def points_of_stream(
    session: ClientSession, url: str, *, heartbeat: float
) -> AsyncIterator[Point]:
    """Open a stream, and check which bytes arrive, and when."""
    silence = ClientTimeout(sock_connect=ANSWER_SECONDS, sock_read=MOST_HEARTBEATS * heartbeat)
    place, began = f"{url.rstrip('/')}/stream", time.monotonic()
    # Asks for gzip: a proxy that compresses streams is found only so.
    asked = session.get(place, timeout=silence, headers={"Accept-Encoding": "gzip"})
    try:
        async with asked as response:
            if response.status != 200:
                yield problem("stream", f"answers {response.status}", _advice(response.status))
                return
            headers = check_headers(response)
            yield headers
            if headers.state != "ok":  # A compressed response, or no stream, cannot be read.
                return
            chunks = _Chunks(response)
            try:
                first = await check_first_bytes(chunks, began=began)
                yield first
                if first.state == "ok":
                    yield await check_heartbeats(chunks, heartbeat)
            finally:
                await chunks.close()
    except (ClientError, TimeoutError) as error:
        said = f"no answer ({type(error).__name__}) for {time.monotonic() - began:.1f} s"
        yield problem("stream", said, f"is the service up? Else {UNBUFFERED}")


def _advice(status: int) -> str:
    if status in (401, 403):
        return "log in with --header, such as --header 'X-User: doctor'"
    if status == 429:
        return "log in as a user who has fewer streams open"
    if status >= 500:
        return "the proxy does not reach the service: see the logs of both"
    return "is --url the address of the mount, with /api/chat?"


async def check_ready(session: ClientSession, url: str) -> Point:
    """/readyz is outside the mount, and a proxy should not pass it on."""
    name, place = "readyz", urlsplit(url)
    try:
        async with session.get(f"{place.scheme}://{place.netloc}/readyz") as response:
            status = response.status
    except (ClientError, TimeoutError) as error:
        return problem(name, f"no answer: {error or type(error).__name__}", "is the service up?")
    if status == 503:
        return problem(name, "the service is not ready", "see its log, and the points of MongoDB")
    if status == 200:
        return ok(name, "the service is ready (do not pass /readyz on to the outside)")
    if status >= 500:
        return problem(name, f"answers {status}", "the proxy does not reach the service")
    return ok(name, f"answers {status}: it is not passed on, as it should be")


async def check_http(url: str) -> Point:
    """Whether browsers would speak HTTP/2, by what TLS agrees on."""
    name, place = "HTTP", urlsplit(url)
    if place.scheme != "https":
        return ok(name, "without TLS: HTTP/1.1, as between a proxy and the service")
    asking = asyncio.create_task(_agreed_protocol(place.hostname or "", place.port or 443))
    await asyncio.wait({asking}, timeout=ANSWER_SECONDS)
    if not asking.done():
        await cancel_and_wait(asking)
        return problem(name, "no connection", "is the proxy up?")
    try:
        agreed = asking.result()
    except OSError as error:
        return problem(name, f"TLS failed: {error}", "fix the certificate, or the address")
    if agreed != "h2":
        advice = "serve HTTP/2: over HTTP/1.1 a browser has six connections for all its tabs"
        return warning(name, "HTTP/1.1", advice)
    return ok(name, "HTTP/2")


async def _agreed_protocol(host: str, port: int) -> str | None:
    """The protocol that client and server agree on by ALPN, such as `h2`."""
    context = ssl.create_default_context()
    # As browsers offer them; aiohttp alone would only offer HTTP/1.1.
    context.set_alpn_protocols(["h2", "http/1.1"])
    _, writer = await asyncio.open_connection(host, port, ssl=context)
    agreed: str | None = writer.get_extra_info("ssl_object").selected_alpn_protocol()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return agreed


def check_headers(response: ClientResponse) -> Point:
    name, found = "stream's headers", response.headers
    if encoding := found.get("Content-Encoding"):
        advice = "do not compress text/event-stream: it delays events"
        return problem(name, f"Content-Encoding: {encoding}", advice)
    if response.content_type != "text/event-stream":
        return problem(name, response.content_type, "something in front answers in its place")
    if response.version is not None and response.version < (1, 1):
        return problem(name, "HTTP/1.0", "speak HTTP/1.1 to the service (proxy_http_version 1.1)")
    # nginx obeys this header, and removes it.
    kept = "and X-Accel-Buffering: no" if "X-Accel-Buffering" in found else "as behind nginx"
    return ok(name, f"text/event-stream, not compressed, {kept}")


async def check_first_bytes(chunks: "_Chunks", *, began: float) -> Point:
    """The service sends its first bytes as soon as a stream has opened."""
    name = "stream"
    if not await chunks.next(ANSWER_SECONDS):
        return problem(name, f"silent for {time.monotonic() - began:.1f} s", UNBUFFERED)
    took = time.monotonic() - began
    if took > AT_ONCE_SECONDS:
        return problem(name, f"first bytes after {took:.1f} s", UNBUFFERED)
    return ok(name, f"first bytes after {took:.3f} s")


async def check_heartbeats(chunks: "_Chunks", heartbeat: float) -> Point:
    """Two heartbeats arrive one after the other, not together."""
    name, began, times = "heartbeats", time.monotonic(), list[float]()
    until = began + MOST_HEARTBEATS * heartbeat
    while len(times) < 2 and (data := await chunks.next(until - time.monotonic())):
        comments = [line for line in data.split(b"\n") if line.startswith(b":")]
        times += [time.monotonic()] * len(comments)
    if len(times) < 2:
        advice = f"{UNBUFFERED}, and allow silence for longer than {heartbeat:g} s"
        return problem(name, f"{len(times)} within {time.monotonic() - began:.1f} s", advice)
    if (gap := times[1] - times[0]) < heartbeat / 2:
        return problem(name, f"two within {gap:.1f} s: they were held back", UNBUFFERED)
    return ok(name, f"every {gap:.1f} s")


class _Chunks:
    """The bytes of a response as they arrive. An unfinished read is continued by the next call."""

    def __init__(self, response: ClientResponse) -> None:
        self._response = response
        self._reading: asyncio.Task[bytes] | None = None

    async def next(self, seconds: float) -> bytes:
        """The next bytes; empty if none arrive within `seconds`, or at the end."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._response.content.readany())
        await asyncio.wait({self._reading}, timeout=max(0.0, seconds))
        if not self._reading.done():
            return b""
        done, self._reading = self._reading, None
        with suppress(ClientError):
            return done.result()
        return b""

    async def close(self) -> None:
        if self._reading is not None:
            await cancel_and_wait(self._reading)
