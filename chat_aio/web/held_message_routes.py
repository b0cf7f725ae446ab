"""The routes of held messages, which a chat has with a plugin that checks messages."""

from chat_aio import errors
from chat_aio.actions import held_messages
from chat_aio.schema import inputs
from chat_aio.web.operations import Operation
from chat_aio.web.refusals import MODERATING

ONE = (*MODERATING, errors.HeldMessageNotFound)

HELD_MESSAGE_ROUTES: tuple[Operation, ...] = (
    Operation(
        "GET",
        "/moderation/held",
        held_messages.list_held_messages,
        query=inputs.Page,
        errors=MODERATING,
    ),
    Operation(
        "POST",
        "/moderation/held/release",
        held_messages.release_held_message,
        body=inputs.HeldMessageChoice,
        envelope="message",
        errors=(
            *ONE,
            # Its sender may no longer be allowed to send it.
            errors.AttachmentNotFound,
            errors.ConversationFrozen,
            errors.ConversationNotFound,
            errors.DirectInteractionBlocked,
            errors.ForbiddenRead,
            errors.ForbiddenWrite,
            errors.MessageConflict,
            errors.MessageNotFound,
            errors.UserBanned,
        ),
    ),
    Operation(
        "POST",
        "/moderation/held/discard",
        held_messages.discard_held_message,
        body=inputs.HeldMessageChoice,
        errors=(*ONE, errors.HeldMessageReleased),
    ),
)
