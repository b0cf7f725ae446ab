"""Uploads: the file in a multipart form, as it arrives and within limits.

Our own parser, because aiohttp's reads what precedes the first part line by line: a body of
nothing but line ends would hold the event loop. It takes one part, as browsers and libraries send
for one file, and searches each byte once.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from urllib.parse import unquote

from aiohttp import ClientError, web
from aiohttp.http_exceptions import HttpProcessingError

from chat_aio.actions.bans import require_unbanned
from chat_aio.errors import InvalidInput, PayloadTooLarge
from chat_aio.plugin_types.files import Upload
from chat_aio.web.app_keys import CONTEXT, USER_ID

FIELD = "file"
MOST_HEAD_BYTES = 16 * 1024
AROUND_BYTES = 64 * 1024
"""So much may a form have besides its file."""

STALL_SECONDS = 30.0
STALL_BYTES = 16 * 1024
"""A client that sends less than so many bytes in so many seconds has stalled: one that sends byte
by byte must not keep its connection for ever."""

_BOUNDARY = re.compile(r'[;\s]boundary=(?:"([^"\r\n]{1,70})"|([^\s";,]{1,70}))', re.I)
_PARAMETER = re.compile(r';\s*([\w*]{1,20})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))')


async def read_upload(request: web.Request, *, most: int) -> Upload:
    """The file of a request, of which only the name is read. Raises InvalidInput for what is not
    such a form, and PayloadTooLarge if its length is too large."""
    length = request.content_length
    if length is not None and length > most + AROUND_BYTES:
        raise _too_large(most)
    given = request.headers.get("Content-Type", "")
    found = _BOUNDARY.search(given)
    if found is None or not given.lower().startswith("multipart/form-data"):
        raise InvalidInput("the body must be multipart/form-data with a boundary")
    # A header's bytes that are no UTF-8 come as surrogates.
    boundary = (found[1] or found[2]).encode(errors="surrogateescape")
    form = _Form(_Source(request), boundary, most=most)
    name = await form.read_name()
    # Without a length it may be the longest: that much of the day's limit is taken until then.
    most_to_come = most if length is None else min(length, most)
    return Upload(name=name, length=most_to_come, chunks=_to_its_end(request, form))


def _too_large(most: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"a file has at most {most} bytes")


async def _to_its_end(request: web.Request, form: "_Form") -> AsyncIterator[bytes]:
    async for chunk in form.chunks():
        yield chunk
    # An upload takes minutes, in which they may have been banned.
    await require_unbanned(request.app[CONTEXT], request[USER_ID])


class _Source:
    """The bytes of a request's body as they arrive."""

    def __init__(self, request: web.Request) -> None:
        self._content = request.content
        self._left = STALL_SECONDS
        self._progress = 0

    async def read(self) -> bytes:
        """Some bytes, none at the end. Raises InvalidInput."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, self._left)):
                found = await self._content.readany()
        except TimeoutError:
            raise InvalidInput(f"less than {STALL_BYTES} bytes came in time") from None
        except (ClientError, HttpProcessingError, web.RequestPayloadError, OSError) as error:
            raise InvalidInput("the body could not be read") from error
        # Only waiting counts: storing what came before takes its time, too.
        self._left -= time.monotonic() - began
        self._progress += len(found)
        if self._progress >= STALL_BYTES:
            self._left, self._progress = STALL_SECONDS, 0
        return found


class _Form:
    """A multipart form with one file."""

    def __init__(self, source: _Source, boundary: bytes, *, most: int) -> None:
        self._source = source
        self._boundary = b"\r\n--" + boundary
        self._most = most
        # As if a line had ended before, so that the first boundary is like the others.
        self._waiting = bytearray(b"\r\n")

    async def read_name(self) -> str:
        """The name of the file in the header of its part. Raises InvalidInput unless the form
        begins with that part."""
        while (end := self._waiting.find(b"\r\n\r\n")) < 0:
            if len(self._waiting) > MOST_HEAD_BYTES:
                raise InvalidInput("the form must begin with its file")
            await self._more()
        head = bytes(self._waiting[:end])
        del self._waiting[: end + 4]
        if not head.startswith(self._boundary + b"\r\n"):
            raise InvalidInput("the form must begin with its file")
        fields = _disposition_of(head)
        if fields.get("name") != FIELD or not {"filename", "filename*"} & fields.keys():
            raise InvalidInput(f"the form must have one part: a file with the name {FIELD}")
        return fields.get("filename*") or fields.get("filename", "")

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes of the file. Raises InvalidInput and PayloadTooLarge."""
        size, kept = 0, len(self._boundary) - 1
        while (end := self._waiting.find(self._boundary)) < 0:
            # A boundary may have begun in the last bytes.
            if found := bytes(self._waiting[:-kept]):
                del self._waiting[:-kept]
                size += len(found)
                self._require_fitting(size)
                yield found
            await self._more()
        self._require_fitting(size + end)
        if last := bytes(self._waiting[:end]):
            yield last
        del self._waiting[: end + len(self._boundary)]
        await self._end()

    async def _end(self) -> None:
        """Read what follows the file, which is the end of the form."""
        while len(self._waiting) < 2:
            await self._more()
        if not self._waiting.startswith(b"--"):
            raise InvalidInput(f"the form must have one part: a file with the name {FIELD}")
        behind = len(self._waiting)
        while behind <= AROUND_BYTES:
            found = await self._source.read()
            if not found:
                return
            behind += len(found)
        raise InvalidInput("the body goes on behind the form")

    async def _more(self) -> None:
        found = await self._source.read()
        if not found:
            raise InvalidInput("the body ends before its form does")
        self._waiting += found

    def _require_fitting(self, size: int) -> None:
        if size > self._most:
            raise _too_large(self._most)


def _disposition_of(head: bytes) -> dict[str, str]:
    """The parameters of the Content-Disposition among the headers of a part."""
    for line in head.decode(errors="replace").split("\r\n"):
        name, _, value = line.partition(":")
        if name.strip().lower() == "content-disposition":
            return {
                found[1].lower(): _text_of(found[1], found[2] or found[3] or "")
                for found in _PARAMETER.finditer(value)
            }
    return {}


def _text_of(name: str, value: str) -> str:
    """A parameter as it was meant: browsers write quotes as %22, other clients all but ASCII so."""
    plain = value.rpartition("'")[2] if name.endswith("*") else value.replace('\\"', '"')
    return unquote(plain, errors="replace")
