"""`chat-aio conversations`: whole conversations as JSON lines, written and read."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from chat_aio.actions.maintenance.conversations import importing
from chat_aio.actions.maintenance.conversations.exporting import CannotExport, export_conversations
from chat_aio.actions.maintenance.conversations.file_reader import WrongFile
from chat_aio.actions.maintenance.conversations.importing import ImportPlan, plan_import
from chat_aio.admin.files import opened
from chat_aio.admin.options import an_id, reading
from chat_aio.admin.printing import Outcome, counted, progress_bar, show
from chat_aio.admin.session import Session, in_session, resumable


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def conversations() -> None:
    """Move whole conversations: write them as JSON lines, and read such lines."""


@conversations.command("export")
@click.argument("conversation_ids", metavar="ID...", type=an_id, nargs=-1, required=True)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write to this file, which must not be there, instead of stdout.",
)
@reading
def export_(
    conversation_ids: tuple[str, ...], output: Path | None, as_json: bool, **place: Any
) -> None:
    """Write conversations with all their messages, for `conversations import`.

    The chat may run. What is sent to a conversation once it has begun to be written is left out.
    """

    async def work(session: Session) -> Outcome:
        with opened(output) as file:
            counts = await export_conversations(
                session.database, conversation_ids, file.write, progress=progress_bar
            )
        document = {
            "output": output and str(output),
            "conversations": counts.conversations,
            "messages": counts.messages,
        }
        return Outcome(document, f"Exported {counted(counts)}.")

    try:
        outcome = in_session(work, **place)
    except (OSError, CannotExport) as error:
        raise click.ClickException(str(error)) from error
    show(outcome, as_json=as_json, err=output is None)


@conversations.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--dry-run", is_flag=True, help="Read and compare everything, and write nothing.")
@reading
def import_(file: Path, dry_run: bool, as_json: bool, **place: Any) -> None:
    """Read conversations with all their messages, as docs/importing.md describes them.

    Ids and times stay. The chat may run; a conversation appears when it is complete, and nobody
    gets events of old messages. Run it again if it was interrupted: what is there already stays.
    """

    async def work(session: Session) -> Outcome:
        plan = await plan_import(session.context, file, progress=progress_bar)
        if not dry_run:
            await importing.carry_out(session.context, plan, progress=progress_bar)
        return _outcome(plan, dry_run=dry_run)

    try:
        with nullcontext() if dry_run else resumable():
            outcome = in_session(work, **place)
    except (OSError, WrongFile) as error:
        raise click.ClickException(f"{file}: {error}") from error
    show(outcome, as_json=as_json)


def _outcome(plan: ImportPlan, *, dry_run: bool) -> Outcome:
    new, unchanged = plan.counts(new=True), plan.counts(new=False)
    document: dict[str, object] = {
        "conversations": new.conversations,
        "messages": new.messages,
        "unchanged": {"conversations": unchanged.conversations, "messages": unchanged.messages},
    }
    said = [f"{'Would import' if dry_run else 'Imported'} {counted(new)}."]
    if unchanged.conversations:
        said.append(f"There already: {counted(unchanged)}.")
    if dry_run:
        document = {"dryRun": True, **document}
        said.append("Dry run: nothing was written.")
    return Outcome(document, "\n".join(said))
