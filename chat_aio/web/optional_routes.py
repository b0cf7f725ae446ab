"""The routes of a chat: the table, and what its options and plugins add."""

from collections.abc import Iterable

from chat_aio.options import Options
from chat_aio.plugin_types.base import Plugin
from chat_aio.web.desk_routes import DESK_ROUTES
from chat_aio.web.held_message_routes import HELD_MESSAGE_ROUTES
from chat_aio.web.inbox_routes import INBOX_ROUTES
from chat_aio.web.operations import Operation, Streaming
from chat_aio.web.room_routes import ROOM_ROUTES
from chat_aio.web.routes import ROUTES


def routes_with(
    options: Options, plugins: Iterable[Plugin] = ()
) -> tuple[Operation | Streaming, ...]:
    """The routes with these options and plugins, without those that plugins have themselves. An
    added one takes the place of one that is there already."""
    added: list[Operation] = []
    if options.room_controls:
        added += ROOM_ROUTES
    if options.inbox:
        added += INBOX_ROUTES
    if options.moderation_desk:
        added += DESK_ROUTES
    if any(plugin.overrides("message_sending") for plugin in plugins):
        added += HELD_MESSAGE_ROUTES
    replaced = {(route.method, route.path) for route in added}
    kept = [route for route in ROUTES if (route.method, route.path) not in replaced]
    return (*kept, *added)
