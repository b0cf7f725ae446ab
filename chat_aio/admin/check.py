"""`chat-aio check`: checks the database's invariants, and repairs derived data."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import click

from chat_aio.actions.maintenance.check.database import check as check_database
from chat_aio.actions.maintenance.check.findings import MOST, Findings
from chat_aio.actions.maintenance.repair import repair_all
from chat_aio.admin.options import an_id, reading, setting_options
from chat_aio.admin.printing import FOUND, Outcome, progress_bar, show
from chat_aio.admin.session import on_database, resumable
from chat_aio.admin.tables import (
    repair_entry,
    repairs_table,
    violation_entry,
    violations_table,
)
from chat_aio.server.sources import settings_from
from chat_aio.store.database import Database
from chat_aio.store.maintenance.repair import Repair


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--conversation",
    "conversation_id",
    type=an_id,
    metavar="ID",
    help="Check only this conversation.",
)
@click.option("--repair", "repairs", is_flag=True, help="Repair data that other data determines.")
@click.option("--dry-run", is_flag=True, help="With --repair: show the repairs, write nothing.")
@click.option(
    "--after-restore",
    "restored",
    is_flag=True,
    help="Also check what a restored backup needs before the chat is started.",
)
@setting_options("max_emoji_per_message", "max_emoji_per_user")
@reading
def check(
    conversation_id: str | None,
    repairs: bool,
    dry_run: bool,
    restored: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Check the invariants of the chat's database; exit code 3 if one is violated.

    The server may be running. Only --repair writes, and it repairs nothing that would have to be
    guessed.
    """
    if dry_run and not repairs:
        raise click.UsageError("--dry-run needs --repair")
    if restored and conversation_id:
        raise click.UsageError("--after-restore checks the whole database: omit --conversation")
    settings = settings_from(**given)

    async def look(database: Database) -> Findings:
        return await check_database(
            database,
            conversation_id,
            options=settings.options,
            restored=restored,
            progress=progress_bar,
        )

    async def work(database: Database) -> tuple[Findings, list[Repair]]:
        # Always the whole check first: repairs follow from the violations.
        findings = await look(database)
        if not repairs:
            return findings, []
        mended = await repair_all(
            database, findings.violations, dry_run=dry_run, progress=progress_bar
        )
        # The exit code describes the database after the repairs.
        return (await look(database) if mended and not dry_run else findings), mended

    with resumable() if repairs and not dry_run else nullcontext():
        findings, mended = on_database(settings, work)
    show(_outcome(findings, mended, repairs=repairs, dry_run=dry_run), as_json=as_json)
    # After the output, which is complete whatever the exit code.
    if findings.violations:
        raise click.exceptions.Exit(FOUND)


def _outcome(
    findings: Findings, mended: Sequence[Repair], *, repairs: bool, dry_run: bool
) -> Outcome:
    document: dict[str, object] = {
        "violations": [*map(violation_entry, findings.violations)],
        "checked": dict(findings.checked),
        "more": findings.more,
    }
    checked = [f"{count} {name}" for name, count in sorted(findings.checked.items())]
    said = [f"Checked: {', '.join(checked)}."]
    if repairs:
        document |= {"dryRun": True} if dry_run else {}
        document["would" if dry_run else "repaired"] = [*map(repair_entry, mended)]
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
