"""Finding messages of any conversation: by search, in their context, and earlier versions."""

from datetime import datetime
from time import monotonic

from chat_aio.actions.answers import MessageList, shapes_of
from chat_aio.actions.context import Context
from chat_aio.actions.moderation_tools.guarding import (
    SECONDS,
    audit_view,
    criteria_from,
    load_for_moderator,
    require_moderation_tools,
)
from chat_aio.actions.reading import load_all_parents
from chat_aio.errors import InvalidInput
from chat_aio.schema import inputs, moderation_tools, pagination
from chat_aio.schema.fields import is_id
from chat_aio.store import versions
from chat_aio.store.maintenance import find_messages as stored
from chat_aio.store.maintenance.find_messages import Position
from chat_aio.store.mapping import message_from
from chat_aio.store.rows import MOST_BYTES

CURSOR = "desk_messages"


async def find_messages(
    context: Context,
    user_id: str,
    *,
    sender_id: str | None = None,
    conversation_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    contains: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> MessageList:
    """Messages of a user, of a conversation or of a time span, with all words of `contains`.

    The order is by conversation id, and within a conversation newest first. Deleted messages are
    included, without their words.

    A page may be short, even empty, if finding takes over two seconds: continue with its cursor.
    Raises InvalidInput, NotModerator and ModerationUnsupported (specification 14.2).
    """
    given = inputs.read(
        moderation_tools.MessageFinding,
        sender_id=sender_id,
        conversation_id=conversation_id,
        since=since,
        until=until,
        contains=contains,
    )
    criteria = criteria_from(given)
    size = pagination.limit_from(limit)
    position = position_from(pagination.position_from(CURSOR, cursor, str, int))
    await require_moderation_tools(
        context, user_id, "find_messages", target_user_id=given.sender_id
    )
    about = given.conversation_id or given.sender_id or "*"
    await audit_view(context, user_id, "find-messages", about, **criteria.as_details())
    # A rare word may be in none of a million messages: the scan must not last until then.
    deadline = monotonic() + SECONDS
    found = await stored.scan(context.database, criteria, position, most=size, deadline=deadline)
    parents = await load_all_parents(context, found.messages)

    def cursor_behind(count: int) -> str | None:
        # A page that was truncated continues after its last message, others where the scan has
        # stopped.
        if count == len(found.messages):
            return found.position and pagination.cursor_from(CURSOR, *found.position)
        last = found.messages[count - 1]
        return pagination.cursor_from(CURSOR, last["conversationId"], last["seq"])

    return MessageList(context, found.messages, parents, MOST_BYTES, cursor_behind)


def position_from(keys: tuple[pagination.Key, ...] | None) -> Position | None:
    """The position of a scan that a cursor contains. Raises InvalidInput for an impossible one."""
    if keys is None:
        return None
    conversation_id, below = keys
    if not is_id(conversation_id):
        raise InvalidInput(pagination.FOREIGN_CURSOR)
    return Position(str(conversation_id), int(below))


async def look_at_message(
    context: Context,
    user_id: str,
    message_id: str,
    *,
    before: int = moderation_tools.AROUND,
    after: int = moderation_tools.AROUND,
) -> moderation_tools.MessageInContext:
    """A message with up to 50 messages before it and after it, replies in threads included.

    Raises InvalidInput, NotModerator, ModerationUnsupported and MessageNotFound.
    """
    given = inputs.read(moderation_tools.MessageContextQuery, before=before, after=after)
    message = await load_for_moderator(context, user_id, "look_at_message", message_id)
    await audit_view(
        context,
        user_id,
        "look-at-message",
        message_id,
        conversationId=message["conversationId"],
        senderId=message["senderId"],
    )
    around = await stored.list_around(
        context.database, message, before=given.before, after=given.after
    )
    parents = await load_all_parents(context, around)
    shown, _ = await shapes_of(
        context,
        around,
        lambda message: message_from(message, parents, context.database.optional_fields),
        stored_bytes=MOST_BYTES,
    )
    return moderation_tools.MessageInContext(
        message=message_from(message, parents, context.database.optional_fields), messages=shown
    )


async def list_versions(
    context: Context, user_id: str, message_id: str
) -> tuple[moderation_tools.MessageVersion, ...]:
    """Earlier versions of an edited, deleted or removed message, newest first, as far as they are
    kept (`Options.message_version_days`). Includes messages that retention has removed since.

    Raises NotModerator, ModerationUnsupported and MessageNotFound.
    """
    kept = await versions.list_newest(context.database, message_id) if is_id(message_id) else []
    # From the versions: the message itself may be gone, and then names no sender.
    if kept:
        sender_id = kept[0]["senderId"]
        await require_moderation_tools(context, user_id, "list_versions", target_user_id=sender_id)
    else:
        await load_for_moderator(context, user_id, "list_versions", message_id)
    await audit_view(context, user_id, "look-at-versions", message_id)
    return tuple(map(versions.version_from, kept))
