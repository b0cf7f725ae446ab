"""The breakages: their declaration, their outcomes, and the printed table."""

import textwrap
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

from gamedays.stage import Plan, Stage

WIDTHS = {"breakage": 20, "alert": 30, "cure": 52, "well again": 12}

Play = Callable[[Stage], AsyncIterator[None]]


@dataclass(frozen=True, slots=True)
class Breakage:
    """One way to break a deployment. `play` breaks it, yields once the alert is awaited, and cures
    it by the runbook's entry for `alert`; `cure` describes the cure."""

    name: str
    what: str
    alert: str
    cure: str
    plan: Plan
    play: Callable[[Stage], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a breakage: the seconds until the alert fired, and the seconds from the cure
    until the deployment was healthy again. `failed` describes what did not happen, `missing` what
    is needed."""

    fired_after: float | None = None
    well_after: float | None = None
    failed: str | None = None
    missing: str | None = None


BREAKAGES: dict[str, Breakage] = {}


def breakage(
    name: str, *, what: str, alert: str, cure: str, plan: Plan | None = None
) -> Callable[[Play], Play]:
    """Declare a breakage: the function breaks, yields, and cures."""

    def declared(play: Play) -> Play:
        made = asynccontextmanager(play)
        BREAKAGES[name] = Breakage(name, what, alert, cure, plan or Plan(), made)
        return play

    return declared


def as_json(played: Sequence[tuple[Breakage, Outcome]]) -> list[dict[str, Any]]:
    return [
        {"breakage": play.name, "alert": play.alert, "cure": play.cure, **asdict(outcome)}
        for play, outcome in played
    ]


def table_of(played: Sequence[tuple[Breakage, Outcome]]) -> str:
    """All breakages as text; a breakage takes as many lines as its longest cell needs."""
    rule = "-+-".join("-" * width for width in WIDTHS.values())
    lines = [_printed([[name] for name in WIDTHS]), rule]
    for play, outcome in played:
        lines += [_printed(_cells(play, outcome)), rule]
    return "\n".join(lines)


def _cells(played: Breakage, outcome: Outcome) -> list[list[str]]:
    fired = f"{played.alert}, {_seconds(outcome.fired_after)}"
    said = outcome.failed or outcome.missing
    cure = f"{'FAILED' if outcome.failed else 'not played'}: {said}" if said else played.cure
    cells = (played.name, fired, cure, _seconds(outcome.well_after))
    return [textwrap.wrap(cell, at) for cell, at in zip(cells, WIDTHS.values(), strict=True)]


def _seconds(taken: float | None) -> str:
    return "-" if taken is None else f"{taken:.0f} s"


def _printed(cells: Sequence[Sequence[str]]) -> str:
    height = max(map(len, cells))
    return "\n".join(
        " | ".join(
            (cell[line] if line < len(cell) else "").ljust(width)
            for cell, width in zip(cells, WIDTHS.values(), strict=True)
        ).rstrip()
        for line in range(height)
    )
