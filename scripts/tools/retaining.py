"""The command of `scripts/retention`."""

from datetime import timedelta
from typing import Any

import click

from chat_aio.schema.models import timestamp
from tools.desk import Desk, at_desk
from tools.options import an_id, writing
from tools.printing import Outcome, rehearsed, say
from tools.retention_run import Counts, Wanted, rehearse, retain


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--older-than",
    "days",
    type=click.IntRange(1, 36_500),
    required=True,
    metavar="DAYS",
    help="How old a message may become.",
)
@click.option(
    "--remove", "removes", is_flag=True, help="Leave nothing of them, in place of tombstones."
)
@click.option(
    "--conversation",
    "conversation_id",
    type=an_id,
    metavar="ID",
    help="Only those of this conversation.",
)
@writing
def main(
    days: int, removes: bool, conversation_id: str | None, as_json: bool, **place: Any
) -> None:
    """Delete messages that are older than some days, in all conversations.

    A deleted message leaves a tombstone, as when its sender deletes it, and connected clients see
    it at once. With --remove nothing is left and clients are not told. Both are for good. The
    server may run or not. What was cut short is finished by running it again.
    """

    async def work(desk: Desk) -> Outcome:
        before = desk.api.clock() - timedelta(days=days)
        wanted = Wanted(before=before, removes=removes, conversation_id=conversation_id)
        if desk.ids.dry_run:
            found = await rehearse(desk.api, desk.user_id, wanted)
            verb = "remove" if removes else "delete"
            return rehearsed(f"{verb} {_told(wanted, found)}", retention=_document(wanted, found))
        done = await retain(desk.api, desk.user_id, wanted)
        verb = "Removed" if removes else "Deleted"
        return Outcome({"retention": _document(wanted, done)}, f"{verb} {_told(wanted, done)}.")

    say(at_desk(work, **place), as_json=as_json)


def _told(wanted: Wanted, counts: Counts) -> str:
    messages = _number(counts.messages, "message")
    conversations = _number(counts.conversations, "conversation")
    return f"{messages} in {conversations}, from before {timestamp(wanted.before)}"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _document(wanted: Wanted, counts: Counts) -> dict[str, object]:
    return {
        "mode": wanted.mode,
        "conversationId": wanted.conversation_id,
        "olderThan": timestamp(wanted.before),
        "messages": counts.messages,
        "conversations": counts.conversations,
    }
