"""`chat-aio moderation bans`, `ban` and `unban`."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import click

from chat_aio.actions.maintenance import bans as rules
from chat_aio.admin.options import an_id, limit, listing, moment, writing
from chat_aio.admin.printing import Outcome, dry_run_outcome, listed, show
from chat_aio.admin.session import Session, first, in_session
from chat_aio.admin.tables import bans_table
from chat_aio.schema import pagination
from chat_aio.schema.models import Ban
from chat_aio.schema.wire import timestamp

NOT_KNOWN = "This user has never written and is in no conversation: is the id right?"


@click.command()
@click.option("--all", "all_of_them", is_flag=True, help="Include bans that are over.")
@limit
@listing
def bans(all_of_them: bool, limit: int, as_json: bool, as_lines: bool, **place: Any) -> None:
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

        # One more than shown, so that the remark about further ones is right.
        found = await first(limit + 1, page)
        table = bans_table(found[:limit], at=session.context.clock())
        return listed("bans", found, table, limit=limit)

    show(in_session(work, **place), as_json=as_json, as_lines=as_lines)


@click.command()
@click.argument("user_id", metavar="USER", type=an_id)
@click.option("--reason", help="Reason, for moderators.")
@click.option("--until", type=moment, metavar="TIME", help="End, such as 2026-01-31T09:30:00Z.")
@click.option("--for", "days", type=click.IntRange(1, 36_500), help="Duration in days.")
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

    Banning again changes the duration: the ban in force is revoked and replaced by the new one.
    """
    if until is not None and days is not None:
        raise click.UsageError("give --until or --for, not both")

    async def work(session: Session) -> Outcome:
        ends = until if days is None else session.context.clock() + timedelta(days=days)
        plan = await rules.plan_ban(
            session.context, session.user_id, user_id, reason=reason, expires_at=ends
        )
        remark = None if plan.is_known else NOT_KNOWN
        if session.dry_run:
            standing = plan.standing
            instead = f" in place of ban {standing.id}" if standing else ""
            would = f"ban {user_id} {_lasting(plan.new['expiresAt'])}{instead}"
            if standing and not plan.changes:
                would = f"do nothing: {_stands(standing)}"
            return replace(dry_run_outcome(would, ban=standing), remark=remark)
        made, is_new = await rules.ban(session.context, plan)
        # Another moderator was faster; their ban stays.
        if not is_new:
            return Outcome({"ban": made}, f"Nothing done: {_stands(made)}.")
        said = f"Banned {user_id} {_lasting(ends)}: ban {made.id}."
        return Outcome({"ban": made}, said, remark)

    show(in_session(work, **place), as_json=as_json)


def _lasting(ends: datetime | None) -> str:
    return "for good" if ends is None else f"until {timestamp(ends)}"


def _stands(ban: Ban) -> str:
    return f"{ban.user_id} is banned already {_lasting(ban.expires_at)}, by ban {ban.id}"


@click.command()
@click.argument("ban_id", metavar="BAN_ID", type=an_id)
@writing
def unban(ban_id: str, as_json: bool, **place: Any) -> None:
    """Revoke a ban; its row is kept. `bans` lists the ids."""

    async def work(session: Session) -> Outcome:
        before = await rules.plan_unban(session.context, session.user_id, ban_id)
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
