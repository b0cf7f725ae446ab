"""Reads the rows of a list: no more than an answer may have, and decoded in time slices.

The driver would decode a whole batch, up to 16 MB, in one step that blocks the event loop.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import bson

from chat_aio.store.database import Database
from chat_aio.store.drivers import maybe_await

MOST_BYTES = 4 * 1024 * 1024
"""Maximum BSON that is read for one answer."""

LIGHT_BYTES = 128 * 1024
"""Maximum BSON that is decoded in one step."""

D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Rows(Generic[D]):
    """Documents in order, their size as BSON, and whether they are complete."""

    documents: list[D]
    stored_bytes: int
    complete: bool = True


async def read_rows(
    database: Database, collection: Any, opened: Callable[[], Any], *, most: int | None = None
) -> Rows[Any]:
    """Read the raw-batch cursor that `opened` opens: up to `most` bytes, and at least one row."""

    batches = await read_batches(database, opened, most=most)
    size, codec = sum(map(len, batches)), collection.codec_options
    if size <= LIGHT_BYTES:
        return Rows(
            [document for batch in batches for document in bson.decode_all(batch, codec)], size
        )
    documents: list[Any] = []
    size = 0
    async with database.turns.sliced(heavy=True) as slices:
        for raw in documents_in(batches):
            # The last batch may have gone beyond `most`.
            if most is not None and documents and size + len(raw) > most:
                return Rows(documents, size, complete=False)
            documents.append(bson.decode(raw, codec))
            size += len(raw)
            await slices.give_way()
    return Rows(documents, size)


async def read_batches(
    database: Database, opened: Callable[[], Any], *, most: int | None = None
) -> list[bytes]:
    """Read the raw-batch cursor that `opened` opens, until there are more than `most` bytes."""

    async def gather() -> list[bytes]:
        batches: list[bytes] = []
        cursor = await maybe_await(opened())
        async for batch in cursor:
            batches.append(batch)
            if most is not None and sum(map(len, batches)) > most:
                break
        await maybe_await(cursor.close())
        return batches

    return await database.read(gather)


def documents_in(batches: list[bytes]) -> Iterator[memoryview]:
    """Split batches into documents: each one starts with its length."""
    for batch in batches:
        view, start = memoryview(batch), 0
        while start < len(view):
            end = start + int.from_bytes(view[start : start + 4], "little")
            yield view[start:end]
            start = end
