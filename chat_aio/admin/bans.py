"""`chat-aio moderation bans`, `ban` and `unban`."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import click

from chat_aio.actions.maintenance import decisions
from chat_aio.admin.options import an_id, limit, moment, reading, writing
from chat_aio.admin.printing import Outcome, dry_run_outcome, listed, show
from chat_aio.admin.session import Session, first, in_session
from chat_aio.admin.tables import bans_table
from chat_aio.schema import pagination
from chat_aio.schema.models import Ban, timestamp


@click.command()
@click.option("--all", "all_of_them", is_flag=True, help="Those that are over as well.")
@limit
@reading
def bans(all_of_them: bool, limit: int, as_json: bool, **place: Any) -> None:
    """List the bans that are in force, newest first."""

    async def work(session: Session) -> Outcome:
        async def page(cursor: str | None) -> tuple[Sequence[Ban], str | None]:
            read = await session.api.list_bans(
                session.user_id,
                active_only=not all_of_them,
                limit=pagination.MAX_LIMIT,
                cursor=cursor,
            )
            return read.bans, read.next_cursor

        found = await first(limit + 1, page)
        table = bans_table(found[:limit], at=session.context.clock())
        return listed("bans", found, table, limit=limit)

    show(in_session(work, **place), as_json=as_json)


@click.command()
@click.argument("user_id", metavar="USER", type=an_id)
@click.option("--reason", help="Why; for moderators.")
@click.option("--until", type=moment, metavar="TIME", help="When it ends, as 2026-01-31T09:30:00Z.")
@click.option("--for", "days", type=click.IntRange(1, 36_500), help="How many days it lasts.")
@writing
def ban(
    user_id: str,
    reason: str | None,
    until: datetime | None,
    days: int | None,
    as_json: bool,
    **place: Any,
) -> None:
    """Keep a user out, for a time or for good; their open streams end.

    Who is banned already stays so, as it was decided then: unban first to change it.
    """
    if until is not None and days is not None:
        raise click.UsageError("--until or --for, not both")

    async def work(session: Session) -> Outcome:
        ends = until if days is None else session.context.clock() + timedelta(days=days)
        plan = await decisions.plan_ban(
            session.context, session.user_id, user_id, reason=reason, expires_at=ends
        )
        how = _lasting(ends)
        if session.dry_run and plan.standing:
            stands = f"do nothing: {_stands(plan.standing)}"
            return dry_run_outcome(stands, ban=plan.standing)
        if session.dry_run:
            return dry_run_outcome(f"ban {user_id} {how}", ban=None)
        made, is_new = await decisions.ban(session.context, plan)
        if not is_new:
            return Outcome({"ban": made}, f"Nothing done: {_stands(made)}.")
        return Outcome({"ban": made}, f"Banned {user_id} {how}: ban {made.id}.")

    show(in_session(work, **place), as_json=as_json)


def _lasting(ends: datetime | None) -> str:
    return "for good" if ends is None else f"until {timestamp(ends)}"


def _stands(ban: Ban) -> str:
    return f"{ban.user_id} is banned already {_lasting(ban.expires_at)}, by ban {ban.id}"


@click.command()
@click.argument("ban_id", metavar="BAN_ID", type=an_id)
@writing
def unban(ban_id: str, as_json: bool, **place: Any) -> None:
    """Revoke a ban; its row stays. `bans` names the ids."""

    async def work(session: Session) -> Outcome:
        before = await decisions.plan_unban(session.context, session.user_id, ban_id)
        is_over = before.revoked_at is not None
        if session.dry_run and is_over:
            return dry_run_outcome(f"do nothing: ban {ban_id} is revoked already", ban=before)
        if session.dry_run:
            return dry_run_outcome(f"revoke the ban of {before.user_id}", ban=before)
        after = await session.api.unban_user(session.user_id, ban_id)
        if is_over:
            return Outcome({"ban": after}, f"Nothing done: ban {ban_id} is revoked already.")
        return Outcome({"ban": after}, f"Revoked the ban of {after.user_id}.")

    show(in_session(work, **place), as_json=as_json)
