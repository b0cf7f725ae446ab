"""Changing the status of a report, planned first: a command shows the plan, or carries it out."""

from dataclasses import dataclass
from typing import Any

from chat_aio.actions import reports
from chat_aio.actions.context import Context
from chat_aio.schema.inputs import Keep
from chat_aio.schema.models import Report, ReportStatus


@dataclass(frozen=True, slots=True)
class ReportPlan:
    """A report as it is now, and the fields to set."""

    before: Report
    new: dict[str, Any]


async def plan_report(
    context: Context,
    user_id: str,
    report_id: str,
    status: ReportStatus,
    *,
    moderator_note: str | Keep | None,
) -> ReportPlan:
    """Raises UserBanned, and as `update_report`."""
    before = await reports.get_report(context, user_id, report_id)
    new = await reports.new_fields(context, user_id, status, moderator_note=moderator_note)
    return ReportPlan(before, new)


async def move_report(context: Context, user_id: str, plan: ReportPlan) -> Report:
    """The report with its new fields."""
    return await reports.put_fields(context, user_id, plan.before.id, plan.new)
