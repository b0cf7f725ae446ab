"""Headers that every answer has, whatever it is: what browsers and proxies may not do with it."""

from aiohttp import web
from aiohttp.http import SERVER_SOFTWARE

UNFRAMED = {"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff"}
"""For a page, beside `frame-ancestors 'none'` in its Content-Security-Policy."""


async def protect(request: web.Request, response: web.StreamResponse) -> None:
    """Nobody keeps an answer of the chat, or takes it for something else than it says it is. A
    stream says itself what may be done with it (docs/behaviour.md 1.10)."""
    if response.content_type != "text/event-stream":
        response.headers["Cache-Control"] = "no-store"
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    await hide_server(request, response)


async def hide_server(_: web.Request, response: web.StreamResponse) -> None:
    """Leave out which versions answer; what a host has put there stays."""
    if response.headers.get("Server") == SERVER_SOFTWARE:
        del response.headers["Server"]
