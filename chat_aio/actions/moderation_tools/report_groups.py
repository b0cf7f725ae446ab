"""Reports with the moderation tools: filtered by reporter or moderator, grouped by target, resolved
together."""

from contextlib import suppress
from datetime import datetime

from chat_aio.actions import reports
from chat_aio.actions.context import Context
from chat_aio.actions.moderation_tools.guarding import require_moderation_tools
from chat_aio.actions.reports import UNRESOLVED
from chat_aio.errors import ReportNotFound
from chat_aio.schema import inputs, moderation_tools, pagination
from chat_aio.schema.inputs import KEEP, Keep
from chat_aio.schema.models import ReportPage, ReportStatus, TargetType
from chat_aio.store import report_groups
from chat_aio.store.mapping import report_from

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
    """Reports, newest first; filters are the status, the kind of target, a target, the reporter and
    the resolving moderator.

    Raises InvalidInput, NotModerator and ModerationUnsupported (specification 14.3).
    """
    given = inputs.read(
        moderation_tools.ReportFinding,
        status=status,
        target_type=target_type,
        target_id=target_id,
        reporter_id=reporter_id,
        moderator_id=moderator_id,
    )
    size = pagination.limit_from(limit)
    position = pagination.after_from("reports", cursor)
    await require_moderation_tools(context, user_id, "find_reports")
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
) -> moderation_tools.ReportGroupPage:
    """The targets with unresolved reports, or with reports of a status, the latest reported first,
    with their number of reports and the latest report.

    Raises InvalidInput, NotModerator and ModerationUnsupported (specification 14.3).
    """
    given = inputs.read(moderation_tools.GroupList, status=status, target_type=target_type)
    size = pagination.limit_from(limit)
    position = pagination.after_from("report_groups", cursor)
    await require_moderation_tools(context, user_id, "list_report_groups")
    found = await report_groups.list_newest(
        context.database,
        statuses=[given.status] if given.status else UNRESOLVED,
        target_type=given.target_type,
        position=position,
        limit=size + 1,
    )
    page, last = pagination.cut(found, size)
    return moderation_tools.ReportGroupPage(
        report_groups=tuple(
            moderation_tools.ReportGroup(
                target_type=latest["targetType"],
                target_id=latest["targetId"],
                count=group.count,
                first_at=group.first_at,
                last_at=latest["createdAt"],
                latest=report_from(latest),
            )
            for group in page
            if (latest := group.latest)
        ),
        next_cursor=last and pagination.cursor_after("report_groups", *last.position),
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
) -> moderation_tools.ReportsResolved:
    """Move the unresolved reports on a target together, up to a hundred at a time; with `until`,
    those made by then. Every move has its row in the audit log. A report that another moderator
    resolves at the same time is left as it is.

    Raises InvalidInput, NotModerator and ModerationUnsupported (specification 14.3).
    """
    given = inputs.read(
        moderation_tools.GroupDecision,
        target_type=target_type,
        target_id=target_id,
        status=status,
        until=until,
    )
    fields = reports.fields_of(user_id, given.status, moderator_note=moderator_note)
    concerned = given.target_id if given.target_type == "user" else None
    await require_moderation_tools(context, user_id, "resolve_reports", target_user_id=concerned)
    # Reports with that status already would each get another row in the audit log.
    movable = [state for state in UNRESOLVED if state != given.status]
    ids = await report_groups.ids_on(
        context.database,
        given.target_type,
        given.target_id,
        statuses=movable,
        until=given.until,
        limit=AT_A_TIME + 1,
    )
    moved = 0
    for report_id in ids[:AT_A_TIME]:
        # Another moderator may have moved it since the ids were read.
        with suppress(ReportNotFound):
            await reports.put_fields(context, user_id, report_id, fields, only_from=movable)
            moved += 1
    return moderation_tools.ReportsResolved(reports=moved, more=len(ids) > AT_A_TIME)
