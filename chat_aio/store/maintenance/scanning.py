"""Scans a whole collection if no index helps, one range of ids at a time."""

from collections.abc import AsyncIterator, Iterable, Mapping
from functools import partial
from typing import Any

from chat_aio.store.database import Database

STRETCH = 2_000
AT_ONCE = 100
SECONDS = 60.0
"""The timeout of one range, long enough for a busy server."""

_BY_ID = [("_id", 1)]


async def scan(
    database: Database,
    collection: Any,
    chosen: Mapping[str, Any],
    shown: Mapping[str, int] | None = None,
) -> AsyncIterator[tuple[int, list[Any]]]:
    """The documents that are `chosen`, a few at a time, and the number of documents passed since
    the last time. Ids may be of any type. Documents inserted during the scan may be missed.
    """
    start: Any = None
    while True:
        # The range ends at the first id behind it; the last range has no end.
        next_ids = collection.find({}, {"_id": 1}).sort(_BY_ID).hint(_BY_ID).skip(STRETCH).limit(1)
        rows = collection.find(chosen, shown).sort(_BY_ID).hint(_BY_ID)
        # `min` and `max` are bounds in the index. `$gt` would compare ids of one type only.
        if start is not None:
            next_ids, rows = next_ids.min([("_id", start)]), rows.min([("_id", start)])
        found_next = await database.read(partial(next_ids.to_list, 1), seconds=SECONDS)
        end = found_next[0]["_id"] if found_next else None
        rows = rows if end is None else rows.max([("_id", end)])
        async for found in _pages(database, rows):
            yield 0, found
        yield STRETCH, []
        if end is None:
            return
        start = end


async def size_of(database: Database, collections: Iterable[str]) -> int:
    """The approximate number of documents in some collections."""
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
