"""Search: matches on stored terms, found through a text index, and beginnings of terms through a
separate index; without words the newest messages that filters select (specification 6)."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pymongo.errors import OperationFailure

from chat_aio.observability import process_wide
from chat_aio.observability.observer import Observer
from chat_aio.schema.normal_text import is_run
from chat_aio.store import keyset_query
from chat_aio.store.database import Database
from chat_aio.store.hidden import Hidden, unless_hidden
from chat_aio.store.search_filters import CONVERSATIONS_AT_ONCE, NO_FILTERS, SearchFilters
from chat_aio.store.tokenizer import most_telling, tokens_of

log = logging.getLogger(__name__)

_BAD_HINT, _INDEX_NOT_FOUND, _QUERY_PLAN_KILLED = 2, 27, 175

INDEX = "conversation_terms"
"""Named as a hint for searches of a beginning. It exists with the option `prefix_search`."""

BEHIND_ALL = "\U0010ffff"
"""No term has this character: terms with a beginning are between it and it plus this character."""

WHOLE = 1 << 20
"""Added to the score of a message that has the beginning as a whole term: more than the number of
terms that a message can have."""

TEXT_INDEX = "search"


class IndexMissing(Exception):
    """The index that a search needs does not exist."""


Rank = tuple[int, datetime, str]
"""The rank of a match: score, creation time, id; each descending."""

Ranks = dict[str, Rank]
"""The ranks of matches by their messages' ids, in order."""


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """The condition for messages: every one of some terms, and one that starts with `beginning`."""

    terms: Sequence[str]
    beginning: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a user's search: conversations, the messages hidden from the user in them, and
    filters."""

    conversation_ids: Sequence[str]
    hidden: Hidden
    filters: SearchFilters = NO_FILTERS

    def conditions(self) -> list[dict[str, Any]]:
        """The conditions of a query, except the one for the conversations."""
        return [*self.filters.conditions(), *unless_hidden(self.hidden)]


async def list_matches(
    database: Database,
    scope: Scope,
    wanted: SearchTerms,
    *,
    before: Rank | None,
    limit: int,
    seconds: float,
) -> Ranks:
    """The messages in a scope that match `wanted`, ranked behind `before`.

    Raises StorageUnavailable if it takes longer than `seconds`, and IndexMissing while the index
    that it needs does not exist (docs/operations/mongodb.md).
    """
    wanted = SearchTerms(list(dict.fromkeys(wanted.terms)), wanted.beginning)
    if not (wanted.terms or wanted.beginning) or not scope.conversation_ids:
        return {}
    candidates, hint = _candidates(scope.conversation_ids, wanted)
    behind: list[dict[str, Any]] = []
    if before is not None:
        score, created_at, message_id = before
        behind = [
            {"score": {"$lt": score}},
            {"score": score, "createdAt": {"$lt": created_at}},
            {"score": score, "createdAt": created_at, "_id": {"$lt": message_id}},
        ]
    pipeline: list[dict[str, Any]] = [
        {"$match": {**candidates, **_matching(scope.conversation_ids, wanted)}},
        *({"$match": condition} for condition in scope.conditions()),
        # Ranked without bodies, which the caller reads for one page only.
        {"$project": {"createdAt": 1, "score": _score(wanted)}},
        *([{"$match": {"$or": behind}}] if behind else []),
        {"$sort": {"score": -1, "createdAt": -1, "_id": -1}},
        {"$limit": limit},
    ]
    found = await _aggregate(database, pipeline, hint, seconds=seconds)
    return {row["_id"]: (row["score"], row["createdAt"], row["_id"]) for row in found}


async def list_newest(
    database: Database, scope: Scope, *, before: Rank | None, limit: int, seconds: float
) -> Ranks:
    """The messages that the filters of a scope select, newest first, behind `before`. All scores
    are 0. Raises as `list_matches`."""
    position = before and before[1:]
    parts = [
        {"deletedAt": None, "createdAt": {"$type": "date"}, "_id": {"$type": "string"}},
        *scope.conditions(),
        keyset_query.behind(position),
        # The span of the index, which MongoDB does not take from the alternatives above.
        {"createdAt": {"$lte": position[0]}} if position else {},
    ]
    kept: list[Any] = []
    for start in range(0, len(scope.conversation_ids), CONVERSATIONS_AT_ONCE):
        some = list(scope.conversation_ids[start : start + CONVERSATIONS_AT_ONCE])
        newer = {"createdAt": {"$gte": kept[-1]["createdAt"]}} if len(kept) == limit else {}
        pipeline: list[dict[str, Any]] = [
            {"$match": {"$and": [{"conversationId": {"$in": some}}, *parts, newer]}},
            {"$sort": dict(keyset_query.newest())},
            {"$limit": limit},
            {"$project": {"createdAt": 1}},
        ]
        hint = {"hint": scope.filters.index}
        kept += await _aggregate(database, pipeline, hint, seconds=seconds)
        kept.sort(key=lambda row: (row["createdAt"], row["_id"]), reverse=True)
        del kept[limit:]
    return {row["_id"]: (0, row["createdAt"], row["_id"]) for row in kept}


async def _aggregate(
    database: Database,
    pipeline: Sequence[Mapping[str, Any]],
    hint: Mapping[str, str],
    *,
    seconds: float,
) -> list[Any]:
    """Run a search by the index of `hint`, or by the text index. Raises IndexMissing."""
    index = hint.get("hint", TEXT_INDEX)
    try:
        found = await database.aggregate(database.messages, pipeline, seconds=seconds, **hint)
    except OperationFailure as error:
        if error.code not in (_BAD_HINT, _INDEX_NOT_FOUND, _QUERY_PLAN_KILLED):
            raise
        process_wide.notify_all(Observer.search_index_missing, index)
        # Logged once per process, not for every search.
        if index not in database.missing_search_indexes:
            database.missing_search_indexes.add(index)
            log.error(
                "the index %s of messages is missing: searches get 503 until `chat-aio indexes "
                "apply` has created it",
                index,
                extra={"index": index},
            )
        raise IndexMissing from error
    if index in database.missing_search_indexes:
        database.missing_search_indexes.discard(index)
        log.warning("the index %s of messages exists again", index, extra={"index": index})
    return found


def _candidates(
    conversation_ids: Sequence[str], wanted: SearchTerms
) -> tuple[dict[str, Any], dict[str, str]]:
    """The index that finds candidates: a condition, or a hint."""
    # `$text` joins its words by OR, so the index is queried only for the probably rarest entry, as
    # one token per conversation; the rest is matched on the results (decision 0004).
    rarest = most_telling(wanted.terms) if wanted.terms else ""
    if wanted.beginning and len(wanted.beginning) > len(rarest):
        return {}, {"hint": INDEX}
    tokens = [tokens_of(conversation_id, [rarest])[0] for conversation_id in conversation_ids]
    return {"$text": {"$search": " ".join(tokens)}}, {}


def _matching(conversation_ids: Sequence[str], wanted: SearchTerms) -> dict[str, Any]:
    """The condition for the messages that match."""
    words = [term for term in wanted.terms if not is_run(term)]
    parts: list[dict[str, Any]] = [
        {"terms": {"$regex": term}} for term in wanted.terms if is_run(term)
    ]
    if wanted.beginning:
        among = {"$gte": wanted.beginning, "$lt": wanted.beginning + BEHIND_ALL}
        parts.append({"terms": {"$elemMatch": among}})
    return {
        # Tokens are short hashes that may collide, so conversation and terms are compared as well.
        "conversationId": {"$in": list(conversation_ids)},
        "terms": {"$type": "array", **({"$all": words} if words else {})},
        "createdAt": {"$type": "date"},
        **({"$and": parts} if parts else {}),
    }


def _score(wanted: SearchTerms) -> dict[str, Any]:
    """The number of occurrences of all terms: words as whole terms, runs within runs. Messages that
    have the beginning as a whole term come before all others."""
    words = [term for term in wanted.terms if not is_run(term)]
    # The parts between the occurrences are one more than these.
    texts = {"$filter": {"input": "$terms", "cond": {"$eq": [{"$type": "$$this"}, "string"]}}}
    splits = [{"$split": ["$$this", {"$literal": run}]} for run in wanted.terms if is_run(run)]
    within = [{"$subtract": [{"$size": split}, 1]} for split in splits]
    counts: list[dict[str, Any]] = [{"$sum": {"$map": {"input": texts, "in": n}}} for n in within]
    counted: list[dict[str, Any]] = [{"$in": ["$$this", {"$literal": words}]}] if words else []
    if wanted.beginning:
        whole = {"$literal": wanted.beginning}
        above = {"$literal": wanted.beginning + BEHIND_ALL}
        counted.append({"$and": [{"$gte": ["$$this", whole]}, {"$lt": ["$$this", above]}]})
        counts.append({"$cond": [{"$in": [whole, "$terms"]}, WHOLE, 0]})
    if counted:
        counts.append({"$size": {"$filter": {"input": "$terms", "cond": {"$or": counted}}}})
    return {"$sum": counts}
