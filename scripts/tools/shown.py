"""Reports, bans, the trail and messages as tables and cards."""

from collections.abc import Sequence
from datetime import datetime

from chat_aio.schema.models import Ban, Message, Report
from chat_aio.store.documents import AuditEntry
from tools.printing import card_of, table_of


def reports_table(reports: Sequence[Report]) -> str:
    return table_of(
        ("ID", "CREATED", "STATUS", "TARGET", "REPORTER", "REASON"),
        [
            (
                each.id,
                each.created_at,
                each.status,
                f"{each.target_type} {each.target_id}",
                each.reporter_user_id,
                each.reason,
            )
            for each in reports
        ],
    )


def report_card(report: Report) -> str:
    return card_of(
        {
            "report": report.id,
            "status": report.status,
            "target": f"{report.target_type} {report.target_id}",
            "reporter": report.reporter_user_id,
            "reason": report.reason,
            "note": report.moderator_note,
            "created": report.created_at,
            "updated": report.updated_at,
            "resolved by": report.resolved_by,
            **{f"evidence: {name}": value for name, value in report.evidence.items()},
        }
    )


def bans_table(bans: Sequence[Ban], *, at: datetime) -> str:
    return table_of(
        ("ID", "USER", "STATE", "CREATED", "BY", "UNTIL", "REASON"),
        [
            (
                each.id,
                each.user_id,
                ban_state(each, at=at),
                each.created_at,
                each.created_by_user_id,
                each.expires_at,
                each.reason,
            )
            for each in bans
        ],
    )


def ban_state(ban: Ban, *, at: datetime) -> str:
    if ban.revoked_at is not None:
        return "revoked"
    return "expired" if ban.expires_at is not None and ban.expires_at <= at else "active"


def trail_table(rows: Sequence[AuditEntry]) -> str:
    return table_of(
        ("AT", "BY", "ACTION", "TARGET", "MOVED", "DETAILS"),
        [
            (
                each["at"],
                each["actorUserId"],
                each["action"],
                each["targetId"],
                f"{each['from']} -> {each['to']}" if each["to"] else None,
                ", ".join(f"{name} {value}" for name, value in each["details"].items() if value),
            )
            for each in rows
        ],
    )


def messages_table(messages: Sequence[Message]) -> str:
    return table_of(
        ("ID", "CREATED", "CONVERSATION", "SENDER", "BODY"),
        [
            (
                each.id,
                each.created_at,
                each.conversation_id,
                each.sender_id,
                "(deleted)" if each.deleted_at else each.body,
            )
            for each in messages
        ],
    )
