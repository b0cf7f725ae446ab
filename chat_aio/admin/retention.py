"""`chat-aio retention`: deletes or removes old messages."""

from datetime import timedelta
from typing import Any

import click

from chat_aio.actions.maintenance.retention import (
    Retention,
    RetentionPlan,
    count_planned,
    plan_retention,
)
from chat_aio.actions.maintenance.retention import carry_out as retain
from chat_aio.admin.consent import Plan, consenting, in_session_with_consent
from chat_aio.admin.options import acting, an_id
from chat_aio.admin.printing import Outcome, counted, progress_bar
from chat_aio.admin.session import Session, require_rights
from chat_aio.schema.wire import timestamp
from chat_aio.store.maintenance.progress import Counts


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--older-than",
    "days",
    type=click.IntRange(1, 36_500),
    required=True,
    metavar="DAYS",
    help="Maximum age of a message, in days.",
)
@click.option(
    "--remove", "removes", is_flag=True, help="Remove them completely, without tombstones."
)
@click.option(
    "--conversation",
    "conversation_id",
    type=an_id,
    metavar="ID",
    help="Only messages of this conversation.",
)
@consenting
@acting
def retention(
    days: int,
    removes: bool,
    conversation_id: str | None,
    **place: Any,
) -> None:
    """Delete messages that are older than a number of days, in all conversations.

    A deleted message leaves a tombstone, as when its sender deletes it, and connected clients see
    it at once. With --remove nothing is left, and clients get no event. Neither can be undone. The
    server may be running. If it is interrupted, run it again.
    """

    async def prepare(session: Session) -> RetentionPlan:
        await require_rights(session.database, "retention --remove" if removes else "retention")
        # From the plan on fixed: messages that come of age while it is shown are not removed.
        before = session.context.clock() - timedelta(days=days)
        wanted = Retention(before=before, removes=removes, conversation_id=conversation_id)
        return await plan_retention(session.context, session.user_id, wanted, progress=progress_bar)

    async def plan(session: Session, found: RetentionPlan) -> Plan:
        counts = await count_planned(session.context, found, progress=progress_bar)
        return Plan(
            what=f"{'remove' if removes else 'delete'} {_described(found.wanted, counts)}",
            document={"retention": _entry(found, counts)},
            remark=_remark(found),
            is_empty=not counts.messages,
        )

    async def carry_out(session: Session, found: RetentionPlan) -> Outcome:
        done = await retain(session.context, session.user_id, found, progress=progress_bar)
        said = f"{'Removed' if removes else 'Deleted'} {_described(found.wanted, done)}."
        return Outcome({"retention": _entry(found, done)}, said, _remark(found))

    in_session_with_consent(prepare, plan, carry_out, **place)


def _described(wanted: Retention, counts: Counts) -> str:
    return f"{counted(counts)}, from before {timestamp(wanted.before)}"


def _remark(plan: RetentionPlan) -> str | None:
    if not plan.held:
        return None
    return f"Under a legal hold, and kept: {plan.held} conversations."


def _entry(plan: RetentionPlan, counts: Counts) -> dict[str, object]:
    wanted = plan.wanted
    return {
        "mode": wanted.mode,
        "conversationId": wanted.conversation_id,
        "olderThan": timestamp(wanted.before),
        "messages": counts.messages,
        "conversations": counts.conversations,
        "held": plan.held,
    }
