"""`chat-aio moderation find`, `context` and `versions`."""

from collections.abc import Callable
from typing import Any

import click

from chat_aio.actions.guards import load_message
from chat_aio.actions.moderation_tools import find_messages as finding
from chat_aio.admin.options import an_id, limit, listing, moment
from chat_aio.admin.printing import Outcome, listed, progress_bar, show
from chat_aio.admin.session import Session, in_session
from chat_aio.admin.tables import messages_table, versions_table
from chat_aio.store import messages
from chat_aio.store.maintenance import find_messages as stored
from chat_aio.store.maintenance.find_messages import MessageCriteria
from chat_aio.store.tokenizer import terms_of

AROUND = click.IntRange(0, 500)

NARROWING = (
    click.option(
        "--conversation",
        "conversation_id",
        type=an_id,
        metavar="ID",
        help="Only messages of this conversation.",
    ),
    click.option(
        "--since",
        type=moment,
        metavar="TIME",
        help="Only messages from this time on, such as 2026-01-31T09:30:00Z.",
    ),
    click.option("--until", type=moment, metavar="TIME", help="Only messages up to this time."),
    click.option(
        "--contains", "text", help="Only messages with all these words; needs another option."
    ),
)


def narrowing(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that narrow the selection of messages."""
    # In reverse: click lists the option first that is applied last.
    for option in reversed(NARROWING):
        command = option(command)
    return command


def terms_in(text: str | None) -> tuple[str, ...]:
    """The words of `--contains`. Raises UsageError if there are none."""
    # As the index has them, so that both find the same.
    terms = tuple(dict.fromkeys(terms_of(text or "")))
    if text is not None and not terms:
        raise click.UsageError("--contains: a letter or a digit is needed")
    return terms


@click.command()
@click.option("--user", "user_id", type=an_id, metavar="ID", help="Only messages of this sender.")
@narrowing
@limit
@listing
def find(text: str | None, limit: int, as_json: bool, as_lines: bool, **given: Any) -> None:
    """Find messages, newest first; all given options must match.

    The messages of a user or of a conversation are found by an index. A time span alone has no
    index: every conversation that was active since the start of the span is read, from its end
    backwards. This takes long if there are many, or if the span is long ago. A term that hardly any
    message contains also takes long. Deleted messages are shown as deleted; they have no terms.
    """
    chosen = {name: given.pop(name) for name in ("user_id", "conversation_id", "since", "until")}
    # A term alone is not enough: the text index can only be queried for known conversations.
    if not any(chosen.values()):
        also = "--contains needs" if text is not None else "give"
        raise click.UsageError(f"{also} a --user, a --conversation, --since or --until")
    criteria = MessageCriteria(**chosen, terms=terms_in(text))

    async def work(session: Session) -> Outcome:
        database = session.database
        heads = await stored.list_heads(database, criteria)
        with progress_bar("Finding", sum(head["seq"] for head in heads)) as advance:
            found = await stored.list_newest(database, criteria, heads, advance, most=limit + 1)
        rows = await messages.with_previews(database, found)
        return listed("messages", rows, messages_table(rows[:limit]), limit=limit)

    show(in_session(work, **given), as_json=as_json, as_lines=as_lines)


@click.command()
@click.argument("message_id", metavar="ID", type=an_id)
@click.option("--before", type=AROUND, default=5, show_default=True, help="Messages before it.")
@click.option("--after", type=AROUND, default=5, show_default=True, help="Messages after it.")
@listing
def context(
    message_id: str, before: int, after: int, as_json: bool, as_lines: bool, **place: Any
) -> None:
    """Show a message with the messages around it, oldest first, replies in threads included."""

    async def work(session: Session) -> Outcome:
        database = session.database
        message = await load_message(session.context, message_id)
        found = await stored.list_around(database, message, before=before, after=after)
        rows = await messages.with_previews(database, found)
        return Outcome({"messages": rows}, messages_table(rows))

    show(in_session(work, **place), as_json=as_json, as_lines=as_lines)


@click.command()
@click.argument("message_id", metavar="ID", type=an_id)
@listing
def versions(message_id: str, as_json: bool, as_lines: bool, **place: Any) -> None:
    """Show the earlier versions of an edited, deleted or removed message, newest first."""

    async def work(session: Session) -> Outcome:
        found = await finding.list_versions(session.context, session.user_id, message_id)
        return Outcome({"versions": found}, versions_table(found))

    show(in_session(work, **place), as_json=as_json, as_lines=as_lines)
