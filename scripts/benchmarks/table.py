"""The rows of the table: their declaration, their results, and the printed table."""

import math
import textwrap
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.stage import Stage

WIDTHS = {"name": 4, "what": 40, "figures": 62, "goal": 33, "met": 3}


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number and its unit."""

    value: float
    unit: str = ""

    def __str__(self) -> str:
        if not math.isfinite(self.value):
            return "-"
        size = abs(self.value)
        digits = 0 if size >= 100 else 1 if size >= 10 else 2
        return f"{self.value:,.{digits}f} {self.unit}".rstrip()


def times(value: float) -> Figure:
    return Figure(value, "x")


def ms(seconds: float) -> Figure:
    return Figure(seconds * 1e3, "ms")


def micros(seconds: float) -> Figure:
    return Figure(seconds * 1e6, "µs")


def rate(per_second: float) -> Figure:
    return Figure(per_second, "/s")


Figures = Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Goal:
    """The bound of the figure called `label`."""

    label: str
    sign: str
    bound: float

    def is_met_by(self, figure: Figure) -> bool:
        return figure.value <= self.bound if self.sign == "≤" else figure.value >= self.bound


def at_most(label: str, bound: float) -> Goal:
    return Goal(label, "≤", bound)


def at_least(label: str, bound: float) -> Goal:
    return Goal(label, "≥", bound)


Measure = Callable[[Stage], Awaitable[Figures]]


class MissingPeer(Exception):
    """A peer that is not installed; the text explains how to install it."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Another server to compare with; `prepare` returns its version, or raises MissingPeer."""

    name: str
    prepare: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table; a row with a `peer` is measured only on request (--peers)."""

    name: str
    what: str
    goals: tuple[Goal, ...]
    measure: Measure
    peer: Peer | None = None

    @property
    def place(self) -> tuple[str, int, str]:
        """Its place in the table: F3 before P3, P3b behind it, P14 behind P9."""
        digits = "".join(filter(str.isdigit, self.name))
        return self.name[0], int(digits), self.name


ROWS: dict[str, Row] = {}


def row(
    name: str, what: str, *goals: Goal, peer: Peer | None = None
) -> Callable[[Measure], Measure]:
    """Declare a row: the function returns figures by label, those of `goals` among them."""

    def declared(measure: Measure) -> Measure:
        ROWS[name] = Row(name, what, goals, measure, peer)
        return measure

    return declared


@dataclass(frozen=True, slots=True)
class Line:
    """A row with its result; `failed` is the reason if there is none."""

    row: Row
    figures: Figures
    seconds: float = 0.0
    failed: str | None = None

    @property
    def met(self) -> bool | None:
        """Whether every goal is met; None if there is no goal, or nothing was measured."""
        if self.failed or not self.row.goals:
            return None
        return all(goal.is_met_by(self.figures[goal.label]) for goal in self.row.goals)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.row.name,
            "what": self.row.what,
            "figures": {
                label: {"value": figure.value, "unit": figure.unit}
                for label, figure in self.figures.items()
            },
            "goals": [
                {"figure": goal.label, "sign": goal.sign, "bound": goal.bound}
                for goal in self.row.goals
            ],
            "met": self.met,
            "failed": self.failed,
            "seconds": round(self.seconds, 1),
        }


def table_of(lines: Sequence[Line]) -> str:
    """All lines as text; a line takes as many printed lines as its longest cell needs."""
    head = dict(zip(WIDTHS, ("", "what", "figures", "goal", "met"), strict=True))
    rule = "-+-".join("-" * width for width in WIDTHS.values())
    printed = [_printed({name: [text] for name, text in head.items()}), rule]
    for line in lines:
        printed += [_printed(_cells(line)), rule]
    return "\n".join(printed)


def _cells(line: Line) -> dict[str, list[str]]:
    goals = line.row.goals if not line.failed else ()
    named = {goal.label for goal in goals}
    beside = [f"{label} {figure}" for label, figure in line.figures.items() if label not in named]
    said = f"FAILED: {line.failed}" if line.failed else "; ".join(beside)
    against = [f"{_said(goal, line.figures[goal.label])}" for goal in goals]
    met = ["yes" if goal.is_met_by(line.figures[goal.label]) else "NO" for goal in goals]
    return {
        "name": [line.row.name],
        "what": textwrap.wrap(line.row.what, WIDTHS["what"]),
        "figures": textwrap.wrap(said, WIDTHS["figures"]),
        "goal": against or ["-"],
        "met": met or ["-"],
    }


def _said(goal: Goal, figure: Figure) -> str:
    bound = f"{goal.bound:g}"
    return f"{goal.label} {figure} ({goal.sign} {bound})"


def _printed(cells: Mapping[str, Sequence[str]]) -> str:
    height = max(map(len, cells.values()))
    return "\n".join(
        " | ".join(
            (cells[name][number] if number < len(cells[name]) else "").ljust(width)
            for name, width in WIDTHS.items()
        ).rstrip()
        for number in range(height)
    )
