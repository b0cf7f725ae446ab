"""Reports by and about an erased person: the pseudonym in their place, and no more text of their
messages; what was reported, and what became of it, stays."""

from typing import Any, cast

from chat_aio.store import reports
from chat_aio.store.database import Database
from chat_aio.store.documents import ReportDocument
from chat_aio.store.maintenance.erasure import Erasure, value_at
from chat_aio.store.transactions import Session, Unchanged, transact_unique


async def rename_in_report(database: Database, of: Erasure, report_id: str) -> None:
    """Rename them in one report. It stays the open one of its reporter on its target, unless
    another one is."""

    async def body(session: Session) -> None:
        found = await database.reports.find_one({"_id": report_id}, session=session)
        fields = _report_fields(of, found) if found else {}
        if not fields:
            raise Unchanged(None)
        update: dict[str, Any] = {"$set": fields}
        if "openKey" in found:
            named = cast(ReportDocument, {**found, **fields})
            if key := await reports.free_key(database, named, session):
                fields["openKey"] = key
            else:
                update["$unset"] = {"openKey": ""}
        await database.reports.update_one({"_id": report_id}, update, session=session)

    await transact_unique(database, body)


def _report_fields(of: Erasure, report: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        place: of.pseudonym
        for place in ("reporterUserId", "resolvedBy", "evidence.senderId")
        if value_at(report, place) == of.user_id
    }
    if report["targetType"] == "user" and report["targetId"] == of.user_id:
        fields["targetId"] = of.pseudonym
    if "evidence.senderId" in fields:
        fields["evidence.body"] = ""
    inside = value_at(report, "evidence.participantIds")
    if isinstance(inside, list) and of.user_id in inside:
        fields["evidence.participantIds"] = of.renamed(inside)
    return fields
