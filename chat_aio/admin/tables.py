"""Tables, cards and JSON entries of the commands' results."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from chat_aio.actions.maintenance.check.findings import Violation
from chat_aio.admin.printing import Outcome, card_of, json_value, listed, table_of
from chat_aio.plugins.deliveries.rows import Row
from chat_aio.schema.models import Ban, HeldMessage, Message, Report
from chat_aio.schema.moderation_tools import MessageVersion
from chat_aio.store.documents import AuditEntry
from chat_aio.store.indexes import Difference
from chat_aio.store.maintenance.repair import Repair


def reports_table(reports: Sequence[Report]) -> str:
    return table_of(
        ("ID", "CREATED", "STATUS", "TARGET", "REPORTER", "REASON"),
        [
            (
                report.id,
                report.created_at,
                report.status,
                f"{report.target_type} {report.target_id}",
                report.reporter_user_id,
                report.reason,
            )
            for report in reports
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
                ban.id,
                ban.user_id,
                ban_state(ban, at=at),
                ban.created_at,
                ban.created_by_user_id,
                ban.expires_at,
                ban.reason,
            )
            for ban in bans
        ],
    )


def ban_state(ban: Ban, *, at: datetime) -> str:
    # First: a ban that was revoked may have expired since.
    if ban.revoked_at is not None:
        return "revoked"
    return "expired" if ban.expires_at is not None and ban.expires_at <= at else "active"


def audit_table(rows: Sequence[AuditEntry]) -> str:
    return table_of(
        ("AT", "BY", "ACTION", "TARGET", "MOVED", "DETAILS"),
        [
            (
                row["at"],
                row["actorUserId"],
                row["action"],
                row["targetId"],
                f"{row['from']} -> {row['to']}" if row["to"] else None,
                ", ".join(f"{name} {value}" for name, value in row["details"].items() if value),
            )
            for row in rows
        ],
    )


def versions_table(versions: Sequence[MessageVersion]) -> str:
    return table_of(
        ("WRITTEN", "REPLACED", "HOW", "BY", "BODY"),
        [
            (
                version.written_at,
                version.replaced_at,
                version.how,
                version.replaced_by_user_id,
                version.body,
            )
            for version in versions
        ],
    )


def held_messages_table(held: Sequence[HeldMessage]) -> str:
    return table_of(
        ("ID", "HELD", "CONVERSATION", "SENDER", "REASON", "BODY"),
        [
            (
                message.id,
                message.created_at,
                message.conversation_id,
                message.sender_id,
                message.reason,
                message.body,
            )
            for message in held
        ],
    )


def messages_table(messages: Sequence[Message]) -> str:
    return table_of(
        ("ID", "CREATED", "CONVERSATION", "SENDER", "BODY"),
        [
            (
                message.id,
                message.created_at,
                message.conversation_id,
                message.sender_id,
                "(deleted)" if message.deleted_at else message.body,
            )
            for message in messages
        ],
    )


def violations_table(violations: Sequence[Violation]) -> str:
    return table_of(
        ("KIND", "COLLECTION", "ID", "IS", "SHOULD BE"),
        [
            (
                violation.kind,
                violation.collection,
                violation.id,
                violation.found,
                violation.expected,
            )
            for violation in sorted(
                violations, key=lambda violation: (violation.kind, str(violation.id))
            )
        ],
    )


def violation_entry(violation: Violation) -> dict[str, object]:
    return {
        "kind": violation.kind,
        "collection": violation.collection,
        "id": json_value(violation.id),
        "conversationId": json_value(violation.conversation_id),
        "is": json_value(violation.found),
        "shouldBe": json_value(violation.expected),
    }


def repairs_table(repairs: Sequence[Repair]) -> str:
    return table_of(
        ("CONVERSATION", "WHAT", "WAS", "BECOMES"),
        [(repair.conversation_id, repair.what, repair.before, repair.after) for repair in repairs],
    )


def repair_entry(repair: Repair) -> dict[str, object]:
    return {
        "conversationId": json_value(repair.conversation_id),
        "what": repair.what,
        "was": json_value(repair.before),
        "becomes": json_value(repair.after),
    }


def differences_table(found: Sequence[Difference]) -> str:
    return table_of(
        ("STATE", "COLLECTION", "INDEX"),
        [
            (difference.state, difference.collection, difference_part(difference))
            for difference in found
        ],
    )


def differences_entry(found: Sequence[Difference]) -> dict[str, object]:
    """The differences by their state."""
    return {
        state: [difference_entry(difference) for difference in found if difference.state == state]
        for state in ("missing", "different", "surplus")
    }


def difference_entry(found: Difference) -> dict[str, object]:
    document: dict[str, object] = {"collection": found.collection, "index": found.index}
    return document | ({"validator": True} if found.of == "validator" else {})


def difference_part(found: Difference) -> str | None:
    """The part of a collection that differs; None for the collection itself."""
    return "(validator)" if found.of == "validator" else found.index


def lease_entry(lease: Mapping[str, Any]) -> dict[str, object]:
    """The process that holds a lease, and how far it has read."""
    fields = {"holder": "holder", "fence": "fence", "heldUntil": "until", "readUntil": "at"}
    return {name: json_value(lease.get(field)) for name, field in fields.items()}


def dead_letters_outcome(found: Sequence[Row], heads: Mapping[str, str], *, limit: int) -> Outcome:
    """A list of dead letters; `heads` are the columns' heads by field. Rows of other programs may
    lack fields, or contain values of any type."""
    entries = [{name: json_value(row.get(name)) for name in heads} for row in found]
    table = table_of([*heads.values()], [[*entry.values()] for entry in entries[:limit]])
    # The table is cut, the JSON is not: programs get all fields.
    return listed("dead", entries, table, limit=limit)
