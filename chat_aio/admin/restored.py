"""`chat-aio mark-restored`: records that a backup was restored, and checks counters."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import click

from chat_aio.admin.consent import Plan, consenting, with_consent
from chat_aio.admin.options import reading
from chat_aio.admin.printing import FOUND, Outcome, progress_bar, show
from chat_aio.admin.session import on_database
from chat_aio.live.replay.from_storage import RESTORED_FOR
from chat_aio.schema.wire import timestamp
from chat_aio.server.sources import settings_from
from chat_aio.store.database import Database
from chat_aio.store.maintenance import restored as stored
from chat_aio.store.maintenance.restored import Behind
from chat_aio.store.settings import Settings


@dataclass(frozen=True, slots=True)
class _Found:
    """The heads that are behind, and the time of an earlier note of a restore."""

    behind: Sequence[Behind]
    noted: datetime | None


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--repair", is_flag=True, help="Raise counters that are behind their messages.")
@click.option("--undo", is_flag=True, help="Remove the note of a restore.")
@consenting
@reading
def mark_restored(
    *, repair: bool, undo: bool, dry_run: bool, yes: bool, as_json: bool, **given: Any
) -> None:
    """Record that a backup was restored, and check counters, before the chat is started.

    For seven days from then on, every client that returns with an unknown position, or with one
    from before the restore was noted, gets stream.reset and refetches. Each run restarts the seven
    days; --undo ends them. Exit code 3 if counters are behind and would assign numbers twice;
    --repair raises them.
    """
    if undo and repair:
        raise click.UsageError("--repair or --undo, not both")

    async def prepare(database: Database) -> _Found:
        noted = await Settings(database).restored_at()
        # No counters are read: --undo is about the note alone.
        if undo:
            return _Found([], noted)
        total = await database.read(database.counters.estimated_document_count)
        with progress_bar("Looking at counters", total) as advance:
            return _Found(await stored.heads_behind(database, advance), noted)

    async def plan(database: Database, found: _Found) -> Plan:
        noted = None if found.noted is None else timestamp(found.noted)
        if undo and noted is None:
            return Plan(what="do nothing: no restore is noted", is_empty=True)
        if undo:
            return Plan(
                what=f"remove the note of the restore at {noted}",
                remark="From then on clients resume from positions that the restore may have made "
                "wrong.",
            )
        lines = [_line(head, "would be raised from" if repair else "is") for head in found.behind]
        if noted is not None:
            lines.append(f"A restore is noted already, at {noted}.")
        lines.append(
            f"For {RESTORED_FOR.days} days clients with a position from before now get "
            "stream.reset and refetch; chat-aio mark-restored --undo ends that."
        )
        return Plan(
            what="note that a backup was restored now",
            document={"behind": [head.conversation_id for head in found.behind]},
            table="\n".join(lines),
        )

    async def carry_out(database: Database, found: _Found) -> Outcome:
        if undo:
            taken = await stored.take_back(database)
            said = "the note of the restore is removed" if taken else "no restore is noted"
            return Outcome({"undone": taken}, said)
        # Before the note, whose time clients compare with: numbers must be right by then.
        for head in found.behind if repair else ():
            await stored.raise_head(database, head)
        return _noted(await stored.note(database), found.behind, repair=repair)

    opened = partial(on_database, settings_from(**given))
    outcome = with_consent(opened, prepare, plan, carry_out, dry_run=dry_run, yes=yes)
    show(outcome, as_json=as_json)
    if outcome.document.get("behind") and not repair:
        raise click.exceptions.Exit(FOUND)


def _noted(at: datetime, behind: Sequence[Behind], *, repair: bool) -> Outcome:
    lines = [_line(head, "raised from" if repair else "is") for head in behind]
    lines.append(
        f"noted: restored at {timestamp(at)}; until {timestamp(at + RESTORED_FOR)} clients with an "
        "earlier position get stream.reset and refetch"
    )
    if repair or not behind:
        lines.append("no counter is behind its messages; chat-aio check checks everything else")
    document = {
        "restoredAt": timestamp(at),
        "behind": [head.conversation_id for head in behind],
        "repaired": repair,
    }
    return Outcome(document, "\n".join(lines))


def _line(head: Behind, done: str) -> str:
    return f"counter of {head.conversation_id} {done} {head.seq}, behind {head.newest}"
