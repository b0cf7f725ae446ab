"""The routes of a chat: the table, and what its options add."""

from chat_aio.options import Options
from chat_aio.web.desk_routes import DESK_ROUTES
from chat_aio.web.inbox_routes import INBOX_ROUTES
from chat_aio.web.operations import Operation, Streaming
from chat_aio.web.room_routes import ROOM_ROUTES
from chat_aio.web.routes import ROUTES


def routes_with(options: Options) -> tuple[Operation | Streaming, ...]:
    """The routes with these options. An added one takes the place of one that is there already."""
    added: list[Operation] = []
    if options.room_controls:
        added += ROOM_ROUTES
    if options.inbox:
        added += INBOX_ROUTES
    if options.moderation_desk:
        added += DESK_ROUTES
    replaced = {(each.method, each.path) for each in added}
    kept = [each for each in ROUTES if (each.method, each.path) not in replaced]
    return (*kept, *added)
