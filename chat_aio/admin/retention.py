"""`chat-aio retention`: old messages are emptied, or removed."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import click

from chat_aio.actions.maintenance.operators import Counts
from chat_aio.actions.maintenance.retention import (
    Retention,
    RetentionPlan,
    carry_out,
    count_planned,
    plan_retention,
)
from chat_aio.admin.options import an_id, writing
from chat_aio.admin.printing import Outcome, counted, dry_run_outcome, progress_bar, show
from chat_aio.admin.session import Session, in_session
from chat_aio.schema.wire import timestamp


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--older-than",
    "days",
    type=click.IntRange(1, 36_500),
    required=True,
    metavar="DAYS",
    help="How old a message may become.",
)
@click.option(
    "--remove", "removes", is_flag=True, help="Leave nothing of them, in place of tombstones."
)
@click.option(
    "--conversation",
    "conversation_id",
    type=an_id,
    metavar="ID",
    help="Only those of this conversation.",
)
@writing
def retention(
    days: int, removes: bool, conversation_id: str | None, as_json: bool, **place: Any
) -> None:
    """Delete messages that are older than some days, in all conversations.

    A deleted message leaves a tombstone, as when its sender deletes it, and connected clients see
    it at once. With --remove nothing is left, and clients get no event. Neither can be undone. The
    server may be running. If it is interrupted, run it again.
    """

    async def work(session: Session) -> Outcome:
        context, user_id = session.context, session.user_id
        before = context.clock() - timedelta(days=days)
        wanted = Retention(before=before, removes=removes, conversation_id=conversation_id)
        plan = await plan_retention(context, user_id, wanted, progress=progress_bar)
        if session.dry_run:
            found = await count_planned(context, plan, progress=progress_bar)
            verb = "remove" if removes else "delete"
            what = f"{verb} {_described(wanted, found)}"
            would = dry_run_outcome(what, retention=_entry(plan, found))
            return replace(would, remark=_remark(plan))
        done = await carry_out(context, user_id, plan, progress=progress_bar)
        verb = "Removed" if removes else "Deleted"
        said = f"{verb} {_described(wanted, done)}."
        return Outcome({"retention": _entry(plan, done)}, said, _remark(plan))

    show(in_session(work, **place), as_json=as_json)


def _described(wanted: Retention, counts: Counts) -> str:
    return f"{counted(counts)}, from before {timestamp(wanted.before)}"


def _remark(plan: RetentionPlan) -> str | None:
    if not plan.held:
        return None
    return f"Under a legal hold, and left as they are: {plan.held} conversations."


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
