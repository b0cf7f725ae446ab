"""The command line of `scripts/moderation`."""

from typing import Any

import click

from tools import ban_commands, message_commands, report_commands, shown, trail
from tools.desk import Desk, at_desk
from tools.options import an_id, limit, reading
from tools.printing import Outcome, listed, say


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Work on reports, bans and messages, on the chat's database.

    The server may run or not: where it does, it hears of everything at once. Whoever reaches the
    database may do this; --as says who it was.
    """


@main.command()
@click.option(
    "--target", "target_id", type=an_id, metavar="ID", help="Id of a report, a ban or a message."
)
@limit
@reading
def audit(target_id: str | None, limit: int, as_json: bool, **place: Any) -> None:
    """List what moderators decided, newest first."""

    async def work(desk: Desk) -> Outcome:
        rows = await trail.list_newest(desk.database, target_id=target_id, limit=limit + 1)
        table = shown.trail_table(rows[:limit])
        return listed("audit", [*map(trail.entry_from, rows)], table, limit=limit)

    say(at_desk(work, **place), as_json=as_json)


for command in (
    report_commands.reports,
    report_commands.report,
    report_commands.resolve,
    ban_commands.bans,
    ban_commands.ban,
    ban_commands.unban,
    message_commands.find,
    message_commands.remove,
):
    main.add_command(command)
