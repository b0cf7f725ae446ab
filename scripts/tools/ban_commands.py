"""Commands on bans."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import click

from chat_aio.errors import BanNotFound
from chat_aio.schema import pagination
from chat_aio.schema.models import Ban, timestamp
from chat_aio.store import bans as stored
from chat_aio.store.mapping import ban_from
from tools import shown
from tools.desk import Desk, WouldWrite, at_desk, first
from tools.options import an_id, limit, moment, reading, writing
from tools.printing import Outcome, listed, rehearsed, say


@click.command()
@click.option("--all", "all_of_them", is_flag=True, help="Those that are over as well.")
@limit
@reading
def bans(all_of_them: bool, limit: int, as_json: bool, **place: Any) -> None:
    """List the bans that are in force, newest first."""

    async def work(desk: Desk) -> Outcome:
        async def page(cursor: str | None) -> tuple[Sequence[Ban], str | None]:
            read = await desk.api.list_bans(
                desk.user_id, active_only=not all_of_them, limit=pagination.MAX_LIMIT, cursor=cursor
            )
            return read.bans, read.next_cursor

        found = await first(limit + 1, page)
        table = shown.bans_table(found[:limit], at=desk.api.clock())
        return listed("bans", found, table, limit=limit)

    say(at_desk(work, **place), as_json=as_json)


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

    async def work(desk: Desk) -> Outcome:
        ends = until if days is None else desk.api.clock() + timedelta(days=days)
        how = _lasting(ends)
        try:
            made = await desk.api.ban_user(desk.user_id, user_id, reason=reason, expires_at=ends)
        except WouldWrite:
            if standing := await _standing(desk, user_id):
                return rehearsed(f"do nothing: {_stands(standing)}", ban=standing)
            return rehearsed(f"ban {user_id} {how}", ban=None)
        if made.id not in desk.ids.taken:
            return Outcome({"ban": made}, f"Nothing done: {_stands(made)}.")
        return Outcome({"ban": made}, f"Banned {user_id} {how}: ban {made.id}.")

    say(at_desk(work, **place), as_json=as_json)


def _lasting(ends: datetime | None) -> str:
    return "for good" if ends is None else f"until {timestamp(ends)}"


def _stands(ban: Ban) -> str:
    return f"{ban.user_id} is banned already {_lasting(ban.expires_at)}, by ban {ban.id}"


async def _standing(desk: Desk, user_id: str) -> Ban | None:
    chosen = stored.active(user_id, at=desk.api.clock())
    found = await stored.list_newest(desk.database, chosen, position=None, limit=1)
    return ban_from(found[0]) if found else None


@click.command()
@click.argument("ban_id", metavar="BAN_ID", type=an_id)
@writing
def unban(ban_id: str, as_json: bool, **place: Any) -> None:
    """Revoke a ban; its row stays. `bans` names the ids."""

    async def work(desk: Desk) -> Outcome:
        found = await stored.find(desk.database, ban_id)
        before = ban_from(found) if found else None
        try:
            after = await desk.api.unban_user(desk.user_id, ban_id)
        except WouldWrite:
            if before is None:
                raise BanNotFound from None
            if before.revoked_at is not None:
                return rehearsed(f"do nothing: ban {ban_id} is revoked already", ban=before)
            return rehearsed(f"revoke the ban of {before.user_id}", ban=before)
        if before is not None and before.revoked_at is not None:
            return Outcome({"ban": after}, f"Nothing done: ban {ban_id} is revoked already.")
        return Outcome({"ban": after}, f"Revoked the ban of {after.user_id}.")

    say(at_desk(work, **place), as_json=as_json)
