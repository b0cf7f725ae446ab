"""Stored messages: listing them, getting one, marking them as read.

`store/read_marks.py` moves read states forward only, and `store/unread.py` counts the unread
messages.
"""

import math
from collections.abc import Sequence
from functools import partial

from chat_aio.actions.answers import MessageList
from chat_aio.actions.context import Context
from chat_aio.actions.guards import (
    load_conversation,
    load_readable,
    load_readable_message,
    load_within,
)
from chat_aio.actions.optional_events import publish_read
from chat_aio.actions.reading import fill, readable_in, show
from chat_aio.actions.timelines import Timeline, read_wanted
from chat_aio.errors import InvalidInput, MessageNotFound, ThreadsUnsupported
from chat_aio.observability.dispatch import notify
from chat_aio.plugin_types.base import Plugin
from chat_aio.schema import inputs, pagination
from chat_aio.schema.fields import is_id
from chat_aio.schema.models import Message, PagePart
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
    around: str | None = None,
    around_seq: int | None = None,
    after: str | None = None,
    include: Sequence[PagePart] | None = None,
) -> MessageList:
    """The main list of a conversation, newest first: its newest messages, those `around` a message
    or a seq, those `after` a message, or those behind a cursor; only one place can be given.

    If newer messages may follow, the page has a `previous_cursor` to them; `include` adds `users`.
    Raises InvalidInput, ConversationNotFound, ForbiddenRead, and MessageNotFound for `around` and
    `after` (specification 15.1).
    """
    wanted = read_wanted(
        "messages",
        limit=limit,
        cursor=cursor,
        around=around,
        around_seq=around_seq,
        after=after,
        include=include,
    )
    snapshot = await load_readable(context, user_id, conversation_id)
    return await Timeline(context, user_id, snapshot, conversation_id).page(wanted)


async def list_thread(
    context: Context,
    user_id: str,
    conversation_id: str,
    root_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
    around: str | None = None,
    around_seq: int | None = None,
    after: str | None = None,
    include: Sequence[PagePart] | None = None,
) -> MessageList:
    """The replies of a thread without its root, newest first (specification 4.14): the newest,
    those `around` a message, those `after` it, or those behind a cursor, as in a main list.

    If retention has removed the root, or it is hidden from the user, the remaining replies are
    still listed. `include` adds `users`. Raises InvalidInput, ThreadsUnsupported,
    ConversationNotFound, MessageNotFound and ForbiddenRead.
    """
    wanted = read_wanted(
        "thread",
        limit=limit,
        cursor=cursor,
        around=around,
        around_seq=around_seq,
        after=after,
        include=include,
    )
    if not context.options.threads:
        raise ThreadsUnsupported
    await load_conversation(context, conversation_id)
    await _require_thread(context, conversation_id, root_id)
    snapshot = await load_readable(context, user_id, conversation_id)
    if upto := snapshot.hidden.get(user_id):
        await _require_thread(context, conversation_id, root_id, above=upto)
    return await Timeline(context, user_id, snapshot, root_id).page(wanted)


async def _require_thread(
    context: Context, conversation_id: str, root_id: str, *, above: int = 0
) -> None:
    """Raise MessageNotFound unless the root or a reply has a seq above `above`."""
    try:
        root = await load_within(context, conversation_id, root_id)
        if root["seq"] <= above:
            raise MessageNotFound
    except MessageNotFound:
        if not is_id(root_id) or not await messages.is_any_in_thread(
            context.database, conversation_id, root_id, above=above
        ):
            raise


async def list_messages_after(
    context: Context, user_id: str, conversation_id: str, seq: int, *, limit: int | None = None
) -> tuple[Message, ...]:
    """Messages with a seq above `seq`, thread replies included, oldest first; for filling gaps.

    At most `limit` (50 by default, 200 at most). Pass the last message's seq to the next call.
    """
    size = pagination.limit_from(limit)
    # `True` is an `int` in Python, and larger integers are errors of the driver.
    if not isinstance(seq, int) or isinstance(seq, bool) or not 0 <= seq < 2**63:
        raise InvalidInput("seq must be a whole number of at least 0")
    snapshot = await load_readable(context, user_id, conversation_id)
    begin = max(seq, snapshot.hidden.get(user_id, 0))

    async def fetch(last: MessageDocument | None, limit: int) -> Rows[MessageDocument]:
        after = last["seq"] if last else begin
        return Rows(
            await messages.list_after(context.database, conversation_id, after=after, limit=limit),
            stored_bytes=0,
        )

    sift = partial(readable_in, context, user_id, snapshot)
    # There is no cursor to continue with, so the page is filled however much the host refuses.
    found = await fill(fetch, sift, count=size, most=math.inf)
    return await show(context, user_id, found.rows, snapshot.hidden_from(user_id))


async def get_message(
    context: Context, user_id: str, conversation_id: str, message_id: str
) -> Message:
    """Get one message. Raises ConversationNotFound, MessageNotFound and ForbiddenRead."""
    await load_conversation(context, conversation_id)
    found = await load_within(context, conversation_id, message_id)
    snapshot = await load_readable(context, user_id, conversation_id, bare_message_from(found))
    (message,) = await show(context, user_id, [found], snapshot.hidden_from(user_id))
    return message


async def mark_read(context: Context, user_id: str, conversation_id: str, message_id: str) -> None:
    """Mark a conversation as read up to a message; an older message than before changes nothing.

    Raises InvalidInput, ConversationNotFound, ForbiddenRead and MessageNotFound.
    """
    given = inputs.read(inputs.MessageChoice, message_id=message_id)
    snapshot = await load_readable(context, user_id, conversation_id)
    if context.permissions.asks_for_messages or snapshot.hidden_from(user_id):
        # Otherwise the mark itself finds out whether the message exists.
        await load_readable_message(context, user_id, conversation_id, given.message_id)
    moved = await context.read_marks.mark(conversation_id, user_id, given.message_id)
    if moved.read:
        notify(context.plugins, Plugin.message_read, user_id, conversation_id, given.message_id)
    if moved.read or moved.unread:
        await publish_read(context, user_id, conversation_id)
