"""Messages that are there: listing them, reading one, marking them read."""

from dataclasses import dataclass
from typing import cast

from chat_aio import inputs, pages
from chat_aio.actions.access import acting, load_conversation, load_readable, load_within
from chat_aio.actions.extra import tell_read
from chat_aio.context import Context
from chat_aio.errors import InvalidInput, MessageNotFound, ThreadsUnsupported
from chat_aio.fields import is_id
from chat_aio.listeners import notify
from chat_aio.models import Message, MessagePage
from chat_aio.plugin import Plugin
from chat_aio.store import messages
from chat_aio.store.views import bare_message_from


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
    given = _Slice.read("messages", limit, cursor)
    await load_readable(context, user_id, conversation_id)
    return await given.page(context, conversation_id)


@acting
async def list_thread(
    context: Context,
    user_id: str,
    conversation_id: str,
    root_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> MessagePage:
    """The replies of a thread without its root, newest first (docs/behaviour.md 4.14).

    Where retention has removed the root, replies that are left are listed still. Raises
    ThreadsUnsupported, ConversationNotFound, MessageNotFound and ForbiddenRead.
    """
    given = _Slice.read("thread", limit, cursor)
    if not context.options.threads:
        raise ThreadsUnsupported
    await load_conversation(context, conversation_id)
    await _require_thread(context, conversation_id, root_id)
    await load_readable(context, user_id, conversation_id)
    return await given.page(context, root_id)


async def _require_thread(context: Context, conversation_id: str, root_id: str) -> None:
    try:
        await load_within(context, conversation_id, root_id)
    except MessageNotFound:
        if not is_id(root_id) or not await messages.is_any_in_thread(
            context.database, conversation_id, root_id
        ):
            raise


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
    while True:
        found = await messages.list_after(context.database, conversation_id, after=seq, limit=size)
        shown = await messages.with_previews(context.database, found)
        if shown or len(found) < size:
            return shown
        seq = found[-1]["seq"]  # None of these can be read.


@acting
async def get_message(
    context: Context, user_id: str, conversation_id: str, message_id: str
) -> Message:
    """One message. Raises ConversationNotFound, MessageNotFound and ForbiddenRead."""
    await load_conversation(context, conversation_id)
    found = await load_within(context, conversation_id, message_id)
    await load_readable(context, user_id, conversation_id, bare_message_from(found))
    return await messages.with_preview(context.database, found)


@acting
async def mark_read(context: Context, user_id: str, conversation_id: str, message_id: str) -> None:
    """Note that the user has read up to a message; an older one than before changes nothing.

    Raises InvalidInput, ConversationNotFound, ForbiddenRead and MessageNotFound.
    """
    given = inputs.read(inputs.Mark, message_id=message_id)
    await load_readable(context, user_id, conversation_id)
    if await context.read_marks.mark(conversation_id, user_id, given.message_id):
        notify(context.plugins, Plugin.message_read, user_id, conversation_id, given.message_id)
        await tell_read(context, user_id, conversation_id)


@dataclass(frozen=True, slots=True)
class _Slice:
    """Which part of a list by descending seq is asked for."""

    kind: str
    size: int
    before: int | None

    @classmethod
    def read(cls, kind: str, limit: int | None, cursor: str | None) -> "_Slice":
        size = pages.limit_from(limit)
        position = pages.position_from(kind, cursor, int)
        return cls(kind, size, cast(int, position[0]) if position else None)

    async def page(self, context: Context, timeline: str) -> MessagePage:
        found = await messages.list_newest(
            context.database, timeline, before=self.before, limit=self.size + 1
        )
        page, last = pages.cut(found, self.size)
        return MessagePage(
            messages=await messages.with_previews(context.database, page),
            next_cursor=last and pages.cursor_from(self.kind, last["seq"]),
        )
