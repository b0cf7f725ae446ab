"""`chat-aio moderation reports`, `report` and `resolve`."""

from collections.abc import Sequence
from typing import Any

import click

from chat_aio.actions.maintenance import reports as rules
from chat_aio.admin.options import (
    DECISIONS,
    STATUSES,
    TARGET_TYPES,
    an_id,
    limit,
    listing,
    reading,
    writing,
)
from chat_aio.admin.printing import Outcome, dry_run_outcome, listed, show
from chat_aio.admin.session import Session, first, in_session
from chat_aio.admin.tables import report_card, reports_table
from chat_aio.schema import pagination
from chat_aio.schema.inputs import KEEP
from chat_aio.schema.models import Report, ReportStatus, TargetType


@click.command()
@click.option("--status", type=STATUSES, help="Only reports with this status.")
@click.option("--target-type", type=TARGET_TYPES, help="Only reports on this kind of target.")
@limit
@listing
def reports(
    status: ReportStatus | None,
    target_type: TargetType | None,
    limit: int,
    as_json: bool,
    as_lines: bool,
    **place: Any,
) -> None:
    """List the reports of users, newest first."""

    async def work(session: Session) -> Outcome:
        async def page(cursor: str | None) -> tuple[Sequence[Report], str | None]:
            read = await session.api.list_reports(
                session.user_id,
                status=status,
                target_type=target_type,
                limit=pagination.MAX_LIMIT,
                cursor=cursor,
            )
            return read.reports, read.next_cursor

        found = await first(limit + 1, page)
        return listed("reports", found, reports_table(found[:limit]), limit=limit)

    show(in_session(work, **place), as_json=as_json, as_lines=as_lines)


@click.command()
@click.argument("report_id", metavar="ID", type=an_id)
@reading
def report(report_id: str, as_json: bool, **place: Any) -> None:
    """Show a report with its evidence, as it was when the report was made."""

    async def work(session: Session) -> Outcome:
        found = await session.api.get_report(session.user_id, report_id)
        return Outcome({"report": found}, report_card(found))

    show(in_session(work, **place), as_json=as_json)


@click.command()
@click.argument("report_id", metavar="ID", type=an_id)
@click.option("--status", type=DECISIONS, required=True)
@click.option("--note", help="Note kept with the report, replacing an older one; '' removes it.")
@writing
def update_report(
    report_id: str, status: ReportStatus, note: str | None, as_json: bool, **place: Any
) -> None:
    """Change the status of a report: triaged is still open, resolved and dismissed are settled."""

    async def work(session: Session) -> Outcome:
        context, user_id = session.context, session.user_id
        # An empty note removes it, so None must mean something else.
        noted = KEEP if note is None else note
        plan = await rules.plan_report(context, user_id, report_id, status, moderator_note=noted)
        move = f"{plan.before.status} to {status}"
        if session.dry_run:
            return dry_run_outcome(f"move report {report_id} from {move}", report=plan.before)
        after = await rules.move_report(context, user_id, plan)
        return Outcome({"report": after}, f"Moved report {report_id} from {move}.")

    show(in_session(work, **place), as_json=as_json)
