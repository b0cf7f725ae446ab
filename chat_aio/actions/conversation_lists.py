"""The list of a user's conversations, and what is at their heads."""

from collections.abc import Mapping, Sequence
from functools import partial

from chat_aio import hooks
from chat_aio.actions.answers import ConversationList, MessageList
from chat_aio.actions.context import Context
from chat_aio.actions.people import ids_named
from chat_aio.actions.reading import Filled, fill, load_parents, readable_among
from chat_aio.schema import inputs, pagination
from chat_aio.schema.models import ConversationHead, ListPart
from chat_aio.store import conversations, messages, unread_heads
from chat_aio.store.documents import CounterDocument, MessageDocument
from chat_aio.store.hidden import Hidden
from chat_aio.store.mapping import conversation_from
from chat_aio.store.rows import MOST_BYTES, Rows
from chat_aio.store.shapes import readable
from chat_aio.store.unread import Unread, count_unread, find_unread

LAST_AT_ONCE = 16
"""So many last messages are read together: each may have 2,000 reactions."""


async def list_conversations(
    context: Context,
    user_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
    include: Sequence[ListPart] | None = None,
    query: str | None = None,
    unread: bool = False,
) -> ConversationList:
    """The user's conversations, most recently active first (docs/behaviour.md 3.3).

    `query` chooses those with this text in their name or in another participant's id or name,
    `unread` those with unread messages; `include` adds `last_messages`, `heads` and `users`
    (docs/behaviour.md 15.2).
    Raises InvalidInput.
    """
    given = inputs.read(inputs.ConversationFilter, include=include, query=query, unread=unread)
    size = pagination.limit_from(limit)
    position = pagination.after_from("conversations", cursor)
    ids = await _ids_of(context, user_id, given.query)

    async def fetch(last: CounterDocument | None, limit: int) -> Rows[CounterDocument]:
        behind = (last["activityAt"], last["_id"]) if last else position
        heads = await conversations.list_heads(
            context.database, ids, limit=limit, position=behind, counts_of=[user_id]
        )
        # Heads are small; the size that bounds the page is that of the conversations.
        return Rows(heads, 0)

    sift = partial(_unread if given.unread else _readable, context, user_id)
    found = await fill(fetch, sift, count=size + 1)
    return await _page(context, user_id, found, size=size, include=given.include or ())


async def _ids_of(context: Context, user_id: str, query: str | None) -> list[str]:
    named = await ids_named(context, user_id, query) if query else ()
    return await conversations.ids_of_user(
        context.database, user_id, containing=query, with_any=named
    )


async def _page(
    context: Context,
    user_id: str,
    found: Filled[CounterDocument],
    *,
    size: int,
    include: Sequence[ListPart],
) -> ConversationList:
    page = found.rows[:size]
    shown, stored_bytes, read = await context.decoded.read_some([head["_id"] for head in page])
    heads = {head["_id"]: head for head in readable("counters", page)}
    documents = [conversation.document for conversation in shown.values()]
    # It leaves out conversations that the user has left since their ids were read.
    unread = await find_unread(context.database, user_id, documents, heads)
    names = [head["_id"] for head in page[:read]]
    rows = [(shown[name], unread[name].count) if name in unread else None for name in names]
    last = standing = None
    if "lastMessage" in include:
        hidden = {name: count.hidden for name, count in unread.items() if count.hidden}
        last, covered = await _last_messages(context, user_id, names, hidden)
        rows = rows[:covered]
    if "heads" in include:
        standing = await _heads(context, user_id, heads, unread)

    def cursor_behind(count: int) -> str | None:
        last = found.behind(page, count)
        return last and pagination.cursor_after("conversations", last["activityAt"], last["_id"])

    return ConversationList(
        context, rows, stored_bytes, cursor_behind, last, standing, "users" in include
    )


async def _readable(
    context: Context, user_id: str, heads: Sequence[CounterDocument]
) -> Sequence[CounterDocument]:
    """The heads whose conversations the host lets the user read; by default all of them."""
    permissions = context.permissions
    if not permissions.asks_host:
        return heads
    documents = await conversations.find_many(context.database, [head["_id"] for head in heads])

    async def ask(head: CounterDocument) -> bool:
        found = documents.get(head["_id"])
        if found is None:
            return False
        conversation = conversation_from(found, room_controls=context.options.room_controls)
        return await permissions.may_read(user_id, conversation)

    return await hooks.those(ask, heads)


async def _unread(
    context: Context, user_id: str, heads: Sequence[CounterDocument]
) -> Sequence[CounterDocument]:
    """The heads, among those that the user may read, of conversations with unread messages."""
    given = {head["_id"]: head for head in readable("counters", heads)}
    kept: list[CounterDocument] = []
    names = list(given)
    while names:
        found, _, read = await context.decoded.read_some(names)
        documents = [conversation.document for conversation in found.values()]
        counts = await count_unread(context.database, user_id, documents, given)
        kept += [
            given[conversation_id]
            for conversation_id in names[:read]
            if counts.get(conversation_id)
        ]
        names = names[read:]
    return await _readable(context, user_id, kept)


async def _last_messages(
    context: Context, user_id: str, conversation_ids: Sequence[str], hidden: Hidden
) -> tuple[MessageList, int]:
    """The newest message of each conversation, as far as the user may read it, up to about 4 MiB of
    BSON; and how many of the conversations were covered."""
    newest = await unread_heads.newest_ids(context.database, conversation_ids)
    documents: list[MessageDocument] = []
    covered = stored_bytes = 0
    while covered < len(conversation_ids) and stored_bytes < MOST_BYTES:
        names = conversation_ids[covered : covered + LAST_AT_ONCE]
        rows = await messages.read_many(
            context.database,
            [newest[conversation_id] for conversation_id in names if conversation_id in newest],
        )
        place = {name: number for number, name in enumerate(names)}
        theirs = [
            message
            for message in rows.documents
            if message["_id"] == newest.get(_place_of(message))
        ]
        allowed = await readable_among(context, user_id, theirs, hidden)
        documents += sorted(allowed, key=lambda head: place[head["conversationId"]])
        covered += len(names)
        stored_bytes += rows.stored_bytes
    parents = await load_parents(context, user_id, documents, hidden)
    return MessageList(context, documents, parents, stored_bytes, lambda _: None), covered


def _place_of(message: MessageDocument) -> str:
    """The conversation of a message. Another program may have put it into a list of another one."""
    conversation_id = message.get("conversationId")
    return conversation_id if isinstance(conversation_id, str) else ""


async def _heads(
    context: Context,
    user_id: str,
    heads: Mapping[str, CounterDocument],
    unread: Mapping[str, Unread],
) -> dict[str, ConversationHead]:
    first = await unread_heads.first_unread(context.database, user_id, unread)
    mentions = await unread_heads.count_mentions(context.database, user_id, unread)
    return {
        name: ConversationHead(
            seq=heads[name]["seq"],
            first_unread_seq=first.get(name),
            unread_mention_count=mentions.get(name, 0),
        )
        for name in unread
    }
