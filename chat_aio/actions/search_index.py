"""The matches of a search in MongoDB: by words, or without words by filters."""

from typing import cast

from chat_aio.actions.context import Context
from chat_aio.schema import inputs, pagination
from chat_aio.schema.normal_text import is_run
from chat_aio.store import search
from chat_aio.store.search import Rank, Ranks, Scope, SearchTerms
from chat_aio.store.tokenizer import ends_in_term, terms_of

SECONDS = 2.0  # Of all queries of a search together (specification 6.4).
SHORTEST_BEGINNING = 3  # Two letters are the beginning of a good part of all messages.
CURSOR = "search"


class IndexedMatches:
    """The matches behind a cursor, by rank."""

    def __init__(
        self, context: Context, given: inputs.FilteredSearch, scope: Scope, before: Rank | None
    ) -> None:
        self._context = context
        self._scope = scope
        self._before = before
        self._terms = None if given.query is None else _terms_from(given.query, given.prefix)
        self._ranks: Ranks = {}

    async def ids_behind(self, last: str | None, limit: int) -> list[str]:
        """The next matches, behind one that was returned before."""
        before = self._before if last is None else self._ranks[last]
        found = await self._list(before, limit)
        self._ranks |= found
        return list(found)

    def cursor_behind(self, last: str | None) -> str | None:
        """The cursor of the page behind a match; None if nothing follows."""
        if last is None:
            return None
        score, created_at, message_id = self._ranks[last]
        return pagination.cursor_from(CURSOR, score, pagination.millis_from(created_at), message_id)

    async def _list(self, before: Rank | None, limit: int) -> Ranks:
        database = self._context.database
        if self._terms is None:
            return await search.list_newest(
                database, self._scope, before=before, limit=limit, seconds=SECONDS
            )
        return await search.list_matches(
            database, self._scope, self._terms, before=before, limit=limit, seconds=SECONDS
        )


def rank_from(cursor: str | None) -> Rank | None:
    """The position of a cursor. Raises InvalidInput."""
    position = pagination.position_from(CURSOR, cursor, int, int, str)
    if position is None:
        return None
    score, millis, message_id = cast(tuple[int, int, str], position)
    return score, pagination.moment_from(millis), message_id


def _terms_from(query: str, prefix: bool) -> SearchTerms:
    """The terms, with the word that is being typed: the last one, if nothing follows it. In
    scripts without spaces parts of runs match anyway."""
    terms = terms_of(query)
    typed = terms[-1] if prefix and terms and ends_in_term(query) else ""
    if len(typed) < SHORTEST_BEGINNING or is_run(typed):
        return SearchTerms(terms)
    return SearchTerms(terms[:-1], typed)
