"""The command line of `scripts/check`, and the check for others to call."""

import asyncio
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from chat_aio.admin.cli import run
from chat_aio.options import Options
from chat_aio.server.app import settings_from, with_database
from chat_aio.store.database import Database
from tools.check_found import MOST, Findings, Violation, entry_from, violations_table
from tools.check_indexes import all_indexes
from tools.check_moderation import moderation
from tools.check_one import Checker
from tools.check_participants import DirectIds
from tools.check_places import conversation_ids, require_known
from tools.check_shapes import shapes
from tools.index_commands import FOUND
from tools.options import an_id, reading
from tools.printing import Outcome, say
from tools.repairing import Repair, repair, repairs_table
from tools.repairing import entry_from as repair_from

COUNTING = {"conversation_seq", "sender_conversation_seq"}
"""The indexes without which nothing is counted."""

Advance = Callable[[int], None]


async def violations_in(
    database: Database, conversation_id: str | None = None
) -> Sequence[Violation]:
    """Whatever does not hold in a chat's database, or in one conversation of it. Nothing is
    written, and the chat may be at work. Raises ConversationNotFound."""
    await require_known(database, conversation_id)
    return (await check(database, conversation_id)).violations


async def check(
    database: Database,
    conversation_id: str | None = None,
    *,
    options: Options | None = None,
    advance: Advance = lambda _: None,
) -> Findings:
    """All that a check finds; `advance` is told of each conversation that was gone through."""
    findings = await all_indexes(database)
    lacking = {each.id for each in findings.violations if each.kind != "index.twins"}
    if conversation_id is not None:
        findings = Findings()
    else:
        findings.add(await moderation(database))
    checker = Checker(
        database, options or Options(), DirectIds(database), counts=not lacking & COUNTING
    )
    async for ids in conversation_ids(database, conversation_id):
        for found in await asyncio.gather(*map(checker.check, ids)):
            findings.add(found)
        advance(len(ids))
        if len(findings.violations) >= MOST:
            findings.more = True
            return findings
    findings.add(await shapes(database, conversation_id, findings))
    return findings


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--conversation", "conversation_id", type=an_id, metavar="ID", help="Check this one only."
)
@click.option("--repair", "repairs", is_flag=True, help="Mend what follows from other data.")
@click.option("--dry-run", is_flag=True, help="With --repair: say what would be mended, only.")
@click.option(
    "--max-emoji-per-message",
    type=click.IntRange(min=1),
    default=Options().max_emoji_per_message,
    show_default=True,
    help="As the host's Options say.",
)
@click.option(
    "--max-emoji-per-user",
    type=click.IntRange(min=1),
    default=Options().max_emoji_per_user,
    show_default=True,
    help="As the host's Options say.",
)
@reading
def main(
    conversation_id: str | None,
    repairs: bool,
    dry_run: bool,
    max_emoji_per_message: int,
    max_emoji_per_user: int,
    as_json: bool,
    **place: Any,
) -> None:
    """Check all that must hold in the chat's database; exit code 3 where something does not.

    The server may be at work. Nothing is written without --repair, and nothing is mended that would
    have to be guessed.
    """
    if dry_run and not repairs:
        raise click.UsageError("--dry-run goes with --repair")
    options = Options(
        max_emoji_per_message=max_emoji_per_message, max_emoji_per_user=max_emoji_per_user
    )

    async def work(database: Database) -> tuple[Findings, list[Repair]]:
        findings = await _checked(database, conversation_id, options)
        mended = await _mend(database, findings.violations, dry_run=dry_run) if repairs else []
        if mended and not dry_run:
            findings = await _checked(database, conversation_id, options)
        return findings, mended

    findings, mended = run(with_database(settings_from(**place), work))
    say(_outcome(findings, mended, repairs=repairs, dry_run=dry_run), as_json=as_json)
    if findings.violations:
        raise click.exceptions.Exit(FOUND)


async def _checked(database: Database, conversation_id: str | None, options: Options) -> Findings:
    await require_known(database, conversation_id)
    length = await database.read(lambda: database.conversations.estimated_document_count())
    total = length if conversation_id is None else 1
    with click.progressbar(length=total, label="Checking", file=sys.stderr) as bar:
        return await check(database, conversation_id, options=options, advance=bar.update)


async def _mend(
    database: Database, violations: Iterable[Violation], *, dry_run: bool
) -> list[Repair]:
    """Mend the conversations in which something does not hold, as far as that can be."""
    ids = dict.fromkeys(
        each.conversation_id for each in violations if each.conversation_id is not None
    )
    mended: list[Repair] = []
    with click.progressbar(ids, label="Repairing", file=sys.stderr) as bar:
        for each in bar:
            mended += await repair(database, each, dry_run=dry_run)
    return mended


def _outcome(
    findings: Findings, mended: Sequence[Repair], *, repairs: bool, dry_run: bool
) -> Outcome:
    document: dict[str, object] = {
        "violations": [*map(entry_from, findings.violations)],
        "checked": dict(findings.checked),
        "more": findings.more,
    }
    said = [f"Checked: {_counted(findings)}."]
    if repairs:
        document |= {"dryRun": True} if dry_run else {}
        document["would" if dry_run else "repaired"] = [*map(repair_from, mended)]
        title = "Would repair" if dry_run else "Repaired"
        said.append(f"{title}:\n{repairs_table(mended)}" if mended else f"{title} nothing.")
    if findings.violations:
        left = "Violations"
        if repairs:
            left += ", as they are now" if dry_run else ", not repaired"
        said.append(f"{left}:\n{violations_table(findings.violations)}")
    else:
        said.append("No violation.")
    if dry_run:
        said.append("Dry run: nothing was written.")
    remark = f"Stopped after {MOST} violations: there may be more." if findings.more else None
    return Outcome(document, "\n".join(said), remark)


def _counted(findings: Findings) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(findings.checked.items()))
