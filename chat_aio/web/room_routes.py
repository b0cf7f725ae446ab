"""The routes of room controls: those of the table with the option `room_controls`, and without."""

from chat_aio import errors
from chat_aio.actions import rooms
from chat_aio.schema import inputs
from chat_aio.web.operations import Operation, Streaming
from chat_aio.web.routes import MANAGING, ROUTES

ROOM_ROUTES: tuple[Operation, ...] = (
    Operation(
        "PATCH",
        "/conversations/{conversation_id}",
        rooms.update_conversation,
        body=inputs.RoomChange,
        envelope="conversation",
        errors=(*MANAGING, errors.ChannelsUnsupported),
    ),
    Operation(
        "POST",
        "/conversations/{conversation_id}/bans",
        rooms.ban_from_conversation,
        body=inputs.NewConversationBan,
        envelope="conversationBan",
        errors=(*MANAGING, errors.LastAdminRemaining),
    ),
    Operation(
        "GET",
        "/conversations/{conversation_id}/bans",
        rooms.list_conversation_bans,
        query=inputs.Page,
        errors=MANAGING,
    ),
    Operation(
        "DELETE",
        "/conversations/{conversation_id}/bans/{target_user_id}",
        rooms.unban_from_conversation,
        errors=(*MANAGING, errors.BanNotFound),
    ),
)
"""The first one takes the place of the contract's own route, and takes two fields more."""


def routes_with(*, room_controls: bool) -> tuple[Operation | Streaming, ...]:
    """The routes of a chat, with or without the option."""
    if not room_controls:
        return ROUTES
    replaced = {(each.method, each.path) for each in ROOM_ROUTES}
    kept = [each for each in ROUTES if (each.method, each.path) not in replaced]
    return (*kept, *ROOM_ROUTES)
