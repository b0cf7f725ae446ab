"""`chat-aio moderation find` and `remove-message`."""

from typing import Any

import click

from chat_aio.actions.maintenance import removal
from chat_aio.admin.options import an_id, limit, moment, reading, writing
from chat_aio.admin.printing import Outcome, dry_run_outcome, listed, progress_bar, show
from chat_aio.admin.session import Session, in_session
from chat_aio.admin.tables import messages_table
from chat_aio.store import messages
from chat_aio.store.maintenance import finding
from chat_aio.store.maintenance.finding import Wanted
from chat_aio.store.tokenizer import terms_of


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

    The messages of a user or of a conversation are found by an index. A time span alone has no
    index: every conversation that was active since its beginning is read, from its end down. This
    takes long if there are many, or if the span lies far back. So does a term that hardly any
    message has. Deleted messages are shown as such; they have no terms.
    """
    chosen = {name: given.pop(name) for name in ("user_id", "conversation_id", "since", "until")}
    # A term alone is not enough: the text index can only be asked about known conversations.
    if not any(chosen.values()):
        beside = "--term needs" if text is not None else "give"
        raise click.UsageError(f"{beside} a --user, a --conversation, --since or --until")
    terms = tuple(dict.fromkeys(terms_of(text or "")))
    if text is not None and not terms:
        raise click.UsageError("--term: a letter or a digit is needed")
    wanted = Wanted(**chosen, terms=terms, most=limit + 1)

    async def work(session: Session) -> Outcome:
        database = session.database
        heads = await finding.list_heads(database, wanted)
        with progress_bar("Finding", sum(each["seq"] for each in heads)) as advance:
            found = await finding.list_newest(database, wanted, heads, advance)
        rows = await messages.with_previews(database, found)
        return listed("messages", rows, messages_table(rows[:limit]), limit=limit)

    show(in_session(work, **given), as_json=as_json)


@click.command("remove-message")
@click.argument("message_id", metavar="ID", type=an_id)
@writing
def remove_message(message_id: str, as_json: bool, **place: Any) -> None:
    """Empty a message for good; its place stays, and connected clients see it at once."""

    async def work(session: Session) -> Outcome:
        context, user_id = session.context, session.user_id
        plan = await removal.plan_removal(context, user_id, message_id)
        if session.dry_run and plan.is_new:
            return dry_run_outcome(f"remove message {message_id}", messageId=message_id)
        if session.dry_run:
            message, is_new = await removal.show(context, user_id, plan), False
        else:
            message, is_new = await removal.carry_out(context, user_id, plan)
        text = (
            f"Removed message {message_id} of {message.sender_id}."
            if is_new
            else f"Nothing done: message {message_id} is deleted already."
        )
        return Outcome({"message": message, "removed": is_new}, text)

    show(in_session(work, **place), as_json=as_json)
