"""Compresses large answers with gzip, if `Options(gzip=True)` (decision 0053)."""

import re

from aiohttp import web

from chat_aio.web.app_keys import CONTEXT
from chat_aio.web.origins import is_of_another_site

LARGE_BYTES = 4 * 1024

_REFUSED = re.compile(r"q=0(\.0*)?")


def compress(request: web.Request, response: web.StreamResponse) -> None:
    """Have a large answer compressed when it is sent, if its client accepts gzip by name. Streams,
    errors and responses to pages of other sites are never compressed."""
    if not request.app[CONTEXT].options.gzip:
        return
    if not isinstance(response, web.Response) or response.status >= 400:
        return
    if not isinstance(response.body, bytes) or len(response.body) < LARGE_BYTES:
        return
    # Also if this client gets it plain: a cache must not hand that to one that accepts gzip.
    response.headers.add("Vary", "Accept-Encoding")
    if accepts_gzip(request) and not is_of_another_site(request):
        response.enable_compression(web.ContentCoding.gzip)


def accepts_gzip(request: web.Request) -> bool:
    """Whether a client accepts gzip by name."""
    # Not left to aiohttp, which looks for the word alone, and prefers deflate.
    for accepted in ",".join(request.headers.getall("Accept-Encoding", ())).split(","):
        coding, _, weight = accepted.partition(";")
        if coding.strip().lower() == "gzip":
            return not _REFUSED.fullmatch(weight.strip())
    return False
