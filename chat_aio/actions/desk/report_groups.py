"""Reports at the desk: found by who made or resolved them, grouped by target, resolved together."""

from collections.abc import Awaitable
from datetime import datetime
from functools import partial

from chat_aio.actions import reports
from chat_aio.actions.context import Context
from chat_aio.actions.desk.guarding import require_desk
from chat_aio.actions.reports import UNRESOLVED
from chat_aio.errors import ReportNotFound
from chat_aio.schema import desk, inputs, pagination
from chat_aio.schema.inputs import KEEP, Keep
from chat_aio.schema.models import ReportPage, ReportStatus, TargetType
from chat_aio.store import report_groups
from chat_aio.store.documents import ReportDocument
from chat_aio.store.mapping import report_from
from chat_aio.store.report_groups import Group

AT_A_TIME = 100


async def find_reports(
    context: Context,
    user_id: str,
    *,
    status: ReportStatus | None = None,
    target_type: TargetType | None = None,
    target_id: str | None = None,
    reporter_id: str | None = None,
    moderator_id: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> ReportPage:
    """Reports, newest first: with a status, on a kind of target or on one, made by a user, resolved
    by a moderator.

    Raises InvalidInput, NotModerator and ModerationUnsupported (docs/behaviour.md 14.3).
    """
    given = inputs.read(
        desk.ReportFinding,
        status=status,
        target_type=target_type,
        target_id=target_id,
        reporter_id=reporter_id,
        moderator_id=moderator_id,
    )
    size = pagination.limit_from(limit)
    position = pagination.after_from("reports", cursor)
    await require_desk(context, user_id, "find_reports")
    chosen = {
        "status": given.status,
        "targetType": given.target_type,
        "targetId": given.target_id,
        "reporterUserId": given.reporter_id,
        "resolvedBy": given.moderator_id,
    }
    return await reports.page_of(context, chosen, position, size)


async def list_report_groups(
    context: Context,
    user_id: str,
    *,
    status: ReportStatus | None = None,
    target_type: TargetType | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> desk.ReportGroupPage:
    """The targets with unresolved reports, or with reports of a status, the latest reported first;
    each with how many there are, and the latest of them.

    Raises InvalidInput, NotModerator and ModerationUnsupported (docs/behaviour.md 14.3).
    """
    given = inputs.read(desk.GroupList, status=status, target_type=target_type)
    size = pagination.limit_from(limit)
    position = pagination.after_from("report_groups", cursor)
    await require_desk(context, user_id, "list_report_groups")
    found = await report_groups.list_newest(
        context.database,
        statuses=[given.status] if given.status else UNRESOLVED,
        target_type=given.target_type,
        position=position,
        limit=size + 1,
    )
    page, last = pagination.cut(found, size)
    return desk.ReportGroupPage(
        report_groups=tuple(_group_from(group, group.latest) for group in page if group.latest),
        next_cursor=last and pagination.cursor_after("report_groups", *last.position),
    )


def _group_from(found: Group, latest: ReportDocument) -> desk.ReportGroup:
    return desk.ReportGroup(
        target_type=latest["targetType"],
        target_id=latest["targetId"],
        count=found.count,
        first_at=found.first_at,
        last_at=latest["createdAt"],
        latest=report_from(latest),
    )


async def resolve_reports(
    context: Context,
    user_id: str,
    target_type: TargetType,
    target_id: str,
    status: ReportStatus,
    *,
    until: datetime | None = None,
    moderator_note: str | Keep | None = KEEP,
) -> desk.ReportsResolved:
    """Move the unresolved reports on a target together, up to a hundred at a time; with `until`,
    those that were made by then. Each move has its row in the audit log. What another moderator
    resolves meanwhile stays as it is.

    Raises InvalidInput, NotModerator and ModerationUnsupported (docs/behaviour.md 14.3).
    """
    given = inputs.read(
        desk.GroupDecision,
        target_type=target_type,
        target_id=target_id,
        status=status,
        until=until,
    )
    fields = reports.fields_of(user_id, given.status, moderator_note=moderator_note)
    concerned = given.target_id if given.target_type == "user" else None
    await require_desk(context, user_id, "resolve_reports", target_user_id=concerned)
    movable = [state for state in UNRESOLVED if state != given.status]
    ids = await report_groups.ids_on(
        context.database,
        given.target_type,
        given.target_id,
        statuses=movable,
        until=given.until,
        limit=AT_A_TIME + 1,
    )
    move = partial(reports.put_fields, context, user_id, new=fields, only_from=movable)
    moved = [await _unless_moved(move(report_id=report_id)) for report_id in ids[:AT_A_TIME]]
    return desk.ReportsResolved(reports=sum(moved), more=len(ids) > AT_A_TIME)


async def _unless_moved(moving: Awaitable[object]) -> bool:
    """Whether a report was moved, not by another moderator meanwhile."""
    try:
        await moving
    except ReportNotFound:
        return False
    return True
