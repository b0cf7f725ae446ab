"""`chat-aio purge-records`: deletes old records with personal data other than messages."""

from datetime import datetime, timedelta
from typing import Any

import click

from chat_aio.actions.maintenance.records import count_records, remove_records
from chat_aio.admin.consent import Plan, consenting, in_session_with_consent
from chat_aio.admin.options import Command, acting
from chat_aio.admin.printing import Outcome, progress_bar, table_of_counts
from chat_aio.admin.session import Session, require_rights

KINDS = {
    "reports": "Reports that were resolved or dismissed, with their evidence.",
    "bans": "Bans that were revoked or have expired.",
    "join_requests": "Requests to join that were approved or denied.",
    "audit": "Rows of the audit log.",
    "presence": "When offline users were last seen.",
}


def kinds(command: Command) -> Command:
    """Add an option for each kind of record: the number of days after which it is removed."""
    for name in reversed(KINDS):
        flag = f"--{name.replace('_', '-')}"
        days = click.IntRange(1, 36_500)
        command = click.option(flag, name, type=days, metavar="DAYS", help=KINDS[name])(command)
    return command


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@kinds
@consenting
@acting
def purge_records(
    reports: int | None,
    bans: int | None,
    join_requests: int | None,
    audit: int | None,
    presence: int | None,
    **place: Any,
) -> None:
    """Delete old records with personal data, after a number of days.

    Only the given kinds are deleted. Open reports, bans in force, pending requests, users who are
    online and data under a legal hold are kept. It cannot be undone.
    """
    asked = {
        "reports": reports,
        "bans": bans,
        "join_requests": join_requests,
        "audit": audit,
        "presence": presence,
    }
    days = {name: number for name, number in asked.items() if number is not None}
    if not days:
        raise click.UsageError("give at least one kind to remove, such as --reports 365")

    async def prepare(session: Session) -> dict[str, datetime]:
        await require_rights(session.database, "purge-records")
        # Once for all kinds, so that the plan and the removal have the same limits.
        now = session.context.clock()
        return {name: now - timedelta(days=number) for name, number in days.items()}

    async def plan(session: Session, before: dict[str, datetime]) -> Plan:
        counts = await count_records(session.context, before)
        return Plan(
            what=f"remove {sum(counts.values()):,} records",
            document={"records": counts},
            table=table_of_counts(counts),
            is_empty=not any(counts.values()),
        )

    async def carry_out(session: Session, before: dict[str, datetime]) -> Outcome:
        removed = await remove_records(
            session.context, session.user_id, before, progress=progress_bar
        )
        return Outcome({"records": removed}, table_of_counts(removed))

    in_session_with_consent(prepare, plan, carry_out, **place)
