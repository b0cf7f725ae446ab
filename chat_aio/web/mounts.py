"""The chats that are mounted in an app, and what is added beside them."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from chat_aio.web.keys import CONTEXT

HEALTHZ, READYZ, METRICS = UNLOGGED = ("/healthz", "/readyz", "/metrics")
"""What others look at every few seconds."""


def chats_in(app: web.Application, place: str = "") -> dict[str, web.Application]:
    """The sub-applications that are chats, at any depth, by where they are mounted."""
    found = {place: app} if CONTEXT in app else {}
    for resource in app.router.resources():
        if inner := resource.get_info().get("app"):
            found |= chats_in(inner, resource.canonical)
    return found


def add_beside(
    app: web.Application, path: str, handler: Callable[[web.Request], Awaitable[web.Response]]
) -> None:
    """Add a route of ours to an app of a host's; one of its own at that path stays."""
    if path not in {each.canonical for each in app.router.resources()}:
        app.router.add_get(path, handler)
