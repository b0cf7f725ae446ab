"""Reports: what users find wrong, with evidence that nobody changes afterwards."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, cast

from pymongo.errors import DuplicateKeyError

from chat_aio.store import audit, keyset
from chat_aio.store.database import Database
from chat_aio.store.documents import AuditEntry, ReportDocument
from chat_aio.store.transactions import Session, Unchanged, transact

OPEN = ("open", "triaged")


def open_key(reporter_id: str, target_type: str, target_id: str) -> str:
    """What an open report is unique by."""
    parts = (reporter_id, target_type, target_id)
    framed = b"".join(len(each.encode()).to_bytes(4, "big") + each.encode() for each in parts)
    return sha256(framed).hexdigest()


async def put(database: Database, report: ReportDocument) -> ReportDocument:
    """Keep a report, or find the reporter's open one on the same target; returns that."""
    key = report["openKey"]
    while True:
        try:
            with database.writing():
                await database.reports.insert_one(report)
        except DuplicateKeyError:
            with database.reading():
                found = await database.reports.find_one({"openKey": key})
            if found:
                return cast(ReportDocument, found)
            continue  # It was settled a moment ago.
        return report


async def find(database: Database, report_id: str) -> ReportDocument | None:
    with database.reading():
        found = await database.reports.find_one({"_id": report_id})
    return cast(ReportDocument | None, found)


async def list_newest(
    database: Database,
    chosen: Mapping[str, str],
    *,
    position: keyset.After | None,
    limit: int,
) -> list[ReportDocument]:
    """Reports with some status or target type, newest first."""
    with database.reading():
        found = await keyset.page(database.reports, chosen, position, limit=limit)
    return cast(list[ReportDocument], found)


async def change(
    database: Database,
    report_id: str,
    decide: Callable[[ReportDocument], tuple[Mapping[str, Any], AuditEntry]],
) -> ReportDocument | None:
    """Set fields of a report and add to the trail, in one transaction; None if there is none.

    Settled, it gives its place to a new one of the same reporter; open again it takes it back, and
    goes without where a newer report has it.
    """

    async def body(session: Session) -> ReportDocument | None:
        found = await database.reports.find_one({"_id": report_id}, session=session)
        if found is None:
            raise Unchanged(None)
        fields, row = decide(found)
        update: dict[str, Any] = {"$set": dict(fields)}
        if fields["status"] not in OPEN:
            update["$unset"] = {"openKey": ""}
        elif key := await _free_key(database, found, session):
            update["$set"]["openKey"] = key
        await audit.add(database, row, session)
        changed = await database.reports.find_one_and_update(
            {"_id": report_id}, update, return_document=True, session=session
        )
        return cast(ReportDocument, changed)

    while True:
        try:
            return await transact(database, body)
        except DuplicateKeyError:
            continue  # A newer report took the place meanwhile.


async def _free_key(database: Database, report: ReportDocument, session: Session) -> str | None:
    key = open_key(report["reporterUserId"], report["targetType"], report["targetId"])
    taken = await database.reports.find_one(
        {"openKey": key, "_id": {"$ne": report["_id"]}}, session=session
    )
    return None if taken else key
