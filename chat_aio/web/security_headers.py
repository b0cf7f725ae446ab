"""Security headers of every response."""

from aiohttp import web
from aiohttp.http import SERVER_SOFTWARE

UNFRAMED = {"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff"}
"""For a page, beside `frame-ancestors 'none'` in its Content-Security-Policy."""


async def protect(request: web.Request, response: web.StreamResponse) -> None:
    """Forbid caching and content sniffing (specification 1.10). Streams and files set their own
    `Cache-Control`."""
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    await hide_server(request, response)


async def hide_server(_: web.Request, response: web.StreamResponse) -> None:
    """Remove aiohttp's `Server` header, which names versions; a host's own value stays."""
    if response.headers.get("Server") == SERVER_SOFTWARE:
        del response.headers["Server"]
