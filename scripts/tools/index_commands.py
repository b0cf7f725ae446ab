"""The command line of `scripts/indexes`."""

from collections.abc import Sequence
from typing import Any

import click

from chat_aio.admin.cli import run
from chat_aio.server.app import settings_from, with_database
from chat_aio.store import indexes
from chat_aio.store.database import Database
from chat_aio.store.indexes import Difference
from tools.options import reading
from tools.printing import Outcome, say, table_of

FOUND = 3
"""The exit code of a check that has found something."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """The indexes and validators that the chat needs, as `chat-aio indexes` has them.

    Existing data stay readable and writable meanwhile.
    """


@main.command()
@reading
def check(as_json: bool, **place: Any) -> None:
    """Name what is missing, different or surplus; exit code 3 if anything is missing or different.

    What is surplus only makes writes slower; whoever made it knows what it is for.
    """
    found = run(with_database(settings_from(**place), indexes.differences))
    text = differences_table(found) if found else "All indexes are there, and no others."
    say(Outcome(_by_state(found), text), as_json=as_json)
    if _lacking(found):
        raise click.exceptions.Exit(FOUND)


@main.command()
@click.option("--dry-run", is_flag=True, help="Say what would be done, and write nothing.")
@reading
def apply(as_json: bool, dry_run: bool, **place: Any) -> None:
    """Create what is missing. An index that is different is refused: drop it first, by hand; a
    validator is replaced."""

    async def work(database: Database) -> list[Difference]:
        found = await indexes.differences(database)
        if not dry_run:
            await indexes.apply(database)
        return _lacking(found)

    found = run(with_database(settings_from(**place), work))
    if dry_run:
        text = f"Would create:\n{differences_table(found)}\nDry run: nothing was written."
        document = {"dryRun": True, "would": _by_state(found)}
        say(Outcome(document, text if found else "Would do nothing."), as_json=as_json)
        return
    made = "\n".join(f"Created: {_name(each)}." for each in found)
    document = {"created": [*map(_entry, found)]}
    say(Outcome(document, made or "Nothing done: all indexes are there."), as_json=as_json)


def differences_table(found: Sequence[Difference]) -> str:
    return table_of(
        ("STATE", "COLLECTION", "INDEX"),
        [(each.state, each.collection, _part(each)) for each in found],
    )


def _lacking(found: Sequence[Difference]) -> list[Difference]:
    return [each for each in found if each.state != "surplus"]


def _by_state(found: Sequence[Difference]) -> dict[str, object]:
    return {
        state: [_entry(each) for each in found if each.state == state]
        for state in ("missing", "different", "surplus")
    }


def _entry(found: Difference) -> dict[str, object]:
    document: dict[str, object] = {"collection": found.collection, "index": found.index}
    return document | ({"validator": True} if found.of == "validator" else {})


def _name(found: Difference) -> str:
    part = _part(found)
    return f"{found.collection}.{part}" if part else found.collection


def _part(found: Difference) -> str | None:
    return "(validator)" if found.of == "validator" else found.index
