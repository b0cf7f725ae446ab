"""The threads that concern a user, with their unread replies. Everything here needs the option
`inbox` (specification 15.5)."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from chat_aio.actions.answers import shapes_of
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_readable_message, withdraw_if_deleted
from chat_aio.actions.reading import fill, load_parents, readable_anywhere
from chat_aio.errors import MessageNotFound, ThreadsUnsupported
from chat_aio.schema import inputs, pagination
from chat_aio.schema.inbox import ThreadPage, ViewedThread
from chat_aio.schema.wire import aware
from chat_aio.store import thread_states
from chat_aio.store.documents import MessageDocument
from chat_aio.store.hidden import hidden_from
from chat_aio.store.mapping import message_from
from chat_aio.store.rows import Rows

CURSOR = "threads"


async def list_threads(
    context: Context, user_id: str, *, limit: int | None = None, cursor: str | None = None
) -> ThreadPage:
    """The threads that the user follows, has written in or is mentioned in, unless they have
    unfollowed them; the latest reply first. Raises InvalidInput and ThreadsUnsupported."""
    _require_threads(context)
    size, position = pagination.limit_from(limit), pagination.after_from(CURSOR, cursor)
    database = context.database
    written = await thread_states.written_in(database, user_id)
    mentioned = await thread_states.mentioned_in(database, user_id)
    states = await thread_states.of_user(database, user_id)
    followed = {root_id for root_id, state in states.items() if state["follows"]}
    # Not the absence of a state: writers of replies have a thread in their list without following
    # it.
    unfollowed = {root_id for root_id, state in states.items() if state["follows"] is False}
    ids = (written.keys() | mentioned | followed) - unfollowed
    hidden = await hidden_from(database, user_id)

    async def fetch(last: MessageDocument | None, limit: int) -> Rows[MessageDocument]:
        behind = _position(last) if last else position
        return await thread_states.list_roots(database, ids, behind, hidden=hidden, limit=limit)

    async def sift(found: Sequence[MessageDocument]) -> Sequence[MessageDocument]:
        return await readable_anywhere(context, user_id, found)

    found = await fill(fetch, sift, count=size + 1)
    page = found.rows[:size]
    # A reply marks the earlier ones as read for its sender.
    starts = {
        root["_id"]: max(
            written.get(root["_id"], 0),
            states[root["_id"]]["lastReadSeq"] if root["_id"] in states else 0,
        )
        for root in page
    }
    unread = await thread_states.count_unread(database, user_id, starts)
    parents = await load_parents(context, user_id, page, hidden)

    def shown(root: MessageDocument) -> ViewedThread:
        return ViewedThread(
            root=message_from(root, parents, context.database.optional_fields),
            unread_reply_count=unread.get(root["_id"], 0),
            last_read_seq=starts[root["_id"]],
        )

    made, count = await shapes_of(context, page, shown, stored_bytes=found.stored_bytes)
    last = found.behind(page, count) if page else found.stopped
    behind = last and pagination.cursor_after(CURSOR, *_position(last))
    return ThreadPage(threads=made, next_cursor=behind)


def _position(root: MessageDocument) -> tuple[datetime, str]:
    return aware(root["thread"]["lastReplyAt"]), root["_id"]


async def follow_thread(context: Context, user_id: str, conversation_id: str, root_id: str) -> None:
    """Follow a thread, or a message that has no replies yet. Raises ConversationNotFound,
    ForbiddenRead, MessageNotFound (also for a reply) and ThreadsUnsupported."""
    root = await _load_root(context, user_id, conversation_id, root_id)
    await _put(context, user_id, root, follows=True)


async def unfollow_thread(
    context: Context, user_id: str, conversation_id: str, root_id: str
) -> None:
    """Leave a thread out of the user's list, even if they write or are mentioned in it. Raises
    ConversationNotFound, ForbiddenRead, MessageNotFound and ThreadsUnsupported."""
    root = await _load_root(context, user_id, conversation_id, root_id)
    await _put(context, user_id, root, follows=False)


async def mark_thread_read(
    context: Context, user_id: str, conversation_id: str, root_id: str, message_id: str
) -> None:
    """Mark a thread as read up to a message; an older message than before changes nothing. The
    read state and the unread count of the conversation do not change.

    Raises InvalidInput, ConversationNotFound, ForbiddenRead, MessageNotFound (also for a message
    that is not of the thread) and ThreadsUnsupported.
    """
    given = inputs.read(inputs.MessageChoice, message_id=message_id)
    root = await _load_root(context, user_id, conversation_id, root_id)
    found = await load_readable_message(context, user_id, conversation_id, given.message_id)
    if root["_id"] not in (found["_id"], found["threadRootMessageId"]):
        raise MessageNotFound
    await _put(context, user_id, root, read_to=found["seq"])


async def _put(
    context: Context,
    user_id: str,
    root: MessageDocument,
    *,
    follows: bool | None = None,
    read_to: int = 0,
) -> None:
    """Store a thread state. Raises ConversationNotFound if the conversation is deleted by now."""
    conversation_id, root_id = root["conversationId"], root["_id"]
    await thread_states.put(
        context.database, user_id, conversation_id, root_id, follows=follows, read_to=read_to
    )
    withdraw = partial(thread_states.remove, context.database, user_id, root_id)
    await withdraw_if_deleted(context, conversation_id, withdraw)


async def _load_root(
    context: Context, user_id: str, conversation_id: str, root_id: str
) -> MessageDocument:
    _require_threads(context)
    root = await load_readable_message(context, user_id, conversation_id, root_id)
    # A reply is in a thread, and cannot be the root of another one.
    if root["threadRootMessageId"] is not None:
        raise MessageNotFound
    return root


def _require_threads(context: Context) -> None:
    if not context.options.threads:
        raise ThreadsUnsupported
