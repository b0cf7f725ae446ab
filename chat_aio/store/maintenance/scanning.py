"""Going through a whole collection where no index helps: a stretch at a time, along its ids."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from chat_aio.store.database import Database

STRETCH = 2_000
AT_ONCE = 100
SECONDS = 60.0
"""For one stretch: a server that is busy may take its time."""

_BY_ID = [("_id", 1)]


async def scan(
    database: Database,
    collection: Any,
    chosen: Mapping[str, Any],
    shown: Mapping[str, int] | None = None,
) -> AsyncIterator[tuple[int, list[Any]]]:
    """What is chosen in a collection, a few documents at a time, each time with how many documents
    were gone past. Ids may be of any type. What is inserted meanwhile may be missed.
    """
    start: Any = None
    while True:
        end = await _end(database, collection, start)
        rows = collection.find(chosen, shown).sort(_BY_ID).hint(_BY_ID)
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
    rows = [database.collection(each) for each in collections]
    return sum([await database.read(each.estimated_document_count) for each in rows])


async def listed(
    database: Database, collection: Any, chosen: Mapping[str, Any]
) -> AsyncIterator[list[Any]]:
    """What is chosen along an index, a few documents at a time."""
    async for found in _pages(database, collection.find(chosen)):
        yield found


async def _pages(database: Database, rows: Any) -> AsyncIterator[list[Any]]:
    while True:
        found = await database.read(lambda: rows.to_list(AT_ONCE), seconds=SECONDS)
        if not found:
            return
        yield found


async def _end(database: Database, collection: Any, start: Any) -> Any:
    """Where the stretch from `start` ends: the id that is no more in it, None at the last one."""
    rows = collection.find({}, {"_id": 1}).sort(_BY_ID).hint(_BY_ID).skip(STRETCH).limit(1)
    rows = rows if start is None else rows.min(_place(start))
    found = await database.read(lambda: rows.to_list(1), seconds=SECONDS)
    return found[0]["_id"] if found else None


def _place(document_id: Any) -> list[tuple[str, Any]]:
    return [("_id", document_id)]
