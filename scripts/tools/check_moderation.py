"""Checking blocks, mutes, bans and reports: rows that hold by themselves, but for open reports,
of which one has the place of those that say the same."""

from collections.abc import Mapping
from typing import Any

from chat_aio.store.database import Database
from chat_aio.store.reports import OPEN, open_key
from chat_aio.store.transactions import Session, transact
from tools.check_found import Findings, Violation

SECONDS = 600.0

KEYED = {
    "blocks": ("blockerUserId", "blockedUserId"),
    "mutes": ("userId", "conversationId"),
}
"""The rows whose `_id` has their fields."""


async def moderation(database: Database) -> Findings:
    """What must hold of all rows of moderation."""
    findings = Findings()
    for collection, fields in KEYED.items():
        findings.violations += await _unlike_their_ids(database, collection, fields)
    findings.violations += await _active_bans(database)
    findings.violations += await _open_reports(database)
    for collection in (*KEYED, "bans", "reports"):
        count = await database.read(
            lambda: database.collection(collection).estimated_document_count()
        )
        findings.checked[collection] += count
    return findings


async def _unlike_their_ids(
    database: Database, collection: str, fields: tuple[str, ...]
) -> list[Violation]:
    differs = {"$or": [{"$ne": [f"$_id.{each}", f"${each}"]} for each in fields]}
    rows = await database.read(
        lambda: database.collection(collection).find({"$expr": differs}).to_list(None),
        seconds=SECONDS,
    )
    kind = f"{collection[:-1]}.id"
    return [
        Violation(
            kind, collection, each["_id"], each["_id"], {name: each.get(name) for name in fields}
        )
        for each in rows
    ]


async def _active_bans(database: Database) -> list[Violation]:
    """`activeUserId` is the banned user's id, and goes with the ban."""
    over = {"$ne": [{"$ifNull": ["$revokedAt", None]}, None]}
    wrong = {"$or": [{"$ne": ["$activeUserId", "$userId"]}, over]}
    with database.reading(seconds=SECONDS):
        rows = database.bans.find({"activeUserId": {"$exists": True}, "$expr": wrong})
        found = await rows.to_list(None)
    return [
        Violation(
            "ban.active-user",
            "bans",
            each["_id"],
            each["activeUserId"],
            "nothing, for it is revoked" if each.get("revokedAt") else each.get("userId"),
        )
        for each in found
    ]


async def _open_reports(database: Database) -> list[Violation]:
    """An open report has its key, or another one has it; no other report has one."""
    chosen = {"$or": [{"openKey": {"$exists": True}}, {"status": {"$in": OPEN}}]}
    shown = {"status": 1, "openKey": 1, "reporterUserId": 1, "targetType": 1, "targetId": 1}
    with database.reading(seconds=SECONDS):
        rows = database.reports.find(chosen, shown)
        suspects = [each["_id"] async for each in rows if each.get("openKey") != _key_of(each)]
    found = [await _open_report(database, each) for each in suspects]
    return [each for each in found if each]


async def _open_report(database: Database, report_id: object) -> Violation | None:
    """A report that looked wrong, with the one that has its key, in a snapshot."""

    async def body(session: Session) -> Violation | None:
        report = await database.reports.find_one({"_id": report_id}, session=session)
        if report is None or report.get("openKey") == (expected := _key_of(report)):
            return None
        if "openKey" not in report and await database.reports.find_one(
            {"openKey": {"$eq": expected, "$type": "string"}}, session=session
        ):
            return None
        told = expected or f"nothing, for it is {report.get('status')}"
        return Violation("report.open-key", "reports", report_id, report.get("openKey"), told)

    return await transact(database, body)


def _key_of(report: Mapping[str, Any]) -> str | None:
    """The key that a report has, or might have."""
    if report.get("status") not in OPEN:
        return None
    return open_key(
        *(str(report.get(each)) for each in ("reporterUserId", "targetType", "targetId"))
    )
