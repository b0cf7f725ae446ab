"""The chats that are mounted in an app."""

from aiohttp import web

from chat_aio.web.keys import API


def chats_in(app: web.Application, place: str = "") -> dict[str, web.Application]:
    """The sub-applications that are chats, at any depth, by where they are mounted."""
    found = {place: app} if API in app else {}
    for resource in app.router.resources():
        if inner := resource.get_info().get("app"):
            found |= chats_in(inner, resource.canonical)
    return found
