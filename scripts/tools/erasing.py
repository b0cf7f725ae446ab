"""The command line of `scripts/erase-user`: a pseudonym takes a user's place everywhere."""

import sys
from typing import Any

import click

from chat_aio.actions.context import Context, new_id
from chat_aio.actions.guards import user_action
from chat_aio.store import bans
from chat_aio.store.maintenance.erasure import Erasure
from chat_aio.store.maintenance.personal_data import PLACES
from chat_aio.store.maintenance.scanning import size_of
from tools.desk import Desk, at_desk
from tools.erase_steps import Eraser
from tools.options import an_id, writing
from tools.printing import Outcome, rehearsed, say, table_of

MOST_PASSES = 6


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("user_id", metavar="USER", type=an_id)
@writing
def main(user_id: str, moderator_id: str, as_json: bool, **place: Any) -> None:
    """Erase a user: their messages are emptied, and a pseudonym stands in their place.

    Close their account first, or ban them: what they write meanwhile is looked for until nothing
    more comes. Run it again after it was cut short. It cannot be taken back.
    """
    if user_id == moderator_id:
        raise click.UsageError("nobody erases themselves: --as is kept in the audit trail")

    async def work(desk: Desk) -> Outcome:
        eraser = await _erase(desk.api, desk.user_id, user_id, dry_run=desk.ids.dry_run)
        in_force = await _list_in_force(desk, user_id)
        return _told(eraser, in_force)

    say(at_desk(work, moderator_id=moderator_id, **place), as_json=as_json)


@user_action
async def _erase(context: Context, moderator_id: str, user_id: str, *, dry_run: bool) -> Eraser:
    """Erase a user; a dry run counts what there is. Who does it must not be banned."""
    of = Erasure(
        user_id=user_id,
        pseudonym="" if dry_run else await context.settings.pseudonym(user_id),
        clock=context.clock,
        new_id=new_id,
    )
    eraser = Eraser(context=context, of=of, moderator_id=moderator_id, dry_run=dry_run)
    label = "Counting" if dry_run else "Erasing"
    for _ in range(MOST_PASSES):
        if not await _pass_over(eraser, label) or dry_run:
            return eraser
        label = "Looking again"
    raise click.ClickException(
        f"{user_id} goes on writing: close the account or ban it, then run this again"
    )


async def _pass_over(eraser: Eraser, label: str) -> bool:
    length = await size_of(eraser.context.database, PLACES)
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        return await eraser.pass_over(bar.update)


async def _list_in_force(desk: Desk, user_id: str) -> list[str]:
    chosen = bans.active(user_id, at=desk.api.clock())
    found = await desk.database.read(
        lambda: desk.database.bans.find(chosen, {"_id": 1}).to_list(None)
    )
    return [str(each["_id"]) for each in found]


def _told(eraser: Eraser, in_force: list[str]) -> Outcome:
    user_id, pseudonym = eraser.of.user_id, eraser.of.pseudonym
    counts = dict(sorted(eraser.counts.items()))
    found = {"userId": user_id, "counts": counts, "bansInForce": in_force}
    table = table_of(("COUNT", "KIND"), [(count, kind) for kind, count in counts.items()])
    if eraser.dry_run:
        would = rehearsed(f"erase {user_id}", **found)
        return Outcome(would.document, f"{table}\n{would.text}", _remark(user_id, in_force))
    done = f"{table}\nErased {user_id}, who is {pseudonym} now."
    text = done if counts else "Nothing done: nothing is left to erase."
    return Outcome({"pseudonym": pseudonym, **found}, text, _remark(user_id, in_force))


def _remark(user_id: str, in_force: list[str]) -> str | None:
    if not in_force:
        return None
    return f"A ban in force still names {user_id}: run this again when it is over."
