"""The routes of room controls, which a chat has with the option `room_controls`."""

from chat_aio import errors
from chat_aio.actions import pins, rooms
from chat_aio.schema import inputs
from chat_aio.web.operations import Operation
from chat_aio.web.refusals import MANAGING, READING, WRITING

PINNING = (*WRITING, errors.NotConversationAdmin)

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
    Operation(
        "POST",
        "/conversations/{conversation_id}/pins",
        pins.pin_message,
        body=inputs.MessageChoice,
        envelope="conversation",
        errors=(*PINNING, errors.ForbiddenRead, errors.MessageNotFound, errors.PinLimitExceeded),
    ),
    Operation(
        "DELETE",
        "/conversations/{conversation_id}/pins/{message_id}",
        pins.unpin_message,
        envelope="conversation",
        errors=PINNING,
    ),
    Operation(
        "GET",
        "/conversations/{conversation_id}/pins",
        pins.list_pins,
        envelope="messages",
        errors=READING,
    ),
)
"""The first one takes the place of the contract's own route, and takes two fields more."""
