"""Answers with many rows: built in time slices, and cut where they would become too large."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from chat_aio.actions.context import Context
from chat_aio.schema.models import Wire, json_from
from chat_aio.store.rows import LIGHT_BYTES, MOST_BYTES

Row = TypeVar("Row")
Shape = TypeVar("Shape", bound=Wire)


async def shapes_of(
    context: Context,
    rows: Sequence[Row],
    shown: Callable[[Row], Shape | None],
    *,
    stored_bytes: int,
) -> tuple[tuple[Shape, ...], int]:
    """Build the shapes of `rows` up to 4 MiB of JSON, at least one (docs/behaviour.md 1.5).

    `shown` returns None for a row to leave out. Returns the shapes, and how many rows they cover.
    """
    made: list[Shape] = []
    # Measuring means serialising twice. The JSON of up to 128 KiB of BSON cannot reach 4 MiB.
    heavy = stored_bytes > LIGHT_BYTES
    room = MOST_BYTES if heavy else None
    async with context.database.turns.sliced(heavy=heavy) as slices:
        for count, row in enumerate(rows):
            shape = shown(row)
            if shape is None:
                continue
            if room is not None:
                room -= len(json_from(shape))
                if room < 0 and made:
                    return tuple(made), count
            made.append(shape)
            await slices.give_way()
    return tuple(made), len(rows)
