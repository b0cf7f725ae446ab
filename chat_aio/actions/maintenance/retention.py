"""Retention: old messages become tombstones, or are removed. A plan lists them; it is shown or
carried out."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from chat_aio.actions.context import Context
from chat_aio.actions.guards import require_user
from chat_aio.store import audit
from chat_aio.store.documents import AuditEntry, Change
from chat_aio.store.maintenance import legal_holds, retention
from chat_aio.store.maintenance.progress import Advance, Counts, Progress, silent
from chat_aio.store.maintenance.retention import Old

ACTION = "retention"
EVERYWHERE = "all"

SECONDS_BEFORE_REMOVING = 1.0
"""Removal waits so long after the floors were raised. An unread count that began before them is
over by then; with an older head it would count own messages that are gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Which messages are old, and whether they are removed or emptied."""

    before: datetime
    removes: bool
    conversation_id: str | None

    @property
    def mode(self) -> Literal["remove", "delete"]:
        return "remove" if self.removes else "delete"


@dataclass(frozen=True, slots=True)
class RetentionPlan:
    """The old messages of each conversation that has any, without the `held` conversations, which
    a legal hold keeps."""

    wanted: Retention
    olds: tuple[Old, ...]
    held: int = 0


async def plan_retention(
    context: Context, user_id: str, wanted: Retention, *, progress: Progress = silent
) -> RetentionPlan:
    """Look for what is old. Raises UserBanned and ConversationNotFound."""
    await require_user(context, user_id)
    database = context.database
    find = retention.find_old_to_remove if wanted.removes else retention.find_old_to_empty
    heads = await retention.list_heads(database, conversation_id=wanted.conversation_id)
    kept = await legal_holds.kept_conversations(database)
    olds, held = [], 0
    with progress("Looking", len(heads)) as advance:
        for head in heads:
            if old := await find(database, head, before=wanted.before):
                held += head["_id"] in kept
                olds += [] if head["_id"] in kept else [old]
            advance(1)
    return RetentionPlan(wanted, tuple(olds), held)


async def count_planned(
    context: Context, plan: RetentionPlan, *, progress: Progress = silent
) -> Counts:
    """How many messages a plan would empty or remove now."""

    async def count(old: Old, advance: Advance) -> int:
        counted = await retention.count(context.database, old, live=not plan.wanted.removes)
        advance(len(old))
        return counted

    return await _each(plan, progress, "Counting", count)


async def carry_out(
    context: Context, user_id: str, plan: RetentionPlan, *, progress: Progress = silent
) -> Counts:
    """Empty or remove what is planned, between two rows of the audit log.

    The first one is written before anything is done: a run that is cut short has no second one,
    and its tombstones name it (`change.id`). Both are added also where nothing was left to do.
    """
    run_id = context.new_id()
    await legal_holds.keep_expiring(context.database)
    begun = _row(context, user_id, plan, context.new_id(), moved=(None, "begun"), run=run_id)
    await audit.add_once(context.database, begun)
    if plan.wanted.removes:
        counts = await _remove(context, plan, progress)
    else:
        counts = await _empty(context, user_id, plan, run_id, progress)
    done = _row(
        context,
        user_id,
        plan,
        run_id,
        moved=("begun", "done"),
        messages=counts.messages,
        conversations=counts.conversations,
        held=plan.held,
    )
    await audit.add_once(context.database, done)
    return counts


def _row(
    context: Context,
    user_id: str,
    plan: RetentionPlan,
    row_id: str,
    *,
    moved: tuple[str | None, str],
    **details: Any,
) -> AuditEntry:
    wanted = plan.wanted
    return audit.entry(
        row_id,
        ACTION,
        wanted.conversation_id or EVERYWHERE,
        actor_id=user_id,
        at=context.clock(),
        moved=moved,
        mode=wanted.mode,
        olderThan=wanted.before,
        **details,
    )


async def _empty(
    context: Context, user_id: str, plan: RetentionPlan, run_id: str, progress: Progress
) -> Counts:
    def change() -> Change:
        at = context.clock()
        return {"id": run_id, "at": at, "kind": "message.deleted", "actorId": user_id}

    async def empty(old: Old, advance: Advance) -> int:
        if await _is_held(context, old):
            return 0
        return await retention.empty(context.database, old, change=change, advance=advance)

    return await _each(plan, progress, "Deleting", empty)


async def _remove(context: Context, plan: RetentionPlan, progress: Progress) -> Counts:
    async def remove(old: Old, advance: Advance) -> int:
        if await _is_held(context, old):
            return 0
        return await retention.remove(context.database, old, advance=advance)

    # Held since the plan: nothing of them may count as gone.
    plan = replace(plan, olds=tuple([e for e in plan.olds if not await _is_held(context, e)]))
    if plan.olds:
        await retention.raise_floors(context.database, plan.olds)
        await asyncio.sleep(SECONDS_BEFORE_REMOVING)
    return await _each(plan, progress, "Removing", remove)


async def _is_held(context: Context, old: Old) -> bool:
    """Whether a legal hold keeps a conversation now: one may be placed during a run."""
    return old.conversation_id in await legal_holds.kept_conversations(context.database)


async def _each(
    plan: RetentionPlan,
    progress: Progress,
    stage: str,
    work: Callable[[Old, Advance], Awaitable[int]],
) -> Counts:
    with progress(stage, sum(map(len, plan.olds))) as advance:
        done = [await work(old, advance) for old in plan.olds]
    return Counts(sum(done), sum(map(bool, done)))
