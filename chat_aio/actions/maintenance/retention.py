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
"""How long removal waits after the floors were raised. An unread count that started before has
ended by then; with an older head it would count own messages that are gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Selects old messages, and whether they are removed or emptied."""

    before: datetime
    removes: bool
    conversation_id: str | None

    @property
    def mode(self) -> Literal["remove", "delete"]:
        return "remove" if self.removes else "delete"


@dataclass(frozen=True, slots=True)
class RetentionPlan:
    """The old messages of each conversation that has any. `held` conversations, which are under a
    legal hold, are excluded."""

    wanted: Retention
    olds: tuple[Old, ...]
    held: int = 0


async def plan_retention(
    context: Context, user_id: str, wanted: Retention, *, progress: Progress = silent
) -> RetentionPlan:
    """Find the old messages. Raises UserBanned and ConversationNotFound."""
    await require_user(context, user_id)
    database = context.database
    find = retention.find_old_to_remove if wanted.removes else retention.find_old_to_empty
    heads = await retention.list_heads(database, conversation_id=wanted.conversation_id)
    kept = await legal_holds.kept_conversations(database)
    olds, held = [], 0
    with progress("Looking", len(heads)) as advance:
        for head in heads:
            if old := await find(database, head, before=wanted.before):
                # Counted, so that the operator sees that old messages remain, and why.
                held += head["_id"] in kept
                olds += [] if head["_id"] in kept else [old]
            advance(1)
    return RetentionPlan(wanted, tuple(olds), held)


async def count_planned(
    context: Context, plan: RetentionPlan, *, progress: Progress = silent
) -> Counts:
    """The number of messages that a plan would empty or remove now."""

    async def count(old: Old, advance: Advance) -> int:
        counted = await retention.count(context.database, old, live=not plan.wanted.removes)
        advance(len(old))
        return counted

    return await _each(plan, progress, "Counting", count)


async def carry_out(
    context: Context, user_id: str, plan: RetentionPlan, *, progress: Progress = silent
) -> Counts:
    """Empty or remove the planned messages, between two rows of the audit log.

    The first row is written before anything is done: an interrupted run has no second row, and its
    tombstones name the first (`change.id`). Both are added even if nothing was left to do.
    """
    run_id = context.new_id()
    await legal_holds.keep_expiring(context.database)
    begun = _row(context, user_id, plan, context.new_id(), moved=(None, "begun"), run=run_id)
    await audit.add_once(context.database, begun)

    def change() -> Change:
        at = context.clock()
        return {"id": run_id, "at": at, "kind": "message.deleted", "actorId": user_id}

    async def work(old: Old, advance: Advance) -> int:
        if await _is_held(context, old):
            return 0
        if plan.wanted.removes:
            return await retention.remove(context.database, old, advance=advance)
        return await retention.empty(context.database, old, change=change, advance=advance)

    left = plan
    if plan.wanted.removes:
        # Under a legal hold since the plan: none of their messages may count as removed.
        olds = [old for old in plan.olds if not await _is_held(context, old)]
        left = replace(plan, olds=tuple(olds))
        if olds:
            await retention.raise_floors(context.database, left.olds)
            await asyncio.sleep(SECONDS_BEFORE_REMOVING)
    stage = "Removing" if plan.wanted.removes else "Deleting"
    counts = await _each(left, progress, stage, work)
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


async def _is_held(context: Context, old: Old) -> bool:
    """Whether a conversation is under a legal hold now: one may be placed during a run."""
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
