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

    Existing data stay readable and writable in the meantime.
    """


@indexes.command()
@setting_options("prefix_search", "search_filters", "conversation_keys", "metadata_indexes")
@reading
def check(as_json: bool, **place: Any) -> None:
    """List missing, different and surplus ones; exit code 3 if any are missing or different.

    Surplus indexes only make writes slower; the person who created one knows its purpose.
    """
    found = on_database(settings_from(**place), stored.differences)
    text = differences_table(found) if found else "All indexes are there, and no others."
    show(Outcome(differences_entry(found), text), as_json=as_json)
    if _lacking(found):
        raise click.exceptions.Exit(FOUND)


@indexes.command()
@click.option("--dry-run", is_flag=True, help="Show what would be done, and write nothing.")
@setting_options("prefix_search", "search_filters", "conversation_keys", "metadata_indexes")
@reading
def apply(as_json: bool, dry_run: bool, **place: Any) -> None:
    """Create missing indexes and validators. A different index is refused: drop it yourself
    first. A different validator is replaced."""

    async def work(database: Database) -> list[Difference]:
        # An older program must not add its indexes to the database of a newer version.
        await migrate.require_known(database)
        found = await stored.differences(database)
        if not dry_run:
            with progress_bar("Creating", len(COLLECTIONS)) as advance:
                await stored.apply(database, advance)
            await migrate.note_version(database)
        # Before creation they were missing; surplus ones are left alone.
        return _lacking(found)

    with nullcontext() if dry_run else resumable():
        found = on_database(settings_from(**place), work)
    if dry_run:
        text = f"Would create:\n{differences_table(found)}\nDry run: nothing was written."
        document = {"dryRun": True, "would": differences_entry(found)}
        show(Outcome(document, text if found else "Would do nothing."), as_json=as_json)
        return
    made = []
    for difference in found:
        part = difference_part(difference)
        made.append(f"{difference.collection}.{part}" if part else difference.collection)
    text = "\n".join(f"Created: {name}." for name in made)
    document = {"created": [*map(difference_entry, found)]}
    show(Outcome(document, text or "Nothing done: all indexes are there."), as_json=as_json)


def _lacking(found: Sequence[Difference]) -> list[Difference]:
    return [difference for difference in found if difference.state != "surplus"]
