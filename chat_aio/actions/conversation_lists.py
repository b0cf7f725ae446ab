"""The list of a user's conversations, and their heads."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial

from chat_aio import hooks
from chat_aio.actions.answers import ConversationList, ListedRow, MessageList
from chat_aio.actions.context import Context
from chat_aio.actions.people import ids_named
from chat_aio.actions.reading import fill, load_parents, readable_among
from chat_aio.errors import InvalidInput
from chat_aio.schema import inputs, pagination
from chat_aio.schema.fields import Scalar
from chat_aio.schema.models import ListPart, UnreadSummary
from chat_aio.store import conversations, messages, views
from chat_aio.store.documents import CounterDocument, MessageDocument, ViewDocument
from chat_aio.store.hidden import Hidden
from chat_aio.store.mapping import UNSET_VIEW, conversation_from, is_unlisted
from chat_aio.store.rows import MOST_BYTES, Rows
from chat_aio.store.shapes import readable
from chat_aio.store.unread import (
    count_mentions,
    count_unread,
    find_unread,
    first_unread,
    newest_ids,
)

FOUND_CURSOR = "found_conversations"

Sift = Callable[[Sequence[CounterDocument]], Awaitable[Sequence[CounterDocument]]]

LAST_AT_ONCE = 16
"""Number of last messages that are read together: a message may have 2,000 reactions."""


async def list_conversations(
    context: Context,
    user_id: str,
    *,
    limit: int | None = None,
    cursor: str | None = None,
    include: Sequence[ListPart] | None = None,
    query: str | None = None,
    unread: bool = False,
    ids: Sequence[str] | None = None,
    key: str | None = None,
    metadata: Mapping[str, Scalar] | None = None,
    archived: bool | None = None,
    favourite: bool | None = None,
) -> ConversationList:
    """The user's conversations, most recently active first (specification 3.3).

    `query` selects those with this text in their name or in another participant's id or name,
    `unread` those with unread messages, `ids` (up to 100) those among these, `key` the group that
    has it (with `conversation_keys`), `metadata` those with all of these values in fields of
    `metadata_indexes`, `archived` and `favourite` those that are or are not (with `inbox`);
    `include` adds `last_messages`, `unread_summaries` and `users` (specification 15.2). Hidden ones
    are left out. Raises InvalidInput, and KeyNotAllowed over HTTP.
    """
    given = inputs.read(
        inputs.FullConversationFilter,
        include=include,
        query=query,
        unread=unread,
        ids=ids,
        key=key,
        metadata=metadata,
        archived=archived,
        favourite=favourite,
    )
    _validate(context, given)
    size = pagination.limit_from(limit)
    position = pagination.after_from("conversations", cursor)
    set_views = await views.of_user(context.database, user_id) if context.options.inbox else {}
    chosen = await _ids_of(context, user_id, given, set_views)

    async def fetch(last: CounterDocument | None, limit: int) -> Rows[CounterDocument]:
        behind = (last["activityAt"], last["_id"]) if last else position
        heads = await conversations.list_heads(
            context.database, chosen, limit=limit, position=behind, counts_of=[user_id]
        )
        # Heads are small; the size that bounds the page is that of the conversations.
        return Rows(heads, 0)

    # Unread first if requested: fewer rows then need a call of the host's hook.
    sift = partial(_unread if given.unread else _readable, context, user_id)
    found = await fill(fetch, _listed(set_views, sift), count=size + 1)
    page = found.rows[:size]

    def cursor_behind(count: int) -> str | None:
        last = found.behind(page, count)
        return last and pagination.cursor_after("conversations", last["activityAt"], last["_id"])

    return await _page(context, user_id, page, cursor_behind, include=given.include or ())


def _validate(context: Context, given: inputs.FullConversationFilter) -> None:
    """Raise InvalidInput for a filter without its option or index."""
    require_indexed(context, given.metadata or ())
    if not context.options.inbox and (given.archived, given.favourite) != (None, None):
        raise InvalidInput("archived and favourite need the option inbox")
    if given.key is not None and not context.options.conversation_keys:
        raise InvalidInput("key needs the option conversation_keys")


def _is_wanted(view: ViewDocument, given: inputs.FullConversationFilter) -> bool:
    """Whether a filter selects the conversations that a user views like this."""
    return given.archived in (None, view.get("archived", False)) and given.favourite in (
        None,
        view.get("favourite", False),
    )


async def _ids_of(
    context: Context,
    user_id: str,
    given: inputs.FullConversationFilter,
    set_views: Mapping[str, ViewDocument],
) -> list[str]:
    """The ids of the user's conversations that a filter selects, apart from unread ones. Raises
    KeyNotAllowed."""
    if given.key is not None:
        await context.permissions.require_key(user_id, given.key)
    named = await ids_named(context, user_id, given.query) if given.query else ()
    found = await conversations.ids_of_user(
        context.database,
        user_id,
        containing=given.query,
        with_any=named,
        among=given.ids,
        key=given.key,
        metadata=given.metadata,
    )
    return [name for name in found if _is_wanted(set_views.get(name, {}), given)]


async def find_conversations(
    context: Context,
    user_id: str,
    *,
    metadata: Mapping[str, Scalar],
    limit: int | None = None,
    cursor: str | None = None,
) -> ConversationList:
    """All conversations that the user may read, whose metadata have all of these values in fields
    of `metadata_indexes`, ordered by id. With the default rule these are the user's own.

    Raises InvalidInput, and SetupError if an index is missing (specification 18.5).
    """
    given = inputs.read(inputs.MetadataLookup, metadata=metadata)
    require_indexed(context, given.metadata)
    if not given.metadata:
        raise InvalidInput("metadata must name at least one field")
    size = pagination.limit_from(limit)
    position = pagination.position_from(FOUND_CURSOR, cursor, str)
    start = str(position[0]) if position else ""
    own = None if context.permissions.asks_host else user_id
    heads: dict[str, CounterDocument] = {}

    # By ids, for a conversation of another program may have no head.
    async def fetch(last: str | None, limit: int) -> Rows[str]:
        ids = await conversations.ids_with_metadata(
            context.database, given.metadata, user_id=own, after=last or start, limit=limit
        )
        return Rows(ids, 0)

    async def sift(ids: Sequence[str]) -> Sequence[str]:
        found = await conversations.list_heads(
            context.database, ids, limit=len(ids), counts_of=[user_id]
        )
        allowed = {head["_id"]: head for head in await _readable(context, user_id, found)}
        heads.update(allowed)
        return [name for name in ids if name in allowed]

    found = await fill(fetch, sift, count=size + 1)
    names = found.rows[:size]

    def cursor_behind(count: int) -> str | None:
        last = found.behind(names, count)
        return last and pagination.cursor_from(FOUND_CURSOR, last)

    page = [heads[name] for name in names]
    return await _page(context, user_id, page, cursor_behind, include=(), outside=True)


def require_indexed(context: Context, names: Iterable[str]) -> None:
    """Raise InvalidInput for a field of metadata by which conversations are not found."""
    for name in names:
        if name not in context.options.metadata_indexes:
            raise InvalidInput(f"metadata.{name} is no field by which conversations are found")


async def _page(
    context: Context,
    user_id: str,
    page: Sequence[CounterDocument],
    cursor_behind: Callable[[int], str | None],
    *,
    include: Sequence[ListPart],
    outside: bool = False,
) -> ConversationList:
    """A page of conversations. With `outside` it has those that the user is not in; otherwise they
    have left these since the ids were read."""
    # May be fewer than asked for: a conversation with large metadata fills an answer alone.
    shown, stored_bytes, read = await context.decoded.read_some([head["_id"] for head in page])
    heads = {head["_id"]: head for head in readable("counters", page)}
    documents = [conversation.document for conversation in shown.values()]
    unread = await find_unread(context.database, user_id, documents, heads)
    names = [head["_id"] for head in page[:read]]

    def row_of(name: str) -> ListedRow:
        if name not in shown:
            return None
        if name in unread:
            return shown[name], unread[name].count, unread[name].view
        return (shown[name], 0, UNSET_VIEW) if outside else None

    rows = [*map(row_of, names)]
    last = standing = None
    if "lastMessage" in include:
        hidden = {name: count.hidden for name, count in unread.items() if count.hidden}
        seqs = {name: heads[name]["seq"] for name in names if name in heads}
        newest = await newest_ids(context.database, names, seqs)
        last, covered = await _last_messages(context, user_id, names, newest, hidden)
        rows = rows[:covered]
    if "unread" in include:
        first = await first_unread(context.database, user_id, unread)
        mentions = await count_mentions(context.database, user_id, unread)
        standing = {
            name: UnreadSummary(
                seq=heads[name]["seq"],
                first_unread_seq=first.get(name),
                unread_mention_count=mentions.get(name, 0),
            )
            for name in unread
        }
    return ConversationList(
        context, rows, stored_bytes, cursor_behind, last, standing, "users" in include
    )


def _listed(set_views: Mapping[str, ViewDocument], sift: Sift) -> Sift:
    """`sift` for the conversations that are not hidden."""

    async def sift_listed(heads: Sequence[CounterDocument]) -> Sequence[CounterDocument]:
        return await sift(
            [head for head in heads if not is_unlisted(set_views.get(head["_id"], {}), head)]
        )

    return sift_listed


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
        conversation = conversation_from(found, context.database.optional_fields)
        return await permissions.may_read(user_id, conversation)

    return await hooks.filter_async(ask, heads, at_once=permissions.read_at_once)


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
    context: Context,
    user_id: str,
    conversation_ids: Sequence[str],
    newest: Mapping[str, str],
    hidden: Hidden,
) -> tuple[MessageList, int]:
    """The `newest` message of each conversation, as far as the user may read it, up to about 4 MiB
    of BSON; and how many of the conversations were covered."""
    documents: list[MessageDocument] = []
    covered = stored_bytes = 0
    while covered < len(conversation_ids) and stored_bytes < MOST_BYTES:
        names = conversation_ids[covered : covered + LAST_AT_ONCE]
        wanted = {newest[name]: name for name in names if name in newest}
        rows = await messages.read_many(context.database, list(wanted))
        place = {name: number for number, name in enumerate(names)}
        # Another program may have moved a message: nobody may read it as one of this conversation.
        theirs = [
            message
            for message in rows.documents
            if message.get("conversationId") == wanted[message["_id"]]
        ]
        allowed = await readable_among(context, user_id, theirs, hidden)
        documents += sorted(allowed, key=lambda head: place[head["conversationId"]])
        covered += len(names)
        stored_bytes += rows.stored_bytes
    parents = await load_parents(context, user_id, documents, hidden)
    return MessageList(context, documents, parents, stored_bytes, lambda _: None), covered
