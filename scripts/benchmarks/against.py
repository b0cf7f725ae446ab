"""Two revisions side by side: each measures itself, in alternating rounds, and ratios are paired.

A machine drifts by more than most changes cost, so a figure of one revision is compared only with
the figure that the other one had in the same round.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks.table import Figure

ROOT = Path(__file__).resolve().parents[2]
ROWS = ("P1", "P2", "P6", "P7", "P9", "P10")
"""The rows to compare if none is named: a creeping cost shows in these first."""

Label = tuple[str, str]
"""(row, figure)."""

Round = Mapping[Label, Figure]


@dataclass(frozen=True, slots=True)
class Ratio:
    """How a figure has changed: the median over all rounds, and the lowest and highest of them."""

    label: Label
    before: Figure
    after: Figure
    middle: float
    low: float
    high: float

    def __str__(self) -> str:
        row, figure = self.label
        spread = f"{self.middle:.2f} x ({self.low:.2f} to {self.high:.2f})"
        return f"{row:4} | {figure:46} | {self.before!s:>12} | {self.after!s:>12} | {spread}"


def compare(
    revision: str,
    names: Sequence[str],
    *,
    rounds: int,
    quick: bool,
    tell: Callable[[str], None],
) -> list[Ratio]:
    """Measure `revision` and this checkout in turn; returns the figures that both have.

    Raises ClickException for a revision that does not exist, and if one of the two cannot measure.
    """
    pairs = []
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as folder:
        _unpack(revision, Path(folder))
        for number in range(rounds):
            tell(f"round {number + 1} of {rounds}")
            # The first of a round may find the machine in another state: they take turns.
            sides = (Path(folder), ROOT) if number % 2 == 0 else (ROOT, Path(folder))
            measured = {side: _measure(side, names, quick=quick) for side in sides}
            pairs.append((measured[Path(folder)], measured[ROOT]))
    return ratios(pairs)


def ratios(pairs: Sequence[tuple[Round, Round]]) -> list[Ratio]:
    """The ratios after ÷ before of the figures that every round has, in the order of the rows."""
    found = []
    for label in pairs[0][0]:
        values = [(before.get(label), after.get(label)) for before, after in pairs]
        both = [(one, other) for one, other in values if one and other and one.value]
        if len(both) < len(pairs):
            continue  # A figure with another name, or one that failed in a round.
        changes = [other.value / one.value for one, other in both]
        found.append(
            Ratio(
                label,
                _middle(one for one, _ in both),
                _middle(other for _, other in both),
                median(changes),
                min(changes),
                max(changes),
            )
        )
    return found


def _middle(figures: Iterable[Figure]) -> Figure:
    given = list(figures)
    return Figure(median(figure.value for figure in given), given[0].unit)


def _unpack(revision: str, folder: Path) -> None:
    archive = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True)
    if archive.returncode:
        raise click.ClickException(archive.stderr.decode().strip() or f"no revision {revision}")
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)


def _measure(side: Path, names: Sequence[str], *, quick: bool) -> Round:
    """One round of a side, by its own benchmark over its own package."""
    # First on the path: the environment has this checkout's package installed.
    environment = {**os.environ, "PYTHONPATH": str(side)}
    ask = [sys.executable, "-c", "import chat_aio; print(chat_aio.__file__)"]
    imported = subprocess.check_output(ask, cwd=side, env=environment, text=True).strip()
    if not Path(imported).is_relative_to(side):
        raise click.ClickException(f"{imported} is not the package of {side}")
    command = [sys.executable, "scripts/bench", "--json", *(["--quick"] if quick else [])]
    command += [word for name in names for word in ("--only", name)]
    got = subprocess.run(command, cwd=side, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        lines: list[dict[str, Any]] = json.loads(got.stdout)
    except ValueError:
        raise click.ClickException(f"the benchmark of {side} has printed no figures") from None
    return {
        (line["name"], label): Figure(figure["value"], figure["unit"])
        for line in lines
        for label, figure in line["figures"].items()
    }
