"""The command line of `scripts/export-user`: all that concerns a user, as JSON lines."""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

from chat_aio.schema.models import json_from
from chat_aio.store.database import Database
from chat_aio.store.maintenance.personal_data import PLACES, naming
from chat_aio.store.maintenance.scanning import listed, scan, size_of
from tools.desk import Desk, at_desk
from tools.export_lines import KEPT_APART, LINES
from tools.options import an_id, reading
from tools.printing import Outcome, say, table_of

INDEXED = {"conversations": "participants.userId", "mutes": "userId", "presence": "_id"}
"""What is found by an index; all else is gone through."""

DECIDED = ("reports", "bans")
"""What moderators decide on, and the trail tells of."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("user_id", metavar="USER", type=an_id)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write to this file, which must not be there, instead of stdout.",
)
@reading
def main(user_id: str, output: Path | None, as_json: bool, **place: Any) -> None:
    """Write all that concerns a user, one JSON object a line, each with its `kind`.

    At the end it says how many there are of each kind: on stderr, or on stdout with --output. All
    messages are gone through, which takes its time where there are many.
    """

    async def work(desk: Desk) -> Outcome:
        with _opened(output) as file:
            counts = await _export(desk.database, user_id, file.write)
        rows = [(count, kind) for kind, count in sorted(counts.items())]
        document = {"userId": user_id, "output": output and str(output), "counts": counts}
        return Outcome(document, table_of(("LINES", "KIND"), rows))

    try:
        outcome = at_desk(work, **place)
    except OSError as error:
        if output is None:
            raise
        raise click.ClickException(f"--output: {error}") from error
    say(outcome, as_json=as_json, err=output is None)


async def _export(database: Database, user_id: str, write: Callable[[bytes], Any]) -> Counter[str]:
    """Write every line; how many there are of each kind."""
    counts: Counter[str] = Counter()
    decided: list[str] = []
    length = await size_of(database, PLACES.keys() - INDEXED.keys())
    with click.progressbar(length=length, label="Exporting", file=sys.stderr) as bar:
        for collection in PLACES:
            async for passed, found in _concerning(database, collection, user_id, decided):
                for document in found:
                    if collection in DECIDED:
                        decided.append(document["_id"])
                    for line in LINES[collection](user_id, document):
                        write(json_from(line) + b"\n")
                        counts[str(line["kind"])] += 1
                bar.update(passed)
    return counts


async def _concerning(
    database: Database, collection: str, user_id: str, decided: list[str]
) -> AsyncIterator[tuple[int, list[Any]]]:
    """The documents of a collection that concern a user, and how many were gone past. Of the trail
    these are also the rows on what was `decided` that does."""
    rows = database.collection(collection)
    if place := INDEXED.get(collection):
        async for found in listed(database, rows, {place: user_id}):
            yield 0, found
        return
    chosen = naming(collection, user_id)
    if collection == "audit":
        chosen["$or"].append({"targetId": {"$in": decided}})
    shown = KEPT_APART if collection == "messages" else None
    async for passed, found in scan(database, rows, chosen, shown):
        yield passed, found


@contextmanager
def _opened(output: Path | None) -> Iterator[IO[bytes]]:
    """Where the lines go. A file is there whole or not at all, and for its owner alone."""
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if output.exists():
        raise click.ClickException(f"--output: {output} is there already")
    with tempfile.NamedTemporaryFile(
        dir=output.parent, prefix=f".{output.name}.", delete=False
    ) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.rename(file.name, output)
        except BaseException:
            os.unlink(file.name)
            raise
