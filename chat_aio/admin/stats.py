"""`chat-aio stats`: the daily statistics, and their roll-up (docs/operations/statistics.md)."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import click

from chat_aio.actions.maintenance.stats import StatsPeriod, count_old, update
from chat_aio.admin.consent import Plan, consenting, in_session_with_consent
from chat_aio.admin.options import an_id, listing, reading
from chat_aio.admin.printing import Outcome, listed, progress_bar, show, table_of
from chat_aio.admin.session import Session, in_session
from chat_aio.store.maintenance import stats as stored
from chat_aio.store.maintenance.stats import Busy, DayStats, rolled_until

NOTHING = "Nothing is rolled up yet: run chat-aio stats update"
SHOWN_DAYS = 30

DAYS = click.IntRange(1, 36_500)


def a_day(text: str) -> date:
    """A day such as 2026-01-31. Raises BadParameter."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a day, such as 2026-01-31") from None


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def stats() -> None:
    """Usage of the chat, day by day in UTC."""


@stats.command(name="update")
@click.option("--since", type=a_day, metavar="DAY", help="First day, even if rolled up before.")
@click.option("--until", type=a_day, metavar="DAY", help="Last day, in place of yesterday.")
@click.option("--keep-days", type=DAYS, metavar="DAYS", help="Remove rows of older days.")
@consenting
@reading
def update_command(
    since: date | None,
    until: date | None,
    keep_days: int | None,
    yes: bool,
    **given: Any,
) -> None:
    """Roll up the complete days since the last run; run it every day.

    With --keep-days it also removes rows, which cannot be undone. The server may be running. If it
    is interrupted, run it again: it continues where it stopped.
    """
    period = StatsPeriod(since=since, until=until, keep_days=keep_days)

    async def prepare(_: Session) -> None:
        """Do nothing: every run determines the days itself."""

    async def plan(session: Session, _: None) -> Plan:
        old = await count_old(session.context, period)
        removed = f", and remove {old:,} rows of days before the last {keep_days}"
        what = f"roll up the days that are complete{removed if keep_days else ''}"
        return Plan(what=what, document={"removed": old}, is_empty=not old)

    async def carry_out(session: Session, _: None) -> Outcome:
        done = await update(session.context, period, progress=progress_bar)
        entry = {
            "since": done.since,
            "before": done.until,
            "conversations": done.conversations,
            "rows": done.rows,
            "removed": done.removed,
        }
        begin = "the first message" if done.since is None else done.since
        removed = f", removed {done.removed:,}" if done.removed else ""
        text = (
            f"Rolled up from {begin} to before {done.until}: {done.conversations:,} conversations, "
            f"wrote {done.rows:,} rows{removed}."
        )
        return Outcome({"statistics": entry}, text)

    # A roll-up alone can be repeated, so it needs no confirmation.
    agreed = yes or keep_days is None
    in_session_with_consent(prepare, plan, carry_out, yes=agreed, **given)


@stats.command(name="show")
@click.option("--since", type=a_day, metavar="DAY", help="First day; by default 30 days are shown.")
@click.option("--until", type=a_day, metavar="DAY", help="Last day.")
@click.option(
    "--conversation", "conversation_id", type=an_id, metavar="ID", help="Only this conversation."
)
@listing
def show_command(
    since: date | None,
    until: date | None,
    conversation_id: str | None,
    as_json: bool,
    as_lines: bool,
    **place: Any,
) -> None:
    """Show messages, active users, active conversations and the median time to answer per day."""
    further = {} if conversation_id is None else {"conversationId": conversation_id}

    async def work(session: Session) -> Outcome:
        last = await _last_day(session)
        # No error: the statistics may just not have been rolled up yet.
        if last is None:
            return Outcome({"days": []}, _days_table([]), NOTHING)
        end = until or last
        begin = since or end - timedelta(days=SHOWN_DAYS - 1)
        chosen = stored.between(begin.isoformat(), end.isoformat(), **further)
        days = await stored.list_days(session.database, chosen)
        entries = [
            {
                "day": day.day,
                "messages": day.messages,
                "activeUsers": day.active_users,
                "activeConversations": day.active_conversations,
                "answers": day.answers,
                "medianSecondsToAnswer": day.median_seconds,
            }
            for day in days
        ]
        return Outcome({"days": entries}, _days_table(days))

    show(in_session(work, **place), as_json=as_json, as_lines=as_lines)


@stats.command(name="busiest")
@click.option("--days", type=DAYS, default=7, show_default=True, help="Number of most recent days.")
@click.option("--public", "is_public", is_flag=True, help="Only public channels.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Maximum number of rows, busiest first.",
)
@listing
def busiest_command(
    days: int, is_public: bool, limit: int, as_json: bool, as_lines: bool, **place: Any
) -> None:
    """List the conversations with the most messages."""
    further = {"public": True} if is_public else {}

    async def work(session: Session) -> Outcome:
        last = await _last_day(session)
        if last is None:
            return Outcome({"conversations": [], "more": False}, _busiest_table([]), NOTHING)
        begin = last - timedelta(days=days - 1)
        chosen = stored.between(begin.isoformat(), last.isoformat(), **further)
        rows = await stored.list_busiest(session.database, chosen, limit=limit + 1)
        entries = [
            {
                "conversationId": row.conversation_id,
                "name": row.name,
                "messages": row.messages,
                "activeDays": row.days,
            }
            for row in rows
        ]
        return listed("conversations", entries, _busiest_table(rows[:limit]), limit=limit)

    show(in_session(work, **place), as_json=as_json, as_lines=as_lines)


async def _last_day(session: Session) -> date | None:
    """The last day of the roll-up."""
    until = await rolled_until(session.database)
    return None if until is None else (until.astimezone(UTC) - timedelta(days=1)).date()


def _days_table(days: list[DayStats]) -> str:
    return table_of(
        ("DAY", "MESSAGES", "USERS", "CONVERSATIONS", "ANSWERS", "MEDIAN SECONDS"),
        [
            (
                day.day,
                day.messages,
                day.active_users,
                day.active_conversations,
                day.answers,
                day.median_seconds,
            )
            for day in days
        ],
    )


def _busiest_table(rows: list[Busy]) -> str:
    return table_of(
        ("CONVERSATION", "MESSAGES", "DAYS", "NAME"),
        [(row.conversation_id, row.messages, row.days, row.name) for row in rows],
    )
