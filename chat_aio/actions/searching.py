"""Search: messages of the user's conversations that have every term of the query, where the last
term may be only a beginning, or that filters select.

MongoDB finds matches (search_index.py), or the host's hook does (search_hook.py). The rule for what
a user may read is here, and the same for both.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from chat_aio.actions import search_hook, search_index
from chat_aio.actions.answers import MessageList
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_readable
from chat_aio.actions.reading import Filled, fill, load_parents, readable_among
from chat_aio.capabilities import Capability, require
from chat_aio.errors import InvalidInput, SearchUnsupported, StorageUnavailable
from chat_aio.hooks import MessageSearch
from chat_aio.schema import inputs, pagination
from chat_aio.schema.models import PagePart
from chat_aio.store import conversations, messages
from chat_aio.store.calls import budget
from chat_aio.store.documents import MessageDocument
from chat_aio.store.hidden import hidden_from, within
from chat_aio.store.rows import MOST_BYTES, Rows
from chat_aio.store.search import IndexMissing, Scope
from chat_aio.store.search_filters import SearchFilters

READ_AT_ONCE = 50
ME = "me"

Found = tuple[str, MessageDocument | None]
"""The id of a match, and its message; None if there is none."""


class Matches(Protocol):
    """The ids of the matches of a search, in order."""

    async def ids_behind(self, last: str | None, limit: int) -> Sequence[str]: ...

    def cursor_behind(self, last: str | None) -> str | None: ...


async def search_messages(
    context: Context,
    user_id: str,
    query: str | None = None,
    *,
    conversation_id: str | None = None,
    prefix: bool = False,
    sender_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    has_attachments: bool = False,
    mentions: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
    include: Sequence[PagePart] | None = None,
) -> MessageList:
    """Messages that have every term of `query`, the most relevant first (specification 6). With
    `prefix` (option `prefix_search`) longer terms that begin with the last term match as well.

    With `search_filters` also those of a sender, of a time (`until` is not included), with
    attachments, or that mention a user (`me` is the caller); without `query` the newest first.
    `include` adds `users`.

    Raises InvalidInput, SearchUnsupported, ConversationNotFound, ForbiddenRead, and
    StorageUnavailable if it takes too long or the index of search is missing.
    """
    given = inputs.read(
        inputs.FilteredSearch,
        query=query,
        conversation_id=conversation_id,
        prefix=prefix,
        sender_id=sender_id,
        since=since,
        until=until,
        has_attachments=has_attachments,
        mentions=mentions,
        include=include,
    )
    size, filters = pagination.limit_from(limit), _filters_from(given, user_id)
    if given.query is None and not filters:
        raise InvalidInput(f"q {inputs.MISSING}")
    find = _in_index if context.hooks.search_messages is None else _by_host
    matches, scope = await find(context, user_id, given, filters, cursor, size)
    found = await _list_in_time(context, user_id, scope, matches, count=size + 1)
    page = found.rows[:size]
    documents = [message for _, message in page if message]  # Every match that is readable has one.
    parents = await load_parents(context, user_id, documents, scope.hidden)

    def cursor_behind(count: int) -> str | None:
        last = found.behind(page, count)
        return matches.cursor_behind(last and last[0])

    shown, stored = bool(given.include), found.stored_bytes
    return MessageList(context, documents, parents, stored, cursor_behind, shows_users=shown)


def _filters_from(given: inputs.FilteredSearch, user_id: str) -> SearchFilters:
    return SearchFilters(
        sender_id=given.sender_id,
        since=given.since,
        until=given.until,
        has_attachments=given.has_attachments,
        mentioned_user_id=user_id if given.mentions == ME else given.mentions,
    )


def _require_options(
    context: Context, given: inputs.FilteredSearch, filters: SearchFilters
) -> None:
    """Raise SearchUnsupported for a part of the request whose option is off: an answer that ignores
    a filter would look like one that has applied it."""
    if given.prefix and not context.options.prefix_search:
        raise SearchUnsupported("this installation has no search for beginnings of words")
    if filters and not context.options.search_filters:
        raise SearchUnsupported("this installation has no filters for searches")


async def _in_index(
    context: Context,
    user_id: str,
    given: inputs.FilteredSearch,
    filters: SearchFilters,
    cursor: str | None,
    limit: int,
) -> tuple[Matches, Scope]:
    """The matches in MongoDB, and the scope of the search."""
    before = search_index.rank_from(cursor)
    require(context, Capability.SEARCH)
    _require_options(context, given, filters)
    scope = await _scope_of(context, user_id, given.conversation_id, filters)
    return search_index.IndexedMatches(context, given, scope, before), scope


async def _by_host(
    context: Context,
    user_id: str,
    given: inputs.FilteredSearch,
    filters: SearchFilters,
    cursor: str | None,
    limit: int,
) -> tuple[Matches, Scope]:
    """The matches that the host's hook finds, with or without the chat's own search."""
    position = search_hook.position_from(cursor)
    _require_options(context, given, filters)
    scope = await _scope_of(context, user_id, given.conversation_id, filters)
    asked = MessageSearch(
        user_id=user_id,
        conversation_ids=tuple(scope.conversation_ids),
        query=given.query,
        prefix=given.prefix,
        sender_id=filters.sender_id,
        since=filters.since,
        until=filters.until,
        has_attachments=filters.has_attachments,
        mentions=filters.mentioned_user_id,
        limit=limit,
        cursor=position[0] or None,
    )
    answer = await search_hook.ask_host(context, asked)
    return search_hook.HostMatches(answer, position), scope


async def _scope_of(
    context: Context, user_id: str, conversation_id: str | None, filters: SearchFilters
) -> Scope:
    """The user's conversations, or the given one, which a host's own `can_read` may open to users
    who are not in it. Raises ConversationNotFound and ForbiddenRead."""
    if conversation_id is None:
        ids = await conversations.ids_of_user(context.database, user_id)
    else:
        await load_readable(context, user_id, conversation_id)
        ids = [conversation_id]
    return Scope(ids, within(await hidden_from(context.database, user_id), ids), filters)


async def _list_in_time(
    context: Context, user_id: str, scope: Scope, matches: Matches, *, count: int
) -> Filled[Found]:
    """As `_list_readable`, within the time of a search. Raises StorageUnavailable."""
    try:
        # All queries together: one page may need several, and every one could take the whole time.
        with budget(search_index.SECONDS):
            return await _list_readable(context, user_id, scope, matches, count=count)
    except StorageUnavailable:
        raise StorageUnavailable(
            "the search took too long; search for rarer words, or in one conversation"
        ) from None
    except IndexMissing:
        raise StorageUnavailable(
            "search is not available: its index is missing, and must be created again"
        ) from None


async def _list_readable(
    context: Context, user_id: str, scope: Scope, matches: Matches, *, count: int
) -> Filled[Found]:
    """The next `count` matches that the user may read, or fewer (see `reading.fill`)."""
    places = set(scope.conversation_ids)

    async def fetch(last: Found | None, limit: int) -> Rows[Found]:
        return await _read(context, await matches.ids_behind(last and last[0], limit))

    async def sift(found: Sequence[Found]) -> Sequence[Found]:
        # Matches may be older than the messages as they are now, or be the host's.
        there = [
            message
            for _, message in found
            if message
            and not message.get("deletedAt")
            # Another program may have written another type.
            and isinstance(place := message.get("conversationId"), str)
            and place in places
        ]
        readable = await readable_among(context, user_id, there, scope.hidden)
        ids = {message["_id"] for message in readable}
        return [pair for pair in found if pair[0] in ids]

    return await fill(fetch, sift, count=count)


async def _read(context: Context, ids: Sequence[str]) -> Rows[Found]:
    """The messages with these ids, up to as many bytes as an answer may have."""
    read: list[Found] = []
    size = 0
    for start in range(0, len(ids), READ_AT_ONCE):
        some = ids[start : start + READ_AT_ONCE]
        rows = await messages.read_many(context.database, some)
        found = {message["_id"]: message for message in rows.documents}
        read += [(message_id, found.get(message_id)) for message_id in some]
        size += rows.stored_bytes
        if size > MOST_BYTES:
            break
    return Rows(read, size, complete=len(read) == len(ids))
