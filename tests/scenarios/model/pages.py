"""Pages of the model: what follows a position in a sorted list."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.scenarios.model.world import Json, World, require

Key = Callable[[Json], Any]


@dataclass(frozen=True)
class Page:
    """A place in lists of one kind: how many rows from where on."""

    world: World
    kind: str
    size: int
    position: Any

    @classmethod
    def of(cls, world: World, kind: str, limit: int | None, cursor: str | None) -> "Page":
        """Refused for a limit below 1, and for a cursor of another list or of none."""
        require(limit is None or limit > 0)
        require(cursor is None or world.cursors.get(cursor, ("", None))[0] == kind)
        position = world.cursors[cursor][1] if cursor is not None else None
        return cls(world, kind, min(limit or 50, 200), position)

    def cut(
        self, rows: Iterable[Json], key: Key, show: Callable[[Json], Json] | None = None
    ) -> Json:
        """The page of `rows`, which fall by `key`."""
        falling = sorted(rows, key=key, reverse=True)
        rest = [row for row in falling if self.position is None or key(row) < self.position]
        page = rest[: self.size]
        more = len(rest) > self.size
        return {
            _plural(self.kind): [show(row) if show else row for row in page],
            "nextCursor": self._learned_cursor(key(page[-1])) if more else None,
        }

    def _learned_cursor(self, key: Any) -> str:
        cursor = self.world.answer.get("nextCursor")
        if not isinstance(cursor, str):
            return "(a cursor)"
        self.world.cursors[cursor] = self.kind, key
        return cursor


def _plural(kind: str) -> str:
    return {"thread": "messages", "search": "messages"}.get(kind, kind)
