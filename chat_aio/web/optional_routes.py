"""The routes of a chat: the table, and what its options and plugins add."""

from collections.abc import Iterable

from chat_aio import errors
from chat_aio.actions import conversation_lists, deletion, searching, sending
from chat_aio.options import Options
from chat_aio.plugin_types.base import Plugin
from chat_aio.schema import inputs
from chat_aio.web.held_message_routes import HELD_MESSAGE_ROUTES
from chat_aio.web.inbox_routes import INBOX_ROUTES
from chat_aio.web.key_routes import KEY_ROUTES
from chat_aio.web.metadata_routes import METADATA_ROUTES, UPDATE_ROOM
from chat_aio.web.moderation_tools_routes import MODERATION_TOOLS_ROUTES
from chat_aio.web.operations import IdempotentOperation, Listing, Operation, Streaming
from chat_aio.web.refusals import READING, SENDING
from chat_aio.web.room_routes import ROOM_ROUTES
from chat_aio.web.routes import ROUTES, SEARCH_ERRORS
from chat_aio.web.sse import stream

DELETION = Operation(
    "DELETE",
    "/conversations/{conversation_id}",
    deletion.delete_conversation,
    body=inputs.ConversationDeletion,
    body_optional=True,
    errors=(errors.ConversationNotFound, errors.NotConversationAdmin, errors.LegalHold),
)
"""The route of a chat whose host has the hook `can_delete`."""

SEARCH = Listing(
    "GET",
    "/search/messages",
    searching.search_messages,
    query=inputs.FilteredSearch,
    errors=SEARCH_ERRORS,
)
"""The route of a chat with the option `search_filters`."""

FOLLOWING = Streaming(
    "GET",
    "/stream",
    stream,
    query=inputs.Following,
    errors=(errors.StreamUnsupported, errors.InvalidInput, *READING),
)
"""The stream with the option `supervisors`, which also takes ids of conversations."""

SILENT_SEND = IdempotentOperation(
    "POST",
    "/conversations/{conversation_id}/messages",
    sending.send_message,
    body=inputs.NewSilentMessage,
    envelope="message",
    status=201,
    quota="messages",
    errors=(*SENDING, errors.RoleNotAllowed, errors.SilentNotAllowed),
)
"""The route of a chat whose host has the hook `can_send_silently`."""

LIST = Listing(
    "GET",
    "/conversations",
    conversation_lists.list_conversations,
    query=inputs.FullConversationFilter,
    errors=(errors.KeyNotAllowed,),
)
"""The list of a chat with `conversation_keys` or `inbox`, in place of the contract's own route."""


def routes_with(
    options: Options,
    plugins: Iterable[Plugin] = (),
    *,
    can_delete: bool = False,
    can_send_silently: bool = False,
) -> tuple[Operation | Streaming, ...]:
    """The routes with these options and plugins, without those that plugins have themselves; with
    `can_delete` and `can_send_silently` those that need these hooks. An added one takes the place
    of one that is there already."""
    added: list[Operation | Streaming] = [DELETION] if can_delete else []
    if can_send_silently:
        added.append(SILENT_SEND)
    if options.conversation_keys:
        added += KEY_ROUTES
    if options.conversation_keys or options.inbox:
        added.append(LIST)
    if options.room_controls:
        added += ROOM_ROUTES
    if options.editable_metadata:
        added += [*METADATA_ROUTES, *([UPDATE_ROOM] if options.room_controls else [])]
    if options.search_filters:
        added.append(SEARCH)
    if options.supervisors:
        added.append(FOLLOWING)
    if options.inbox:
        added += INBOX_ROUTES
    if options.moderation_tools:
        added += MODERATION_TOOLS_ROUTES
    if any(plugin.overrides("check_message") for plugin in plugins):
        added += HELD_MESSAGE_ROUTES
    # The last one of a path counts: it has the fields of all options.
    found = {(route.method, route.path): route for route in (*ROUTES, *added)}
    return tuple(found.values())
