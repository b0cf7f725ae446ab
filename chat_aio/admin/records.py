"""`chat-aio records`: what names people beside messages is removed when it is over."""

from datetime import datetime, timedelta
from typing import Any

import click

from chat_aio.actions.maintenance.records import count_records, remove_records
from chat_aio.admin.consent import Plan, consenting, in_session_with_consent
from chat_aio.admin.options import Command, acting
from chat_aio.admin.printing import Outcome, progress_bar, table_of
from chat_aio.admin.session import Session, require_rights

KINDS = {
    "reports": "Reports that were resolved or dismissed, with their evidence.",
    "bans": "Bans that were revoked or have expired.",
    "join_requests": "Requests to join that were approved or denied.",
    "audit": "Rows of the audit log.",
    "presence": "When users were last seen, of those who are offline.",
}


def kinds(command: Command) -> Command:
    """Add an option for each kind: after how many days it is removed."""
    for name in reversed(KINDS):
        flag = f"--{name.replace('_', '-')}"
        days = click.IntRange(1, 36_500)
        command = click.option(flag, name, type=days, metavar="DAYS", help=KINDS[name])(command)
    return command


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@kinds
@consenting
@acting
def records(
    reports: int | None,
    bans: int | None,
    join_requests: int | None,
    audit: int | None,
    presence: int | None,
    **place: Any,
) -> None:
    """Remove what names people when it is over for so many days.

    Only the kinds that are named. Open reports, bans in force, pending requests and users who are
    online stay, and so does what a legal hold keeps. It cannot be undone.
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
        raise click.UsageError("say what is to be removed, such as --reports 365")

    async def prepare(session: Session) -> dict[str, datetime]:
        await require_rights(session.database, "records")
        now = session.context.clock()
        return {name: now - timedelta(days=number) for name, number in days.items()}

    async def plan(session: Session, before: dict[str, datetime]) -> Plan:
        counts = await count_records(session.context, before)
        return Plan(
            what=f"remove {sum(counts.values()):,} records",
            document={"records": counts},
            table=_table(counts),
            is_empty=not any(counts.values()),
        )

    async def carry_out(session: Session, before: dict[str, datetime]) -> Outcome:
        removed = await remove_records(
            session.context, session.user_id, before, progress=progress_bar
        )
        return Outcome({"records": removed}, _table(removed))

    in_session_with_consent(prepare, plan, carry_out, **place)


def _table(counts: dict[str, int]) -> str:
    return table_of(("COUNT", "KIND"), [(count, kind) for kind, count in counts.items()])
