"""Finding messages of any conversation: by a search, in their context, and earlier versions."""

from datetime import datetime
from time import monotonic

from chat_aio.actions.answers import MessageList, shapes_of
from chat_aio.actions.context import Context
from chat_aio.actions.desk.guarding import (
    SECONDS,
    load_at_desk,
    note_look,
    require_desk,
    wanted_from,
)
from chat_aio.actions.reading import load_all_parents
from chat_aio.errors import InvalidInput
from chat_aio.schema import desk, inputs, pagination
from chat_aio.schema.fields import is_id
from chat_aio.store import versions
from chat_aio.store.maintenance import find_messages as stored
from chat_aio.store.maintenance.find_messages import Found, Position
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
    """Messages of a user, of a conversation or of a span of time, with all words of `contains`:
    conversation by conversation in the order of their ids, in each the newest first. Deleted ones
    are among them, without their words.

    A page may be short, even empty, where it takes longer than two seconds: go on with its cursor.
    Raises InvalidInput, NotModerator and ModerationUnsupported (docs/behaviour.md 14.2).
    """
    given = inputs.read(
        desk.MessageFinding,
        sender_id=sender_id,
        conversation_id=conversation_id,
        since=since,
        until=until,
        contains=contains,
    )
    wanted = wanted_from(given)
    size = pagination.limit_from(limit)
    position = position_from(pagination.position_from(CURSOR, cursor, str, int))
    await require_desk(context, user_id, "find_messages", target_user_id=given.sender_id)
    about = given.conversation_id or given.sender_id or "*"
    await note_look(context, user_id, "find-messages", about, **wanted.as_details())
    deadline = monotonic() + SECONDS
    found = await stored.scan(context.database, wanted, position, most=size, deadline=deadline)
    parents = await load_all_parents(context, found.messages)
    return MessageList(
        context, found.messages, parents, MOST_BYTES, lambda count: _cursor_behind(found, count)
    )


def _cursor_behind(found: Found, count: int) -> str | None:
    """The cursor behind so many of the messages found."""
    if count == len(found.messages):
        return found.position and pagination.cursor_from(CURSOR, *found.position)
    last = found.messages[count - 1]
    return pagination.cursor_from(CURSOR, last["conversationId"], last["seq"])


def position_from(keys: tuple[pagination.Key, ...] | None) -> Position | None:
    """The position of a scan that a cursor names. Raises InvalidInput for an impossible one."""
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
    before: int = desk.AROUND,
    after: int = desk.AROUND,
) -> desk.MessageInContext:
    """A message with up to 50 messages before it and after it, replies in threads included.

    Raises InvalidInput, NotModerator, ModerationUnsupported and MessageNotFound.
    """
    given = inputs.read(desk.Around, before=before, after=after)
    message = await load_at_desk(context, user_id, "look_at_message", message_id)
    await note_look(
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
        context, around, lambda message: message_from(message, parents), stored_bytes=MOST_BYTES
    )
    return desk.MessageInContext(message=message_from(message, parents), messages=shown)


async def list_versions(
    context: Context, user_id: str, message_id: str
) -> tuple[desk.MessageVersion, ...]:
    """What a message was before it was edited, deleted or removed, newest first, as far as it is
    kept (`Options.history_days`), also of a message that retention has removed since.

    Raises NotModerator, ModerationUnsupported and MessageNotFound.
    """
    kept = await versions.list_newest(context.database, message_id) if is_id(message_id) else []
    if kept:
        sender_id = kept[0]["senderId"]
        await require_desk(context, user_id, "list_versions", target_user_id=sender_id)
    else:
        await load_at_desk(context, user_id, "list_versions", message_id)
    await note_look(context, user_id, "look-at-versions", message_id)
    return tuple(map(versions.version_from, kept))
