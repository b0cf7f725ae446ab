"""Reports: made by users, with a copy of the reported object; worked on by moderators."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from chat_aio.actions.answers import shapes_of
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_message, load_readable
from chat_aio.actions.moderators import is_moderator, require_moderator
from chat_aio.actions.optional_events import publish_report
from chat_aio.capabilities import Capability, require
from chat_aio.errors import InvalidInput, ReportNotFound
from chat_aio.schema import inputs, pagination
from chat_aio.schema.fields import is_id
from chat_aio.schema.inputs import KEEP, Keep
from chat_aio.schema.models import Report, ReportPage, ReportStatus, TargetType
from chat_aio.schema.wire import timestamp
from chat_aio.store import audit, reports
from chat_aio.store.documents import AuditEntry, ReportDocument
from chat_aio.store.mapping import bare_message_from, report_from
from chat_aio.store.rows import MOST_BYTES
from chat_aio.store.shapes import one_readable

UNRESOLVED: tuple[ReportStatus, ...] = ("open", "triaged")
"""The statuses in which a report is still worked on: the reporter cannot report the same target
again, and nobody has resolved it (specification 11.4). `ReportChange` limits new statuses."""


async def report(
    context: Context, user_id: str, target_type: TargetType, target_id: str, reason: str
) -> Report:
    """Report a user, message or conversation; if the caller's report on it is still open, return
    that, with the moderators' note for moderators only (specification 11.4).

    Raises InvalidInput (also for reporting yourself), ModerationUnsupported, MessageNotFound,
    ConversationNotFound and ForbiddenRead.
    """
    given = inputs.read(
        inputs.NewReport, target_type=target_type, target_id=target_id, reason=reason
    )
    require(context, Capability.MODERATION)
    evidence = await _evidence(context, user_id, given)
    at, report_id = context.clock(), context.new_id()
    kept = await reports.put(
        context.database,
        {
            "_id": report_id,
            "reporterUserId": user_id,
            "targetType": given.target_type,
            "targetId": given.target_id,
            "reason": given.reason,
            "status": "open",
            "moderatorNote": None,
            "evidence": evidence,
            "createdAt": at,
            "updatedAt": at,
            "resolvedBy": None,
            # Unique while the report is open: of many reports at once only one is stored.
            "openKey": reports.open_key(user_id, given.target_type, given.target_id),
        },
    )
    # Otherwise it is their earlier report, which was published when it was made.
    if kept["_id"] == report_id:
        publish_report(context, "report.created", kept)
    # Reporters get their earlier report back, but its note is for moderators only.
    if kept["moderatorNote"] is not None and not await is_moderator(context, user_id, "get_report"):
        kept = {**kept, "moderatorNote": None}
    return report_from(kept)


async def list_reports(
    context: Context,
    user_id: str,
    *,
    status: ReportStatus | None = None,
    target_type: TargetType | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> ReportPage:
    """List reports, newest first. Raises InvalidInput, NotModerator and ModerationUnsupported."""
    given = inputs.read(inputs.ReportList, status=status, target_type=target_type)
    size = pagination.limit_from(limit)
    position = pagination.after_from("reports", cursor)
    await require_moderator(context, user_id, "list_reports")
    require(context, Capability.MODERATION)
    chosen = {"status": given.status, "targetType": given.target_type}
    return await page_of(context, chosen, position, size)


async def page_of(
    context: Context,
    chosen: Mapping[str, str | None],
    position: tuple[datetime, str] | None,
    size: int,
) -> ReportPage:
    """The reports behind a position that have these fields; a field that is None is ignored."""
    given = {name: value for name, value in chosen.items() if value is not None}
    found = await reports.list_newest(context.database, given, position=position, limit=size + 1)
    page = found[:size]
    # Their stored size is unknown, so it is always measured: evidence may be a long body.
    shown, count = await shapes_of(
        context,
        page,
        lambda found: report_from(found) if one_readable("reports", found) else None,
        stored_bytes=MOST_BYTES,
    )
    last = page[count - 1] if count < len(found) else None
    return ReportPage(
        reports=shown,
        next_cursor=last and pagination.cursor_after("reports", last["createdAt"], last["_id"]),
    )


async def get_report(context: Context, user_id: str, report_id: str) -> Report:
    """Get one report. Raises NotModerator, ModerationUnsupported and ReportNotFound."""
    await require_moderator(context, user_id, "get_report")
    require(context, Capability.MODERATION)
    found = await reports.find(context.database, report_id) if is_id(report_id) else None
    if found is None:
        raise ReportNotFound
    return report_from(found)


async def update_report(
    context: Context,
    user_id: str,
    report_id: str,
    status: ReportStatus,
    *,
    moderator_note: str | Keep | None = KEEP,
) -> Report:
    """Move a report to `triaged`, `resolved` or `dismissed`; a note of None clears the note.

    Every move is recorded in the audit log. Raises InvalidInput, NotModerator,
    ModerationUnsupported and ReportNotFound.
    """
    fields = await new_fields(context, user_id, status, moderator_note=moderator_note)
    return await put_fields(context, user_id, report_id, fields)


async def new_fields(
    context: Context, user_id: str, status: ReportStatus, *, moderator_note: str | Keep | None
) -> dict[str, Any]:
    """The fields that `update_report` would set; nothing is written. Raises as `update_report`."""
    fields = fields_of(user_id, status, moderator_note=moderator_note)
    await require_moderator(context, user_id, "update_report")
    require(context, Capability.MODERATION)
    return fields


def fields_of(
    user_id: str, status: ReportStatus, *, moderator_note: str | Keep | None
) -> dict[str, Any]:
    """The fields of a report that a moderator moves to a status. Raises InvalidInput."""
    noted = {} if moderator_note is KEEP else {"moderator_note": moderator_note}
    given = inputs.read(inputs.ReportChange, metadata_within=None, status=status, **noted)
    resolved = given.status not in UNRESOLVED
    return {
        "status": given.status,
        "resolvedBy": user_id if resolved else None,
        **({"moderatorNote": given.moderator_note} if noted else {}),
    }


async def put_fields(
    context: Context,
    user_id: str,
    report_id: str,
    new: Mapping[str, Any],
    *,
    only_from: Collection[ReportStatus] | None = None,
) -> Report:
    """Set fields of a report, and record its move in the audit log. Raises ReportNotFound, also if
    it has none of the statuses `only_from`."""

    def decide(found: ReportDocument) -> tuple[dict[str, Any], AuditEntry] | None:
        if only_from is not None and found["status"] not in only_from:
            return None
        moved = found["status"], new["status"]
        # Later than before even if another process with a faster clock has written that.
        at = max(context.clock(), found["updatedAt"] + timedelta(milliseconds=1))
        row = audit.entry(
            context.new_id(), "report", report_id, actor_id=user_id, at=at, moved=moved
        )
        return {**new, "updatedAt": at}, row

    changed = None
    if is_id(report_id):
        changed = await reports.change(context.database, report_id, decide, unresolved=UNRESOLVED)
    if changed is None:
        raise ReportNotFound
    publish_report(context, "report.updated", changed)
    return report_from(changed)


async def _evidence(context: Context, user_id: str, given: inputs.NewReport) -> dict[str, Any]:
    """A copy of the reported object, as it is now; raises if the reporter may not read it."""
    if given.target_type == "user":
        if given.target_id == user_id:
            raise InvalidInput("targetId must be another user: you cannot report yourself")
        return {"targetType": "user"}
    if given.target_type == "conversation":
        conversation = (await load_readable(context, user_id, given.target_id)).conversation
        return {
            "targetType": "conversation",
            "conversationId": conversation.id,
            "type": conversation.type,
            "name": conversation.name,
            "participantIds": list(conversation.roles),
        }
    found = await load_message(context, given.target_id)
    await load_readable(context, user_id, found["conversationId"], bare_message_from(found))
    return {
        "targetType": "message",
        "messageId": found["_id"],
        "conversationId": found["conversationId"],
        "senderId": found["senderId"],
        "body": found["body"],
        "createdAt": timestamp(found["createdAt"]),
        "deletedAt": found["deletedAt"] and timestamp(found["deletedAt"]),
    }
