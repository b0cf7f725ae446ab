"""Retention of reports, bans, join requests, presence and the audit log itself."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from chat_aio.actions.context import Context
from chat_aio.actions.guards import require_user
from chat_aio.store import audit
from chat_aio.store.maintenance import legal_holds, records
from chat_aio.store.maintenance.progress import Progress, silent

ACTION = "purge-records"


async def count_records(context: Context, before: Mapping[str, datetime]) -> dict[str, int]:
    """The number of rows in each collection that would be removed now."""
    return {
        name: await records.count(context.database, name, before=moment)
        for name, moment in before.items()
    }


async def remove_records(
    context: Context, user_id: str, before: Mapping[str, datetime], *, progress: Progress = silent
) -> dict[str, int]:
    """Remove the rows of each collection that were closed before its time, except those under a
    legal hold; returns their numbers. Two audit entries, before and after, record it. Raises
    UserBanned.
    """
    await require_user(context, user_id)
    # First: what a hold keeps must lose its expiry before anything is deleted.
    await legal_holds.keep_expiring(context.database)
    run_id = context.new_id()
    await _record(context, user_id, before, context.new_id(), (None, "begun"), run=run_id)
    # Between the two rows: an interrupted run has the first one only.
    removed: dict[str, int] = {}
    counts = await count_records(context, before)
    with progress("Removing", sum(counts.values())) as advance:
        for name, moment in before.items():
            removed[name] = await records.remove(
                context.database, name, before=moment, advance=advance
            )
    await _record(context, user_id, before, run_id, ("begun", "done"), **removed)
    return removed


async def _record(
    context: Context,
    user_id: str,
    before: Mapping[str, datetime],
    row_id: str,
    moved: tuple[str | None, str],
    **details: Any,
) -> None:
    row = audit.entry(
        row_id,
        ACTION,
        "all",
        actor_id=user_id,
        at=context.clock(),
        moved=moved,
        **{f"{name}Before": moment for name, moment in before.items()},
        **details,
    )
    await audit.add_once(context.database, row)
