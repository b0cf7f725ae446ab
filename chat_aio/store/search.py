"""Search: exact matches on stored terms, found through a text index (docs/behaviour.md 6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pymongo.errors import OperationFailure

from chat_aio.errors import StorageUnavailable
from chat_aio.schema.normal_text import is_run
from chat_aio.store.database import Database
from chat_aio.store.hidden import Hidden, unless_hidden
from chat_aio.store.tokenizer import most_telling, older_tokens_of, tokens_of

_INDEX_NOT_FOUND, _QUERY_PLAN_KILLED = 27, 175

Rank = tuple[int, datetime, str]
"""The rank of a match: score, creation time, id; each descending."""


@dataclass(frozen=True, slots=True)
class Match:
    message_id: str
    rank: Rank


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a user searches: in conversations, beside what is hidden from the user there."""

    conversation_ids: Sequence[str]
    hidden: Hidden


async def list_matches(
    database: Database,
    scope: Scope,
    terms: Sequence[str],
    *,
    before: Rank | None,
    limit: int,
    seconds: float,
) -> list[Match]:
    """The messages in a scope that have all `terms`, ranked behind `before`.

    Raises StorageUnavailable if it takes longer than `seconds`, or while the text index is being
    made anew (docs/database.md).
    """
    distinct = list(dict.fromkeys(terms))
    conversation_ids = scope.conversation_ids
    if not distinct or not conversation_ids:
        return []
    pipeline: list[dict[str, Any]] = [
        {"$match": _candidates(conversation_ids, distinct, older=database.older_tokens)},
        *({"$match": each} for each in unless_hidden(scope.hidden)),
        {"$project": {"createdAt": 1, "score": _score(distinct)}},
        *([{"$match": _behind(before)}] if before else []),
        {"$sort": {"score": -1, "createdAt": -1, "_id": -1}},
        {"$limit": limit},
    ]
    try:
        found = await database.aggregate(database.messages, pipeline, seconds=seconds)
    except OperationFailure as error:
        if error.code in (_INDEX_NOT_FOUND, _QUERY_PLAN_KILLED):
            raise StorageUnavailable from error
        raise
    return [Match(each["_id"], (each["score"], each["createdAt"], each["_id"])) for each in found]


def _candidates(
    conversation_ids: Sequence[str], terms: list[str], *, older: bool
) -> dict[str, Any]:
    """The query for messages that have all terms; `older` as in `search_of`."""
    # `$text` joins its words by OR, so the index is asked for the rarest term only, as one token
    # for each conversation; the other terms are matched on what that finds (docs/decisions/0004).
    entry = most_telling(terms)
    kinds = (tokens_of, older_tokens_of) if older else (tokens_of,)
    tokens = [kind(each, [entry])[0] for each in conversation_ids for kind in kinds]
    words = [each for each in terms if not is_run(each)]
    runs = [{"terms": {"$regex": each}} for each in terms if is_run(each)]
    return {
        "$text": {"$search": " ".join(tokens)},
        # Tokens are short hashes that may collide, so conversation and terms are compared as well.
        "conversationId": {"$in": list(conversation_ids)},
        "terms": {"$type": "array", **({"$all": words} if words else {})},
        "createdAt": {"$type": "date"},
        **({"$and": runs} if runs else {}),
    }


def _score(terms: list[str]) -> dict[str, Any]:
    """How often the terms occur in all: words as whole terms, runs within runs."""
    words = [each for each in terms if not is_run(each)]
    counts: list[dict[str, Any]] = [_count_within_runs(each) for each in terms if is_run(each)]
    if words:
        among = {"$in": ["$$this", {"$literal": words}]}
        counts.append({"$size": {"$filter": {"input": "$terms", "cond": among}}})
    return {"$sum": counts}


def _count_within_runs(run: str) -> dict[str, Any]:
    parts = {"$size": {"$split": ["$$this", {"$literal": run}]}}
    texts = {"$filter": {"input": "$terms", "cond": {"$eq": [{"$type": "$$this"}, "string"]}}}
    return {"$sum": {"$map": {"input": texts, "in": {"$subtract": [parts, 1]}}}}


def _behind(rank: Rank) -> dict[str, Any]:
    score, created_at, message_id = rank
    return {
        "$or": [
            {"score": {"$lt": score}},
            {"score": score, "createdAt": {"$lt": created_at}},
            {"score": score, "createdAt": created_at, "_id": {"$lt": message_id}},
        ]
    }
