"""`chat-aio indexes`: the indexes and validators that the chat needs."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import click

from chat_aio.admin.options import reading, setting_options
from chat_aio.admin.printing import FOUND, Outcome, progress_bar, show
from chat_aio.admin.session import on_database, resumable
from chat_aio.admin.tables import (
    difference_entry,
    difference_part,
    differences_entry,
    differences_table,
)
from chat_aio.server.sources import settings_from
from chat_aio.store import indexes as stored
from chat_aio.store.database import COLLECTIONS, Database
from chat_aio.store.indexes import Difference
from chat_aio.store.maintenance import migrate


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def indexes() -> None:
    """The indexes and validators that the chat needs.

    Existing data stay readable and writable meanwhile.
    """


@indexes.command()
@setting_options("prefix_search")
@reading
def check(as_json: bool, **place: Any) -> None:
    """Name what is missing, different or surplus; exit code 3 if anything is missing or different.

    What is surplus only makes writes slower; whoever made it knows what it is for.
    """
    found = on_database(settings_from(**place), stored.differences)
    text = differences_table(found) if found else "All indexes are there, and no others."
    show(Outcome(differences_entry(found), text), as_json=as_json)
    if _lacking(found):
        raise click.exceptions.Exit(FOUND)


@indexes.command()
@click.option("--dry-run", is_flag=True, help="Say what would be done, and write nothing.")
@setting_options("prefix_search")
@reading
def apply(as_json: bool, dry_run: bool, **place: Any) -> None:
    """Create what is missing. An index that is different is refused: drop it first, by hand; a
    validator is replaced."""

    async def work(database: Database) -> list[Difference]:
        # An older program must not add its indexes to the database of a newer version.
        await migrate.require_known(database)
        found = await stored.differences(database)
        if not dry_run:
            with progress_bar("Creating", len(COLLECTIONS)) as advance:
                await stored.apply(database, advance)
            await migrate.note_version(database)
        return _lacking(found)

    with nullcontext() if dry_run else resumable():
        found = on_database(settings_from(**place), work)
    show(_planned(found) if dry_run else _created(found), as_json=as_json)


def _planned(found: Sequence[Difference]) -> Outcome:
    text = f"Would create:\n{differences_table(found)}\nDry run: nothing was written."
    document = {"dryRun": True, "would": differences_entry(found)}
    return Outcome(document, text if found else "Would do nothing.")


def _created(found: Sequence[Difference]) -> Outcome:
    made = "\n".join(f"Created: {_name(difference)}." for difference in found)
    document = {"created": [*map(difference_entry, found)]}
    return Outcome(document, made or "Nothing done: all indexes are there.")


def _lacking(found: Sequence[Difference]) -> list[Difference]:
    return [difference for difference in found if difference.state != "surplus"]


def _name(found: Difference) -> str:
    part = difference_part(found)
    return f"{found.collection}.{part}" if part else found.collection
