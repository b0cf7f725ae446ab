"""Removing many messages of a user, each as `removal` does. A plan is counted or carried out."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from chat_aio.actions.context import Context
from chat_aio.actions.guards import require_user
from chat_aio.actions.maintenance.operators import Counts, Progress, silent
from chat_aio.actions.maintenance.removal import change_of, entry_of
from chat_aio.store.documents import CounterDocument, MessageDocument
from chat_aio.store.maintenance import finding, removing
from chat_aio.store.maintenance.finding import Wanted


@dataclass(frozen=True, slots=True)
class BulkRemoval:
    """Which messages are to be removed, and the conversations to look into, as they were then:
    what is sent later stays."""

    wanted: Wanted
    heads: tuple[CounterDocument, ...]


async def plan_removals(context: Context, user_id: str, wanted: Wanted) -> BulkRemoval:
    """Find the conversations. Raises UserBanned and ConversationNotFound."""
    await require_user(context, user_id)
    return BulkRemoval(wanted, tuple(await finding.list_heads(context.database, wanted)))


async def count(context: Context, plan: BulkRemoval, *, progress: Progress = silent) -> Counts:
    """How many messages a plan would remove now."""

    async def pass_by(messages: Sequence[MessageDocument]) -> int:
        return len(messages)

    return await _each(context, plan, progress, "Counting", pass_by)


async def carry_out(
    context: Context, user_id: str, plan: BulkRemoval, *, progress: Progress = silent
) -> Counts:
    """Leave tombstones, each with its row in the audit trail. If this is interrupted, what is done
    is complete; run it again for the rest."""
    return await _each(context, plan, progress, "Removing", partial(empty, context, user_id))


async def empty(context: Context, user_id: str, messages: Sequence[MessageDocument]) -> int:
    """Leave tombstones where these messages were, each with its row; returns how many."""
    return await removing.empty(
        context.database,
        messages,
        change=partial(change_of, context, user_id),
        entry=entry_of,
        history=context.history,
    )


async def _each(
    context: Context,
    plan: BulkRemoval,
    progress: Progress,
    stage: str,
    work: Callable[[Sequence[MessageDocument]], Awaitable[int]],
) -> Counts:
    messages = conversations = 0
    with progress(stage, sum(each["seq"] for each in plan.heads)) as advance:
        for head in plan.heads:
            done = 0
            async for page in finding.walk(context.database, plan.wanted, head, advance):
                done += await work([each for each in page.met if not each["deletedAt"]])
            messages += done
            conversations += bool(done)
    return Counts(messages, conversations)
