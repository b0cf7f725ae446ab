"""Messages that are there: listing them, reading one, marking them read."""

from typing import cast

from chat_aio import inputs, pages
from chat_aio.actions.access import acting, load_conversation, load_readable
from chat_aio.context import Context
from chat_aio.errors import InvalidInput, MessageNotFound
from chat_aio.models import Message, MessagePage
from chat_aio.store import messages
from chat_aio.store.views import bare_message_from, message_from


@acting
async def list_messages(
    context: Context,
    user_id: str,
    conversation_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> MessagePage:
    """The main list of a conversation, newest first. Raises ConversationNotFound, ForbiddenRead."""
    size = pages.limit_from(limit)
    position = pages.position_from("messages", cursor, int)
    await load_readable(context, user_id, conversation_id)
    found = await messages.list_newest(
        context.database,
        conversation_id,
        before=cast(int, position[0]) if position else None,
        limit=size + 1,
    )
    page, last = pages.cut(found, size)
    return MessagePage(
        messages=tuple(map(message_from, page)),
        next_cursor=last and pages.cursor_from("messages", last["seq"]),
    )


@acting
async def list_messages_after(
    context: Context, user_id: str, conversation_id: str, seq: int, *, limit: int | None = None
) -> tuple[Message, ...]:
    """Messages with a seq above `seq`, thread replies included, oldest first; for filling gaps.

    At most `limit` (50, 200 at the most); the last one's seq is where the next call goes on.
    """
    size = pages.limit_from(limit)
    if not isinstance(seq, int) or isinstance(seq, bool) or not 0 <= seq < 2**63:
        raise InvalidInput("seq: a whole number from 0 on is needed")
    await load_readable(context, user_id, conversation_id)
    found = await messages.list_after(context.database, conversation_id, after=seq, limit=size)
    return tuple(map(message_from, found))


@acting
async def get_message(
    context: Context, user_id: str, conversation_id: str, message_id: str
) -> Message:
    """One message. Raises ConversationNotFound, MessageNotFound and ForbiddenRead."""
    await load_conversation(context, conversation_id)
    found = await messages.find(context.database, message_id) if inputs.is_id(message_id) else None
    if found is None or found["conversationId"] != conversation_id:
        raise MessageNotFound
    await load_readable(context, user_id, conversation_id, bare_message_from(found))
    return message_from(found)


@acting
async def mark_read(context: Context, user_id: str, conversation_id: str, message_id: str) -> None:
    """Note that the user has read up to a message; an older one than before changes nothing.

    Raises InvalidInput, ConversationNotFound, ForbiddenRead and MessageNotFound.
    """
    given = inputs.read(inputs.Mark, message_id=message_id)
    await load_readable(context, user_id, conversation_id)
    await context.read_marks.mark(conversation_id, user_id, given.message_id)
