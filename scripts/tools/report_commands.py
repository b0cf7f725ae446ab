"""Commands on reports."""

from collections.abc import Sequence
from typing import Any

import click

from chat_aio.schema import pagination
from chat_aio.schema.inputs import KEEP
from chat_aio.schema.models import Report, ReportStatus, TargetType
from tools import shown
from tools.desk import Desk, WouldWrite, at_desk, first
from tools.options import DECISIONS, STATUSES, TARGET_TYPES, an_id, limit, reading, writing
from tools.printing import Outcome, listed, rehearsed, say


@click.command()
@click.option("--status", type=STATUSES, help="Those with this status only.")
@click.option("--target-type", type=TARGET_TYPES, help="Those on this kind of target only.")
@limit
@reading
def reports(
    status: ReportStatus | None,
    target_type: TargetType | None,
    limit: int,
    as_json: bool,
    **place: Any,
) -> None:
    """List what users have reported, newest first."""

    async def work(desk: Desk) -> Outcome:
        async def page(cursor: str | None) -> tuple[Sequence[Report], str | None]:
            read = await desk.api.list_reports(
                desk.user_id,
                status=status,
                target_type=target_type,
                limit=pagination.MAX_LIMIT,
                cursor=cursor,
            )
            return read.reports, read.next_cursor

        found = await first(limit + 1, page)
        return listed("reports", found, shown.reports_table(found[:limit]), limit=limit)

    say(at_desk(work, **place), as_json=as_json)


@click.command()
@click.argument("report_id", metavar="ID", type=an_id)
@reading
def report(report_id: str, as_json: bool, **place: Any) -> None:
    """Show a report with its evidence: what was there when it was made."""

    async def work(desk: Desk) -> Outcome:
        found = await desk.api.get_report(desk.user_id, report_id)
        return Outcome({"report": found}, shown.report_card(found))

    say(at_desk(work, **place), as_json=as_json)


@click.command()
@click.argument("report_id", metavar="ID", type=an_id)
@click.option("--status", type=DECISIONS, required=True)
@click.option("--note", help="Kept with the report in place of an older one; '' takes that away.")
@writing
def resolve(
    report_id: str, status: ReportStatus, note: str | None, as_json: bool, **place: Any
) -> None:
    """Move a report on: triaged is still open, resolved and dismissed are settled."""

    async def work(desk: Desk) -> Outcome:
        before = await desk.api.get_report(desk.user_id, report_id)
        move = f"{before.status} to {status}"
        try:
            after = await desk.api.update_report(
                desk.user_id, report_id, status, moderator_note=KEEP if note is None else note
            )
        except WouldWrite:
            return rehearsed(f"move report {report_id} from {move}", report=before)
        return Outcome({"report": after}, f"Moved report {report_id} from {move}.")

    say(at_desk(work, **place), as_json=as_json)
