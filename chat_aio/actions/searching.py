"""Search: messages of the user's conversations that have every term of the query, where the last
term may be only a beginning.

`store/tokenizer.py` defines terms, and `store/search.py` ranks matches.
"""

from collections.abc import Sequence
from typing import cast

from chat_aio.actions.answers import MessageList
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_readable
from chat_aio.actions.reading import Filled, fill, load_parents, readable_among
from chat_aio.capabilities import Capability, require
from chat_aio.errors import SearchUnsupported, StorageUnavailable
from chat_aio.schema import inputs, pagination
from chat_aio.schema.models import PagePart
from chat_aio.schema.normal_text import is_run
from chat_aio.store import conversations, messages, search
from chat_aio.store.calls import budget
from chat_aio.store.documents import MessageDocument
from chat_aio.store.hidden import hidden_from, within
from chat_aio.store.rows import MOST_BYTES, Rows
from chat_aio.store.search import IndexMissing, Match, Rank, Scope, SearchTerms
from chat_aio.store.tokenizer import ends_in_term, terms_of

SECONDS = 2.0  # Of all queries of a search together (specification 6.4).
READ_AT_ONCE = 50
SHORTEST_BEGINNING = 3  # Two letters are the beginning of a good part of all messages.

Found = tuple[Match, MessageDocument | None]
"""A match and its message; None if that was removed in the meantime."""


async def search_messages(
    context: Context,
    user_id: str,
    query: str,
    *,
    conversation_id: str | None = None,
    prefix: bool = False,
    limit: int | None = None,
    cursor: str | None = None,
    include: Sequence[PagePart] | None = None,
) -> MessageList:
    """Messages that have every term of `query`, the most relevant first (specification 6). With
    `prefix` (option `prefix_search`) longer terms that begin with the last term match as well.
    `include` adds `users`.

    Raises InvalidInput, SearchUnsupported, ConversationNotFound, ForbiddenRead, and
    StorageUnavailable if it takes too long or the index of search is missing.
    """
    given = inputs.read(
        inputs.Search,
        query=query,
        conversation_id=conversation_id,
        prefix=prefix,
        include=include,
    )
    size = pagination.limit_from(limit)
    before: Rank | None = None
    if position := pagination.position_from("search", cursor, int, int, str):
        score, millis, message_id = cast(tuple[int, int, str], position)
        before = score, pagination.moment_from(millis), message_id
    require(context, Capability.SEARCH)
    if given.prefix and not context.options.prefix_search:
        raise SearchUnsupported("this installation has no search for beginnings of words")
    wanted, scope = _wanted_from(given), await _scope_of(context, user_id, given.conversation_id)
    try:
        # All queries together: one page may need several, and every one could take the whole time.
        with budget(SECONDS):
            found = await _list_readable(context, user_id, scope, wanted, before, count=size + 1)
    except StorageUnavailable:
        raise StorageUnavailable("the search took too long; search for rarer words") from None
    except IndexMissing:
        raise StorageUnavailable(
            "search is not available: its index is missing, and must be created again"
        ) from None
    page = found.rows[:size]
    documents = [message for _, message in page if message]  # Every match that is readable has one.
    parents = await load_parents(context, user_id, documents, scope.hidden)

    def cursor_behind(count: int) -> str | None:
        last = found.behind(page, count)
        if last is None:
            return None
        score, created_at, message_id = last[0].rank
        millis = pagination.millis_from(created_at)
        return pagination.cursor_from("search", score, millis, message_id)

    shown, stored = bool(given.include), found.stored_bytes
    return MessageList(context, documents, parents, stored, cursor_behind, shows_users=shown)


def _wanted_from(given: inputs.Search) -> SearchTerms:
    """The search, with the word that is being typed: the last one, if nothing follows it. In
    scripts without spaces parts of runs match anyway."""
    terms = terms_of(given.query)
    typed = terms[-1] if given.prefix and terms and ends_in_term(given.query) else ""
    if len(typed) < SHORTEST_BEGINNING or is_run(typed):
        return SearchTerms(terms)
    return SearchTerms(terms[:-1], typed)


async def _scope_of(context: Context, user_id: str, conversation_id: str | None) -> Scope:
    """The user's conversations, or the given one, which a host's own `can_read` may open to users
    who are not in it. Raises ConversationNotFound and ForbiddenRead."""
    if conversation_id is None:
        ids = await conversations.ids_of_user(context.database, user_id)
    else:
        await load_readable(context, user_id, conversation_id)
        ids = [conversation_id]
    return Scope(ids, within(await hidden_from(context.database, user_id), ids))


async def _list_readable(
    context: Context,
    user_id: str,
    scope: Scope,
    wanted: SearchTerms,
    before: Rank | None,
    *,
    count: int,
) -> Filled[Found]:
    """The next `count` matches that the user may read, or fewer (see `reading.fill`)."""

    async def fetch(last: Found | None, limit: int) -> Rows[Found]:
        behind = last[0].rank if last else before
        matches = await search.list_matches(
            context.database, scope, wanted, before=behind, limit=limit, seconds=SECONDS
        )
        return await _read(context, matches)

    async def sift(found: Sequence[Found]) -> Sequence[Found]:
        # The aggregation has matched an older state than the messages were read in.
        there = [message for _, message in found if message and not message.get("deletedAt")]
        readable = await readable_among(context, user_id, there, scope.hidden)
        ids = {message["_id"] for message in readable}
        return [pair for pair in found if pair[0].message_id in ids]

    return await fill(fetch, sift, count=count)


async def _read(context: Context, matches: Sequence[Match]) -> Rows[Found]:
    """Matches with their messages, up to as many bytes as an answer may have."""
    read: list[Found] = []
    size = 0
    for start in range(0, len(matches), READ_AT_ONCE):
        some = matches[start : start + READ_AT_ONCE]
        rows = await messages.read_many(context.database, [match.message_id for match in some])
        found = {message["_id"]: message for message in rows.documents}
        read += [(match, found.get(match.message_id)) for match in some]
        size += rows.stored_bytes
        if size > MOST_BYTES:
            break
    return Rows(read, size, complete=len(read) == len(matches))
