"""Users' reports, with evidence that never changes."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, cast

from pymongo.errors import DuplicateKeyError

from chat_aio.errors import StorageUnavailable
from chat_aio.store import audit, keyset_query, shapes
from chat_aio.store.backoff import jitter
from chat_aio.store.calls import deadline_within
from chat_aio.store.database import Database
from chat_aio.store.documents import AuditEntry, ReportDocument
from chat_aio.store.transactions import Session, Unchanged, transact_unique


def open_key(reporter_id: str, target_type: str, target_id: str) -> str:
    """The key by which an open report is unique; its parts are length-prefixed."""
    parts = (reporter_id, target_type, target_id)
    framed = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
    return sha256(framed).hexdigest()


async def put(database: Database, report: ReportDocument) -> ReportDocument:
    """Insert a report unless another one has its `openKey`; returns the stored one."""
    deadline = deadline_within(database.timeout)
    tries = 0
    while time.monotonic() < deadline:
        try:
            await database.write(lambda: database.reports.insert_one(report))
            return report
        except DuplicateKeyError:
            found = await database.read(
                lambda: database.reports.find_one(_keyed(report["openKey"]))
            )
            if found and shapes.readable("reports", [found]):
                return cast(ReportDocument, found)
            if found:  # Malformed, so no list shows it: the new report takes its key.
                lost = {"_id": found["_id"], **_keyed(report["openKey"])}
                released = {"$unset": {"openKey": ""}}
                await database.write(partial(database.reports.update_one, lost, released))
        tries += 1  # It was resolved a moment ago, or a majority does not have it yet.
        await asyncio.sleep(jitter(tries))
    raise StorageUnavailable


def _keyed(key: str) -> dict[str, Any]:
    # With `$type`, as in the filter of the partial index: MongoDB would not use it otherwise.
    return {"openKey": {"$eq": key, "$type": "string"}}


def concerning(user_id: str) -> dict[str, Any]:
    """The query for reports on a user, and on their messages."""
    on_user = {"targetType": "user", "targetId": user_id}
    return {"$or": [on_user, {"evidence.senderId": user_id}]}


async def count(database: Database, chosen: Mapping[str, Any]) -> int:
    found: int = await database.read(lambda: database.reports.count_documents(chosen))
    return found


async def find(database: Database, report_id: str) -> ReportDocument | None:
    found = await database.read(lambda: database.reports.find_one({"_id": report_id}))
    return shapes.one_readable("reports", cast(ReportDocument | None, found))


async def list_newest(
    database: Database,
    chosen: Mapping[str, Any],
    *,
    position: keyset_query.After | None,
    limit: int,
) -> list[ReportDocument]:
    """The reports that are `chosen`, newest first."""
    found = await database.read(
        lambda: keyset_query.page(database.reports, chosen, position, limit=limit)
    )
    return cast(list[ReportDocument], found)


async def change(
    database: Database,
    report_id: str,
    decide: Callable[[ReportDocument], tuple[Mapping[str, Any], AuditEntry] | None],
    *,
    unresolved: Sequence[str],
) -> ReportDocument | None:
    """Set fields of a report and add to the audit log in one transaction; None if there is none,
    or if `decide` returns None.

    A report whose new status is not `unresolved` gives up its `openKey`, so that the user can
    report the target again. A report that is opened again takes the key back, unless a newer report
    has it.
    """

    async def body(session: Session) -> ReportDocument | None:
        row = await database.reports.find_one({"_id": report_id}, session=session)
        found = shapes.one_readable("reports", cast(ReportDocument | None, row))
        decided = decide(found) if found else None
        if found is None or decided is None:
            raise Unchanged(None)
        fields, entry = decided
        update: dict[str, Any] = {"$set": dict(fields)}
        resolved = fields["status"] not in unresolved
        if resolved:
            update["$unset"] = {"openKey": ""}
        # A key that a newer report has would be a duplicate, and fail the decision.
        elif key := await free_key(database, found, session):
            update["$set"]["openKey"] = key
        await audit.add(database, entry, session)
        changed = await database.reports.find_one_and_update(
            {"_id": report_id}, update, return_document=True, session=session
        )
        if resolved and "openKey" in found:
            # A report that was opened again has no key while a newer one had it: it gets it now.
            same = {name: found[name] for name in ("reporterUserId", "targetType", "targetId")}
            await database.reports.update_one(
                {**same, "_id": {"$ne": report_id}, "status": {"$in": list(unresolved)}},
                {"$set": {"openKey": found["openKey"]}},
                session=session,
            )
        return cast(ReportDocument, changed)

    return await transact_unique(database, body)


async def free_key(database: Database, report: ReportDocument, session: Session) -> str | None:
    """The `openKey` of a report; None if another report has it."""
    key = open_key(report["reporterUserId"], report["targetType"], report["targetId"])
    other = {**_keyed(key), "_id": {"$ne": report["_id"]}}
    released = {"$unset": {"openKey": ""}}
    taken = await database.reports.find_one_and_update(other, released, session=session)
    if taken is None:
        return key
    # It is given back: a write conflicts with a decision that releases the key at the same time. A
    # read would not, and this report would be open while none has the key.
    kept = {"$set": {"openKey": key}}
    await database.reports.update_one({"_id": taken["_id"]}, kept, session=session)
    return None
