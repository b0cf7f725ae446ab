"""The changes of conversations and messages, with their metadata, which a chat has with the option
`editable_metadata`. They take the place of the routes without."""

from chat_aio import errors
from chat_aio.actions import editing, groups, rooms
from chat_aio.schema import inputs
from chat_aio.web.operations import Operation
from chat_aio.web.refusals import COMPOSING, MANAGING

EDIT = Operation(
    "PATCH",
    "/messages/{message_id}",
    editing.edit_message,
    body=inputs.MessageChange,
    envelope="message",
    errors=(
        *COMPOSING,
        errors.MessageDeleted,
        errors.NotMessageSender,
        errors.MetadataConflict,
    ),
)

UPDATE = Operation(
    "PATCH",
    "/conversations/{conversation_id}",
    groups.update_conversation,
    body=inputs.ConversationChangeWithMetadata,
    envelope="conversation",
    errors=(*MANAGING, errors.ChannelsUnsupported, errors.MetadataConflict),
)

UPDATE_ROOM = Operation(
    "PATCH",
    "/conversations/{conversation_id}",
    rooms.update_conversation,
    body=inputs.RoomChangeWithMetadata,
    envelope="conversation",
    errors=UPDATE.errors,
)

METADATA_ROUTES = (EDIT, UPDATE)
