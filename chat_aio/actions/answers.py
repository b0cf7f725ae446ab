"""Answers that hold many rows: made in slices, and ended where they would be too large."""

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
    """What is shown of some rows, None for nothing, and of how many: of as many as there is room
    for in 4 MiB of JSON, but one (docs/behaviour.md 1.5).

    Where rows are small as they are stored their JSON is not measured: it cannot be so large.
    """
    made: list[Shape] = []
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
