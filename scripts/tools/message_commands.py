"""Commands on messages."""

import sys
from typing import Any

import click

from chat_aio.store import messages
from chat_aio.store.tokenizer import terms_of
from tools import finding, shown
from tools.desk import Desk, WouldWrite, at_desk
from tools.finding import Wanted
from tools.options import an_id, limit, moment, reading, writing
from tools.printing import Outcome, listed, rehearsed, say
from tools.removing import remove_message


@click.command()
@click.option("--user", "user_id", type=an_id, metavar="ID", help="Those that this user has sent.")
@click.option(
    "--conversation",
    "conversation_id",
    type=an_id,
    metavar="ID",
    help="Those of this conversation.",
)
@click.option(
    "--since", type=moment, metavar="TIME", help="Those from this time on, as 2026-01-31T09:30:00Z."
)
@click.option("--until", type=moment, metavar="TIME", help="Those up to this time.")
@click.option("--term", "text", help="Those with all the words of this; beside another option.")
@limit
@reading
def find(text: str | None, limit: int, as_json: bool, **given: Any) -> None:
    """Find messages, newest first; the options together narrow it.

    A user's and a conversation's messages are found along indexes. A bare time span has none: every
    conversation that was active since its beginning is gone through, from its end down, and that
    takes its time where there are many, or where the span lies far back. So does a term that
    hardly any message has. Deleted messages are shown as such; they have no terms.
    """
    chosen = {name: given.pop(name) for name in ("user_id", "conversation_id", "since", "until")}
    if not any(chosen.values()):
        beside = "--term needs" if text is not None else "give"
        raise click.UsageError(f"{beside} a --user, a --conversation, --since or --until")
    terms = tuple(dict.fromkeys(terms_of(text or "")))
    if text is not None and not terms:
        raise click.UsageError("--term: a letter or a digit is needed")
    wanted = Wanted(**chosen, terms=terms, most=limit + 1)

    async def work(desk: Desk) -> Outcome:
        database = desk.database
        heads = await finding.list_heads(database, wanted)
        places = sum(each["seq"] for each in heads)
        with click.progressbar(length=places, label="Finding", file=sys.stderr) as bar:
            found = await finding.list_newest(database, wanted, heads, bar.update)
        rows = await messages.with_previews(database, found)
        return listed("messages", rows, shown.messages_table(rows[:limit]), limit=limit)

    say(at_desk(work, **given), as_json=as_json)


@click.command("remove-message")
@click.argument("message_id", metavar="ID", type=an_id)
@writing
def remove(message_id: str, as_json: bool, **place: Any) -> None:
    """Empty a message for good; its place stays, and connected clients see it at once."""

    async def work(desk: Desk) -> Outcome:
        try:
            message, removed = await remove_message(
                desk.api, desk.user_id, message_id, mends=not desk.ids.dry_run
            )
        except WouldWrite:
            return rehearsed(f"remove message {message_id}", messageId=message_id)
        if not removed:
            text = f"Nothing done: message {message_id} is deleted already."
            return Outcome({"message": message, "removed": False}, text)
        text = f"Removed message {message_id} of {message.sender_id}."
        return Outcome({"message": message, "removed": True}, text)

    say(at_desk(work, **place), as_json=as_json)
