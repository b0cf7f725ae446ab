"""Compresses large answers with gzip, if `Options(gzip=True)` (docs/decisions/0053)."""

import re

from aiohttp import web

from chat_aio.web.keys import CONTEXT
from chat_aio.web.origins import is_of_another_site

LARGE_BYTES = 4 * 1024

_REFUSED = re.compile(r"q=0(\.0*)?")


def compress(request: web.Request, response: web.StreamResponse) -> None:
    """Have a large answer compressed when it is sent, if its client asks for gzip by name. Streams,
    errors and what a page of another site has asked for are never compressed."""
    if not request.app[CONTEXT].options.gzip or not _is_large(response):
        return
    response.headers.add("Vary", "Accept-Encoding")
    if _accepts_gzip(request) and not is_of_another_site(request):
        response.enable_compression(web.ContentCoding.gzip)


def _is_large(response: web.StreamResponse) -> bool:
    if not isinstance(response, web.Response) or response.status >= 400:
        return False
    return isinstance(response.body, bytes) and len(response.body) >= LARGE_BYTES


def _accepts_gzip(request: web.Request) -> bool:
    # Not left to aiohttp, which looks for the word alone, and prefers deflate.
    for accepted in ",".join(request.headers.getall("Accept-Encoding", ())).split(","):
        coding, _, weight = accepted.partition(";")
        if coding.strip().lower() == "gzip":
            return _REFUSED.fullmatch(weight.strip()) is None
    return False
