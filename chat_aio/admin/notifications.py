"""`chat-aio notifications`: pending notifications, and dead letters."""

from dataclasses import asdict
from typing import Any

import click

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.admin.options import an_id, limit, listing, reading
from chat_aio.admin.printing import Outcome, card_of, json_value, show
from chat_aio.admin.session import Session, in_session
from chat_aio.admin.tables import dead_letters_outcome, lease_entry
from chat_aio.plugins.notifications.rows import Rows
from chat_aio.plugins.notifications.working import NAME
from chat_aio.store.leases import load_leases

HEADS = {
    "userId": "USER",
    "messageId": "MESSAGE",
    "conversationId": "CONVERSATION",
    "tries": "TRIES",
    "notBefore": "LAST TRY BEFORE",
    "error": "ERROR",
}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def notifications() -> None:
    """Pending notifications, and those that were given up."""


@notifications.command()
@reading
def status(as_json: bool, **place: Any) -> None:
    """Show which process delivers notifications, its progress, and the number pending."""

    async def work(session: Session) -> Outcome:
        rows = Rows(PluginAPI(session.context))
        backlog, due = await rows.backlog(), await rows.next_due()
        leases = await load_leases(session.database, NAME)
        fields = {
            **lease_entry(leases.get(NAME, {})),
            "nextDue": json_value(due),
            **asdict(backlog),
        }
        return Outcome({"notifications": fields}, card_of(fields))

    show(in_session(work, **place), as_json=as_json)


@notifications.command()
@limit
@listing
def dead_letters(limit: int, as_json: bool, as_lines: bool, **place: Any) -> None:
    """List the notifications that were given up, with the last error."""

    async def work(session: Session) -> Outcome:
        found = await Rows(PluginAPI(session.context)).dead(limit=limit + 1)
        return dead_letters_outcome(found, HEADS, limit=limit)

    show(in_session(work, **place), as_json=as_json, as_lines=as_lines)


@notifications.command()
@click.option("--user", "user_id", type=an_id, metavar="ID", help="Only for this user.")
@click.option("--message", "message_id", type=an_id, metavar="ID", help="Only of this message.")
@click.option("--all", "of_all", is_flag=True, help="All of them.")
@reading
def retry(
    user_id: str | None, message_id: str | None, of_all: bool, as_json: bool, **place: Any
) -> None:
    """Retry notifications that were given up, starting with the first attempt."""
    if of_all == bool(user_id or message_id):
        raise click.UsageError("give --user or --message, or --all")

    async def work(session: Session) -> Outcome:
        count = await Rows(PluginAPI(session.context)).retry(userId=user_id, messageId=message_id)
        return Outcome({"retried": count}, f"{count:,} are tried again.")

    show(in_session(work, **place), as_json=as_json)
