"""Scans a whole collection where no index helps, one stretch of ids at a time."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from chat_aio.store.database import Database

STRETCH = 2_000
AT_ONCE = 100
SECONDS = 60.0
"""The timeout of one stretch, long enough for a busy server."""

_BY_ID = [("_id", 1)]


async def scan(
    database: Database,
    collection: Any,
    chosen: Mapping[str, Any],
    shown: Mapping[str, int] | None = None,
) -> AsyncIterator[tuple[int, list[Any]]]:
    """The documents that are `chosen`, a few at a time, and how many documents were passed since
    the last time. Ids may be of any type. What is inserted meanwhile may be missed.
    """
    start: Any = None
    while True:
        end = await _end(database, collection, start)
        rows = collection.find(chosen, shown).sort(_BY_ID).hint(_BY_ID)
        # `min` and `max` are bounds in the index. `$gt` would compare ids of one type only.
        rows = rows if start is None else rows.min(_place(start))
        rows = rows if end is None else rows.max(_place(end))
        async for found in _pages(database, rows):
            yield 0, found
        yield STRETCH, []
        if end is None:
            return
        start = end


async def size_of(database: Database, collections: Iterable[str]) -> int:
    """About how many documents some collections have."""
    rows = [database.collection(name) for name in collections]
    return sum([await database.read(row.estimated_document_count) for row in rows])


async def listed(
    database: Database, collection: Any, chosen: Mapping[str, Any]
) -> AsyncIterator[list[Any]]:
    """The documents that are `chosen`, which an index finds, a few at a time."""
    async for found in _pages(database, collection.find(chosen)):
        yield found


async def _pages(database: Database, rows: Any) -> AsyncIterator[list[Any]]:
    while True:
        found = await database.read(lambda: rows.to_list(AT_ONCE), seconds=SECONDS)
        if not found:
            return
        yield found


async def _end(database: Database, collection: Any, start: Any) -> Any:
    """The end of the stretch from `start`: the first id behind it, None for the last stretch."""
    rows = collection.find({}, {"_id": 1}).sort(_BY_ID).hint(_BY_ID).skip(STRETCH).limit(1)
    rows = rows if start is None else rows.min(_place(start))
    found = await database.read(lambda: rows.to_list(1), seconds=SECONDS)
    return found[0]["_id"] if found else None


def _place(document_id: Any) -> list[tuple[str, Any]]:
    return [("_id", document_id)]
