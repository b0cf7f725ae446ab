"""The output of commands: aligned text for people, one JSON document for programs."""

import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import click

from chat_aio.schema.wire import json_from, timestamp
from chat_aio.store.maintenance.progress import Advance, Counts

EXCERPT = 60

FOUND = 3
"""The exit code of a check that has found something."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a command as JSON and as text, and a remark for stderr."""

    document: Mapping[str, object]
    text: str
    remark: str | None = None


def dry_run_outcome(what: str, **found: object) -> Outcome:
    """The outcome of a dry run: the planned action, and the present state of its object."""
    document = {"dryRun": True, "would": what, **found}
    return Outcome(document, f"Would {what}. Dry run: nothing was written.")


def listed(name: str, rows: Sequence[object], text: str, *, limit: int) -> Outcome:
    """The outcome of a list. `rows` has one row more than `limit` if there are more rows; `text`
    shows at most `limit`."""
    more = len(rows) > limit
    remark = f"There are more than {limit}: raise --limit to see them." if more else None
    return Outcome({name: rows[:limit], "more": more}, text, remark)


def show(outcome: Outcome, *, as_json: bool, as_lines: bool = False, err: bool = False) -> None:
    """Print an outcome. With `as_lines`, only the rows of a list."""
    # Rows alone: a program reads them line by line, without the frame of a document.
    if as_lines:
        (rows,) = (value for value in outcome.document.values() if isinstance(value, list | tuple))
        for row in rows:
            click.echo(json_from(row), err=err)
        if outcome.remark:
            # On stderr in both formats: it is for people.
            click.echo(outcome.remark, err=True)
        return
    if as_json:
        click.echo(json_from(outcome.document), err=err)
        return
    click.echo(outcome.text, err=err)
    if outcome.remark:
        click.echo(outcome.remark, err=True)


def counted(counts: Counts) -> str:
    """Counts as text, such as `1 message in 1 conversation`."""
    numbers = (counts.messages, "message"), (counts.conversations, "conversation")
    return " in ".join(f"{count:,} {what}{'' if count == 1 else 's'}" for count, what in numbers)


@contextmanager
def progress_bar(stage: str, length: int) -> Iterator[Advance]:
    """The progress of a stage, on stderr: stdout is for the result."""
    with click.progressbar(length=length, label=stage, file=sys.stderr) as bar:
        yield bar.update


def json_value(value: Any) -> Any:
    """A stored value as JSON; a type that JSON does not have becomes text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, dict):
        return {str(name): json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [*map(json_value, value)]
    return str(value)


def table_of(
    head: Sequence[str], rows: Iterable[Sequence[object]], *, shortened: bool = True
) -> str:
    """Rows below their head, in aligned columns. The last column is free text and is shortened."""
    # Free text is last, so that a long one does not push other columns aside.
    last = excerpt if shortened else str
    cells = [[*map(plain, row[:-1]), last(plain(row[-1]))] for row in rows]
    if not cells:
        return "(none)"
    lines = [list(head), *cells]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def card_of(fields: Mapping[str, object]) -> str:
    """All fields of one object, one per line, not shortened."""
    width = max(map(len, fields))
    return "\n".join(f"{name:<{width}}  {plain(value)}" for name, value in fields.items())


def plain(value: object) -> str:
    """A value on one line, without control characters: text of users must not move the cursor or
    reverse the line."""
    if value is None:
        return "-"
    text = timestamp(value) if isinstance(value, datetime) else str(value)
    return "".join(character if character.isprintable() else " " for character in text)


def excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT else text[:EXCERPT] + "…"


def table_of_counts(counts: Mapping[str, int]) -> str:
    return table_of(("COUNT", "KIND"), [(count, kind) for kind, count in counts.items()])


def _width(text: str) -> int:
    """The number of terminal columns that a text takes."""
    # By characters alone, the columns behind Chinese text or combined accents would not line up.
    return sum(
        0
        if unicodedata.combining(character)
        else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )
