"""Stored messages: listing them, getting one, marking them as read.

`store/read_marks.py` moves read states forward only, and `store/unread.py` counts what is unread
after them.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import cast

from chat_aio.actions.answers import MessageList
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_conversation, load_readable, load_within
from chat_aio.actions.optional_events import publish_read
from chat_aio.actions.reading import fill, load_parents, readable_in, show
from chat_aio.errors import InvalidInput, MessageNotFound, ThreadsUnsupported
from chat_aio.observability.dispatch import notify
from chat_aio.plugins.base import Plugin
from chat_aio.schema import inputs, pagination
from chat_aio.schema.fields import is_id
from chat_aio.schema.models import Conversation, Message
from chat_aio.store import messages
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import bare_message_from
from chat_aio.store.rows import Rows


async def list_messages(
    context: Context,
    user_id: str,
    conversation_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> MessageList:
    """The main list of a conversation, newest first. Raises ConversationNotFound, ForbiddenRead."""
    given = _Slice.read("messages", limit, cursor)
    snapshot = await load_readable(context, user_id, conversation_id)
    return await given.page(context, user_id, snapshot.conversation, conversation_id)


async def list_thread(
    context: Context,
    user_id: str,
    conversation_id: str,
    root_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
) -> MessageList:
    """The replies of a thread without its root, newest first (docs/behaviour.md 4.14).

    If retention has removed the root, the remaining replies are still listed. Raises
    ThreadsUnsupported, ConversationNotFound, MessageNotFound and ForbiddenRead.
    """
    given = _Slice.read("thread", limit, cursor)
    if not context.options.threads:
        raise ThreadsUnsupported
    await load_conversation(context, conversation_id)
    await _require_thread(context, conversation_id, root_id)
    snapshot = await load_readable(context, user_id, conversation_id)
    return await given.page(context, user_id, snapshot.conversation, root_id)


async def _require_thread(context: Context, conversation_id: str, root_id: str) -> None:
    try:
        await load_within(context, conversation_id, root_id)
    except MessageNotFound:
        if not is_id(root_id) or not await messages.is_any_in_thread(
            context.database, conversation_id, root_id
        ):
            raise


async def list_messages_after(
    context: Context, user_id: str, conversation_id: str, seq: int, *, limit: int | None = None
) -> tuple[Message, ...]:
    """Messages with a seq above `seq`, thread replies included, oldest first; for filling gaps.

    At most `limit` (50 by default, 200 at most). Pass the last message's seq to the next call.
    """
    size = pagination.limit_from(limit)
    if not isinstance(seq, int) or isinstance(seq, bool) or not 0 <= seq < 2**63:
        raise InvalidInput("seq must be a whole number of at least 0")
    snapshot = await load_readable(context, user_id, conversation_id)

    async def fetch(last: MessageDocument | None, limit: int) -> Rows[MessageDocument]:
        after = last["seq"] if last else seq
        return Rows(
            await messages.list_after(context.database, conversation_id, after=after, limit=limit),
            stored_bytes=0,
        )

    sift = partial(readable_in, context, user_id, snapshot.conversation)
    # There is no cursor to go on with, so however much the host refuses, the page is filled.
    found = await fill(fetch, sift, count=size, most=math.inf)
    return await show(context, user_id, found.rows)


async def get_message(
    context: Context, user_id: str, conversation_id: str, message_id: str
) -> Message:
    """Get one message. Raises ConversationNotFound, MessageNotFound and ForbiddenRead."""
    await load_conversation(context, conversation_id)
    found = await load_within(context, conversation_id, message_id)
    await load_readable(context, user_id, conversation_id, bare_message_from(found))
    (message,) = await show(context, user_id, [found])
    return message


async def mark_read(context: Context, user_id: str, conversation_id: str, message_id: str) -> None:
    """Mark a conversation as read up to a message; an older one than before changes nothing.

    Raises InvalidInput, ConversationNotFound, ForbiddenRead and MessageNotFound.
    """
    given = inputs.read(inputs.Mark, message_id=message_id)
    await load_readable(context, user_id, conversation_id)
    if context.permissions.asks_for_messages:
        found = await load_within(context, conversation_id, given.message_id)
        await load_readable(context, user_id, conversation_id, bare_message_from(found))
    if await context.read_marks.mark(conversation_id, user_id, given.message_id):
        notify(context.plugins, Plugin.message_read, user_id, conversation_id, given.message_id)
        await publish_read(context, user_id, conversation_id)


@dataclass(frozen=True, slots=True)
class _Slice:
    """The requested part of a list that is ordered by descending seq."""

    kind: str
    size: int
    before: int | None

    @classmethod
    def read(cls, kind: str, limit: int | None, cursor: str | None) -> "_Slice":
        size = pagination.limit_from(limit)
        position = pagination.position_from(kind, cursor, int)
        return cls(kind, size, cast(int, position[0]) if position else None)

    async def page(
        self, context: Context, user_id: str, conversation: Conversation, timeline: str
    ) -> MessageList:
        async def fetch(last: MessageDocument | None, limit: int) -> Rows[MessageDocument]:
            before = last["seq"] if last else self.before
            return await messages.list_newest(
                context.database, timeline, before=before, limit=limit
            )

        sift = partial(readable_in, context, user_id, conversation)
        found = await fill(fetch, sift, count=self.size + 1)
        page = found.rows[: self.size]
        parents = await load_parents(context, user_id, page)

        def cursor_behind(count: int) -> str | None:
            last = found.behind(page, count)
            return last and pagination.cursor_from(self.kind, last["seq"])

        return MessageList(context, page, parents, found.stored_bytes, cursor_behind)
