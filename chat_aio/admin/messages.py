"""`chat-aio moderation find`, `context`, `remove-message` and `remove-messages`."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import click

from chat_aio.actions.desk import looking, restoring
from chat_aio.actions.guards import load_message
from chat_aio.actions.maintenance import bulk_removal, removal
from chat_aio.actions.maintenance.bulk_removal import BulkRemoval
from chat_aio.actions.maintenance.removal import Removal
from chat_aio.admin.consent import Plan, consenting, in_session_with_consent
from chat_aio.admin.options import acting, an_id, limit, listing, moment, writing
from chat_aio.admin.printing import Outcome, counted, dry_run_outcome, listed, progress_bar, show
from chat_aio.admin.session import Session, in_session
from chat_aio.admin.tables import messages_table, versions_table
from chat_aio.store import messages
from chat_aio.store.maintenance import finding
from chat_aio.store.maintenance.finding import Wanted
from chat_aio.store.tokenizer import terms_of

AROUND = click.IntRange(0, 500)

NARROWING = (
    click.option(
        "--conversation",
        "conversation_id",
        type=an_id,
        metavar="ID",
        help="Those of this conversation.",
    ),
    click.option(
        "--since",
        type=moment,
        metavar="TIME",
        help="Those from this time on, as 2026-01-31T09:30:00Z.",
    ),
    click.option("--until", type=moment, metavar="TIME", help="Those up to this time."),
    click.option("--term", "text", help="Those with all the words of this; beside another option."),
)


def narrowing(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that narrow which messages are meant."""
    for option in reversed(NARROWING):
        command = option(command)
    return command


def terms_in(text: str | None) -> tuple[str, ...]:
    """The words of `--term`. Raises UsageError if there are none."""
    terms = tuple(dict.fromkeys(terms_of(text or "")))
    if text is not None and not terms:
        raise click.UsageError("--term: a letter or a digit is needed")
    return terms


@click.command()
@click.option("--user", "user_id", type=an_id, metavar="ID", help="Those that this user has sent.")
@narrowing
@limit
@listing
def find(text: str | None, limit: int, as_json: bool, as_lines: bool, **given: Any) -> None:
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
    wanted = Wanted(**chosen, terms=terms_in(text))

    async def work(session: Session) -> Outcome:
        database = session.database
        heads = await finding.list_heads(database, wanted)
        with progress_bar("Finding", sum(each["seq"] for each in heads)) as advance:
            found = await finding.list_newest(database, wanted, heads, advance, most=limit + 1)
        rows = await messages.with_previews(database, found)
        return listed("messages", rows, messages_table(rows[:limit]), limit=limit)

    show(in_session(work, **given), as_json=as_json, as_lines=as_lines)


@click.command()
@click.argument("message_id", metavar="ID", type=an_id)
@click.option("--before", type=AROUND, default=5, show_default=True, help="So many before it.")
@click.option("--after", type=AROUND, default=5, show_default=True, help="So many after it.")
@listing
def context(
    message_id: str, before: int, after: int, as_json: bool, as_lines: bool, **place: Any
) -> None:
    """Show a message with what was written around it, oldest first, replies in threads included."""

    async def work(session: Session) -> Outcome:
        database = session.database
        message = await load_message(session.context, message_id)
        found = await finding.list_around(database, message, before=before, after=after)
        rows = await messages.with_previews(database, found)
        return Outcome({"messages": rows}, messages_table(rows))

    show(in_session(work, **place), as_json=as_json, as_lines=as_lines)


@click.command("remove-message")
@click.argument("message_id", metavar="ID", type=an_id)
@consenting
@acting
def remove_message(message_id: str, **place: Any) -> None:
    """Empty a message; its place stays, and connected clients see it at once.

    Only with the option moderation_desk is it kept for a while, for restore-message.
    """

    async def prepare(session: Session) -> Removal:
        return await removal.plan_removal(session.context, session.user_id, message_id)

    async def plan(session: Session, found: Removal) -> Plan:
        if found.is_new:
            what = f"remove message {message_id} of {found.found['senderId']}"
            return Plan(what=what, document={"messageId": message_id})
        shown = await removal.show(session.context, session.user_id, found)
        what = f"do nothing: message {message_id} is deleted already"
        return Plan(what=what, document={"message": shown}, is_empty=True)

    async def carry_out(session: Session, found: Removal) -> Outcome:
        message, is_new = await removal.carry_out(session.context, session.user_id, found)
        text = (
            f"Removed message {message_id} of {message.sender_id}."
            if is_new
            else f"Nothing done: message {message_id} is deleted already."
        )
        return Outcome({"message": message, "removed": is_new}, text)

    in_session_with_consent(prepare, plan, carry_out, **place)


@click.command("restore-message")
@click.argument("message_id", metavar="ID", type=an_id)
@writing
def restore_message(message_id: str, as_json: bool, **place: Any) -> None:
    """Put back what a moderator has removed, as long as it is kept (history_days)."""
    is_there = f"message {message_id} is there"

    async def work(session: Session) -> Outcome:
        context, user_id = session.context, session.user_id
        if session.dry_run:
            found = await restoring.require_restorable(context, user_id, message_id)
            said = f"restore message {message_id}" if found else f"do nothing: {is_there}"
            return dry_run_outcome(said, messageId=message_id)
        message, is_new = await restoring.restore(context, user_id, message_id)
        done = f"Restored message {message_id}." if is_new else f"Nothing done: {is_there}."
        return Outcome({"message": message, "restored": is_new}, done)

    show(in_session(work, **place), as_json=as_json)


@click.command()
@click.argument("message_id", metavar="ID", type=an_id)
@listing
def versions(message_id: str, as_json: bool, as_lines: bool, **place: Any) -> None:
    """Show what a message was before it was edited, deleted or removed, newest first."""

    async def work(session: Session) -> Outcome:
        found = await looking.list_versions(session.context, session.user_id, message_id)
        return Outcome({"versions": found}, versions_table(found))

    show(in_session(work, **place), as_json=as_json, as_lines=as_lines)


@click.command("remove-messages")
@click.option(
    "--user", "user_id", type=an_id, metavar="ID", required=True, help="Those that they have sent."
)
@narrowing
@consenting
@acting
def remove_messages(text: str | None, **given: Any) -> None:
    """Empty many messages of a user; clients see it at once.

    All given options must match. Messages are removed a hundred at a time, each with its row in the
    audit trail, so an interrupted run can be repeated. Messages that are sent after the beginning
    stay.
    """
    chosen = {name: given.pop(name) for name in ("user_id", "conversation_id", "since", "until")}
    wanted = Wanted(**chosen, terms=terms_in(text))

    async def prepare(session: Session) -> BulkRemoval:
        return await bulk_removal.plan_removals(session.context, session.user_id, wanted)

    async def plan(session: Session, found: BulkRemoval) -> Plan:
        counts = await bulk_removal.count(session.context, found, progress=progress_bar)
        what = f"remove {counted(counts)} of {wanted.user_id}"
        document = {"removed": asdict(counts)}
        return Plan(what=what, document=document, is_empty=not counts.messages)

    async def carry_out(session: Session, found: BulkRemoval) -> Outcome:
        done = await bulk_removal.carry_out(
            session.context, session.user_id, found, progress=progress_bar
        )
        return Outcome({"removed": asdict(done)}, f"Removed {counted(done)} of {wanted.user_id}.")

    in_session_with_consent(prepare, plan, carry_out, **given)
