"""`chat-aio moderation`: reports, bans, messages, held messages and the audit log."""

from typing import Any

import click

from chat_aio.admin import bans, find_messages, held_messages, remove_messages
from chat_aio.admin import reports as report_commands
from chat_aio.admin.options import (
    an_id,
    limit,
    listing,
)
from chat_aio.admin.printing import Outcome, listed, show
from chat_aio.admin.session import Session, in_session
from chat_aio.admin.tables import audit_table
from chat_aio.store import audit as stored


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def moderation() -> None:
    """Work on reports, bans and messages, on the chat's database.

    The server may be running: every change takes effect there at once. Everyone with access to the
    database can do this; --as names the acting moderator.
    """


@moderation.command()
@click.option(
    "--target", "target_id", type=an_id, metavar="ID", help="Id of a report, a ban or a message."
)
@limit
@listing
def audit(target_id: str | None, limit: int, as_json: bool, as_lines: bool, **place: Any) -> None:
    """List moderators' decisions, newest first."""

    async def work(session: Session) -> Outcome:
        # From the store: the API of moderators has no list of the audit log.
        rows = await stored.list_newest(session.database, target_id=target_id, limit=limit + 1)
        table = audit_table(rows[:limit])
        return listed("audit", [*map(stored.entry_from, rows)], table, limit=limit)

    show(in_session(work, **place), as_json=as_json, as_lines=as_lines)


for _command in (
    report_commands.reports,
    report_commands.report,
    report_commands.update_report,
    bans.bans,
    bans.ban,
    bans.unban,
    held_messages.held,
    held_messages.release_held,
    held_messages.discard_held,
    find_messages.find,
    find_messages.context,
    find_messages.versions,
    remove_messages.remove_message,
    remove_messages.remove_messages,
    remove_messages.restore_message,
):
    moderation.add_command(_command)
