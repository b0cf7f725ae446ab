"""Many writes of one collection at once."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pymongo import UpdateOne

from chat_aio.store.database import Database

WRITTEN_AT_ONCE = 1_000

Write = tuple[Mapping[str, Any], Mapping[str, Any]]
"""(query, update) of one document, which is made where there is none."""


async def write_many(database: Database, collection: Any, writes: Sequence[Write]) -> None:
    """Run writes, which may be repeated and be done in any order. Raises StorageUnavailable."""
    for start in range(0, len(writes), WRITTEN_AT_ONCE):
        some = writes[start : start + WRITTEN_AT_ONCE]
        updates = [UpdateOne(query, update, upsert=True) for query, update in some]
        await database.write(partial(collection.bulk_write, updates, ordered=False))
