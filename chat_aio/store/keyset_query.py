"""Keyset queries: the rows of a list behind a (time, id), both descending."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

After = tuple[datetime, str]
"""The (time, id) of the last row of the previous page."""


def behind(position: After | None, *, at: str = "createdAt", key: str = "_id") -> dict[str, Any]:
    """The condition for rows behind a position; empty without one."""
    if position is None:
        return {}
    moment, last = position
    return {"$or": [{at: {"$lt": moment}}, {at: moment, key: {"$lt": last}}]}


def newest(*, at: str = "createdAt", key: str = "_id") -> list[tuple[str, int]]:
    """The sort order of such a list."""
    return [(at, -1), (key, -1)]


async def page(
    collection: Any,
    chosen: Mapping[str, Any],
    position: After | None,
    *,
    limit: int,
    at: str = "createdAt",
    key: str = "_id",
    shown: Mapping[str, int] | None = None,
) -> list[Any]:
    """The rows behind a position, newest first. Rows whose keys are not a date and a string, which
    other programs may write, are left out: a cursor could not contain them."""
    placed = {"$and": [{at: {"$type": "date"}}, {key: {"$type": "string"}}]}
    # `$and`, because `chosen` may have conditions on the same fields.
    query = {"$and": [chosen, placed, behind(position, at=at, key=key)]}
    found: list[Any] = (
        await collection.find(query, shown).sort(newest(at=at, key=key)).limit(limit).to_list(None)
    )
    return found
