"""Reports grouped by their target."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chat_aio.store import keyset_query, shapes
from chat_aio.store.database import Database
from chat_aio.store.documents import ReportDocument


@dataclass(frozen=True, slots=True)
class Group:
    """The number of reports on a target, the times of the first and the last one, and the latest,
    None if that is malformed. `position` is that of the group in the list."""

    count: int
    first_at: datetime
    position: keyset_query.After
    latest: ReportDocument | None


async def list_newest(
    database: Database,
    *,
    statuses: Sequence[str],
    target_type: str | None,
    position: keyset_query.After | None,
    limit: int,
) -> list[Group]:
    """The groups behind a position, by their latest report, newest first. It reads all reports that
    have one of these statuses."""
    chosen: dict[str, Any] = {"status": {"$in": [*statuses]}, "createdAt": {"$type": "date"}}
    if target_type is not None:
        chosen["targetType"] = target_type
    stages: list[dict[str, Any]] = [
        {"$match": chosen},
        # `$first` and `$last` of the groups follow this order.
        {"$sort": {"createdAt": -1, "_id": -1}},
        {
            "$group": {
                "_id": {"type": "$targetType", "id": "$targetId"},
                "count": {"$sum": 1},
                "firstAt": {"$last": "$createdAt"},
                "lastAt": {"$first": "$createdAt"},
                "latest": {"$first": "$_id"},
            }
        },
        {"$match": keyset_query.behind(position, at="lastAt", key="latest")},
        {"$sort": {"lastAt": -1, "latest": -1}},
        {"$limit": limit},
    ]
    found = await database.aggregate(database.reports, stages)
    # Only for this page: whole reports in the groups would be held for all targets.
    ids = [group["latest"] for group in found]
    rows = await database.read(lambda: database.reports.find({"_id": {"$in": ids}}).to_list(None))
    latest = {report["_id"]: report for report in shapes.readable("reports", rows)}
    return [
        Group(
            group["count"],
            group["firstAt"],
            (group["lastAt"], str(group["latest"])),
            latest.get(group["latest"]),
        )
        for group in found
    ]


async def ids_on(
    database: Database,
    target_type: str,
    target_id: str,
    *,
    statuses: Sequence[str],
    until: datetime | None,
    limit: int,
) -> list[str]:
    """The ids of reports on a target, oldest first."""
    chosen: dict[str, Any] = {
        "targetType": target_type,
        "targetId": target_id,
        "status": {"$in": [*statuses]},
    }
    if until is not None:
        chosen["createdAt"] = {"$lte": until}
    rows = database.reports.find(chosen, {"_id": 1}).sort("createdAt", 1).limit(limit)
    found = await database.read(lambda: rows.to_list(None))
    return [group["_id"] for group in found]
