"""Answers that are files: ranges, conditions, and headers that keep browsers from running them."""

import asyncio
import logging

from aiohttp import web

from chat_aio.errors import RangeNotSatisfiable, RateLimited
from chat_aio.plugin_types.files import File, Redirect, disposition
from chat_aio.store.calls import paused
from chat_aio.web.app_keys import CONTEXT, DOWNLOADS, USER_ID
from chat_aio.web.open_downloads import AT_ONCE
from chat_aio.web.quotas import keep_spent
from chat_aio.web.replies import reply_error

log = logging.getLogger(__name__)

STALL_SECONDS = 30.0
"""A client that does not take AT_ONCE bytes within so many seconds is left."""

REVALIDATED = "private, no-cache"
"""Browsers keep the bytes and ask each time: whoever may no longer read them does not see them."""

CORP = "Cross-Origin-Resource-Policy"
NOTHING_RUNS = "default-src 'none'; sandbox"


def redirect(request: web.Request, answer: Redirect) -> web.Response:
    """The method stays the same, and nobody keeps the URL, which is a permission by itself."""
    headers = {"Location": answer.url, "Referrer-Policy": "no-referrer", CORP: _embedders(request)}
    return web.Response(status=307, headers=headers)


def _embedders(request: web.Request) -> str:
    """The pages that may show a file. Other pages could see from `<img>` whether the user may read
    it. An origin that is listed and has another host may be a subdomain."""
    origins = request.app[CONTEXT].options.allowed_origins or ()
    hosts = {origin.partition("://")[2] for origin in origins}
    return "same-site" if hosts - {request.host.lower()} else "same-origin"


async def send_file(request: web.Request, file: File) -> web.StreamResponse:
    """Answer with a file, or the requested range of it. Raises RateLimited if too many downloads
    are open, of this user or in this process."""
    etag = f'"{file.etag}"'
    headers = {"ETag": etag, "Cache-Control": REVALIDATED, "Accept-Ranges": "bytes"}
    headers[CORP] = _embedders(request)
    named = request.headers.get("If-None-Match", "")
    known = {tag.strip().removeprefix("W/") for tag in named.split(",")}
    if named.strip() == "*" or etag in known:
        return web.Response(status=304, headers=headers)
    asked = _range_of(request, file.size, etag)
    if asked is None:
        refused = reply_error(RangeNotSatisfiable())
        refused.headers["Content-Range"] = f"bytes */{file.size}"
        return refused
    start, end = asked
    whole = (start, end) == (0, file.size)
    if not whole:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{file.size}"
    headers["Content-Type"] = file.content_type
    headers["Content-Disposition"] = disposition(file.name, inline=file.inline)
    headers["Content-Security-Policy"] = NOTHING_RUNS
    response = web.StreamResponse(status=200 if whole else 206, headers=headers)
    response.content_length = end - start
    if request.method == "HEAD":
        await response.prepare(request)
        return response
    try:
        with request.app[DOWNLOADS].admitted(request[USER_ID], file.size):
            await response.prepare(request)
            await _write(request, response, file, start, end)
    except RateLimited:
        keep_spent(request)
        raise
    return response


async def _write(
    request: web.Request, response: web.StreamResponse, file: File, start: int, end: int
) -> None:
    """Write the bytes. The status is sent by now: an error ends the connection."""
    try:
        # A slow client must not use up the time of database calls.
        with paused():
            async for chunk in file.read(start, end):
                for at in range(0, len(chunk), AT_ONCE):
                    async with asyncio.timeout(STALL_SECONDS):
                        await response.write(chunk[at : at + AT_ONCE])
    except (ConnectionError, TimeoutError):
        _leave(request)
    except Exception:
        log.exception("a file could not be sent to its end")
        _leave(request)


def _leave(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def _range_of(request: web.Request, size: int, etag: str) -> tuple[int, int] | None:
    """The requested bytes; None if there are no such ones. An invalid range, and several
    of them, mean the whole file."""
    everything = (0, size)
    if "Range" not in request.headers or request.headers.get("If-Range", etag) != etag:
        return everything
    try:
        asked = request.http_range
    except ValueError:
        return everything
    start, stop = asked.start or 0, asked.stop
    if start < 0:  # The last bytes.
        return max(0, size + start), size
    end = size if stop is None else min(stop, size)
    return (start, end) if start < end else None
