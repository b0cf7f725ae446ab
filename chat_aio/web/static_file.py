"""A file in memory, compressed once."""

import gzip
from collections.abc import Mapping
from hashlib import sha256

from aiohttp import ETag, web

from chat_aio.web.compression import accepts_gzip

ASKED = {"Cache-Control": "no-cache"}
"""Asked for each time: modules of two versions would not fit together."""
KEPT = {"Cache-Control": "max-age=31536000, immutable"}
"""The name has a hash of the content."""


class StaticFile:
    """One file of text. Its ETag is a hash of the content: processes and machines that serve it
    agree."""

    def __init__(self, content: bytes, content_type: str, headers: Mapping[str, str]) -> None:
        self._content = content
        self._content_type = content_type
        self._packed = gzip.compress(content, mtime=0)
        self._headers = {**headers, "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff"}
        # Weak, because the compressed bytes have the same one.
        self._etag = ETag(sha256(content).hexdigest()[:32], is_weak=True)

    async def answer(self, request: web.Request) -> web.Response:
        known = request.if_none_match or ()
        if any(etag.value in (self._etag.value, "*") for etag in known):
            response = web.Response(status=304)
        else:
            is_packed = accepts_gzip(request)
            response = web.Response(
                body=self._packed if is_packed else self._content,
                content_type=self._content_type,
                charset="utf-8",
                headers={"Content-Encoding": "gzip"} if is_packed else None,
            )
        response.etag = self._etag
        response.headers.update(self._headers)
        return response
