"""Finds the chats that are mounted in an app, and adds routes next to them."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from chat_aio.web.app_keys import CONTEXT

HEALTHZ, READYZ, METRICS = UNLOGGED = ("/healthz", "/readyz", "/metrics")
"""Polled every few seconds by monitoring, so `chat-aio serve` does not log them."""


def chats_in(app: web.Application, place: str = "") -> dict[str, web.Application]:
    """The chats among an app's sub-applications, at any depth, by the path of their mount."""
    found = {place: app} if CONTEXT in app else {}
    for resource in app.router.resources():
        if inner := resource.get_info().get("app"):
            found |= chats_in(inner, resource.canonical)
    return found


def add_beside(
    app: web.Application, path: str, handler: Callable[[web.Request], Awaitable[web.Response]]
) -> None:
    """Add a route to a host's app, unless the app has its own at that path."""
    if path not in {resource.canonical for resource in app.router.resources()}:
        app.router.add_get(path, handler)
