"""`chat-aio webhooks`: pending events, and dead letters."""

from dataclasses import asdict
from typing import Any

import click

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.admin.options import an_id, limit, listing, reading
from chat_aio.admin.printing import Outcome, show, table_of
from chat_aio.admin.session import Session, in_session
from chat_aio.admin.tables import dead_letters_outcome, lease_entry
from chat_aio.plugins.webhooks.plugin import LEASES
from chat_aio.plugins.webhooks.rows import DeadLetters, Rows
from chat_aio.store.leases import load_leases

HEADS = {
    "webhook": "WEBHOOK",
    "eventId": "EVENT",
    "type": "TYPE",
    "conversationId": "CONVERSATION",
    "tries": "TRIES",
    "notBefore": "LAST TRY BEFORE",
    "error": "ERROR",
}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def webhooks() -> None:
    """Pending events of webhooks, and those that were given up."""


@webhooks.command()
@reading
def status(as_json: bool, **place: Any) -> None:
    """Show for each webhook which process posts its events, its progress, and the number
    pending."""

    async def work(session: Session) -> Outcome:
        api = PluginAPI(session.context)
        found = await load_leases(session.database, LEASES)
        leases = {name.removeprefix(LEASES): lease for name, lease in found.items()}
        entries: list[dict[str, object]] = []
        for name in sorted({*leases, *await DeadLetters(api).webhooks()}):
            backlog, progress = await Rows(api, name).backlog(), lease_entry(leases.get(name, {}))
            entries.append({"webhook": name, **progress, **asdict(backlog)})
        head = ("WEBHOOK", "HOLDER", "FENCE", "HELD UNTIL", "READ UNTIL", "WAITING", "DEAD")
        table = table_of(head, [[*entry.values()] for entry in entries])
        return Outcome({"webhooks": entries}, table)

    show(in_session(work, **place), as_json=as_json)


@webhooks.command()
@limit
@listing
def dead_letters(limit: int, as_json: bool, as_lines: bool, **place: Any) -> None:
    """List the events that were given up, with the last error."""

    async def work(session: Session) -> Outcome:
        found = await DeadLetters(PluginAPI(session.context)).list(limit=limit + 1)
        return dead_letters_outcome(found, HEADS, limit=limit)

    show(in_session(work, **place), as_json=as_json, as_lines=as_lines)


@webhooks.command()
@click.option("--webhook", metavar="NAME", help="Only of this webhook.")
@click.option("--conversation", type=an_id, metavar="ID", help="Only of this conversation.")
@click.option("--event", type=an_id, metavar="ID", help="Only this event.")
@click.option("--all", "of_all", is_flag=True, help="All of them.")
@reading
def retry(
    webhook: str | None,
    conversation: str | None,
    event: str | None,
    of_all: bool,
    as_json: bool,
    **place: Any,
) -> None:
    """Retry events that were given up, starting with the first attempt."""
    if of_all == bool(webhook or conversation or event):
        raise click.UsageError("give --webhook, --conversation or --event, or --all")

    async def work(session: Session) -> Outcome:
        letters = DeadLetters(PluginAPI(session.context))
        count = await letters.retry(webhook=webhook, conversationId=conversation, eventId=event)
        return Outcome({"retried": count}, f"{count:,} are tried again.")

    show(in_session(work, **place), as_json=as_json)
