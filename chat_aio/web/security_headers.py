"""Security headers of every response."""

from aiohttp import web
from aiohttp.http import SERVER_SOFTWARE
from multidict import CIMultiDict

UNFRAMED = {"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff"}
"""For a page, beside `frame-ancestors 'none'` in its Content-Security-Policy."""


def protect(response: web.StreamResponse) -> None:
    """Forbid caching and content sniffing (specification 1.10), and hide the server. Streams and
    files set their own `Cache-Control`."""
    headers = response.headers
    headers.setdefault("Cache-Control", "no-store")
    headers.setdefault("X-Content-Type-Options", "nosniff")
    _hide_server(headers)


async def hide_server(_: web.Request, response: web.StreamResponse) -> None:
    """Remove aiohttp's `Server` header, which names versions; a host's own value stays."""
    _hide_server(response.headers)


def _hide_server(headers: CIMultiDict[str]) -> None:
    if headers.get("Server") == SERVER_SOFTWARE:
        del headers["Server"]
