"""`chat-aio conversations`: exports, imports and deletes whole conversations."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from chat_aio.actions.deletion import COMMAND
from chat_aio.actions.maintenance.conversations import deleting, importing
from chat_aio.actions.maintenance.conversations.deleting import PlannedDeletion, plan_deletions
from chat_aio.actions.maintenance.conversations.exporting import CannotExport, export_conversations
from chat_aio.actions.maintenance.conversations.file_reader import WrongFile
from chat_aio.actions.maintenance.conversations.importing import plan_import
from chat_aio.admin.consent import Plan, consenting, in_session_with_consent
from chat_aio.admin.files import opened
from chat_aio.admin.options import acting, an_id, reading
from chat_aio.admin.printing import Outcome, counted, progress_bar, show
from chat_aio.admin.session import Session, in_session, require_rights, resumable
from chat_aio.schema.inputs import ConversationDeletion, read
from chat_aio.store.maintenance.progress import Counts


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def conversations() -> None:
    """Export, import and delete whole conversations."""


@conversations.command("export")
@click.argument("conversation_ids", metavar="ID...", type=an_id, nargs=-1, required=True)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write to this new file instead of stdout.",
)
@reading
def export_(
    conversation_ids: tuple[str, ...], output: Path | None, as_json: bool, **place: Any
) -> None:
    """Write conversations with all their messages, for `conversations import`.

    The chat may be running. Messages sent to a conversation after its export has started are left
    out.
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
    # The reason alone: these are faults of the file or of the data, not of the program.
    except (OSError, CannotExport) as error:
        raise click.ClickException(str(error)) from error
    # Without --output the lines are on stdout, so the summary must not be.
    show(outcome, as_json=as_json, err=output is None)


@conversations.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--dry-run", is_flag=True, help="Read and compare everything, and write nothing.")
@reading
def import_(file: Path, dry_run: bool, as_json: bool, **place: Any) -> None:
    """Import conversations with all their messages; docs/guides/importing.md describes the format.

    Ids and times are kept. The chat may be running; a conversation appears when it is complete, and
    old messages cause no events. After an interruption run it again: imported data are kept.
    """

    async def work(session: Session) -> Outcome:
        plan = await plan_import(session.context, file, progress=progress_bar)
        if not dry_run:
            await importing.carry_out(session.context, plan, progress=progress_bar)
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

    try:
        with nullcontext() if dry_run else resumable():
            outcome = in_session(work, **place)
    except (OSError, WrongFile) as error:
        raise click.ClickException(f"{file}: {error}") from error
    show(outcome, as_json=as_json)


@conversations.command("delete")
@click.argument("conversation_ids", metavar="ID...", type=an_id, nargs=-1, required=True)
@click.option("--reason", metavar="TEXT", help="The reason, for the audit log.")
@consenting
@acting
def delete(conversation_ids: tuple[str, ...], reason: str | None, **place: Any) -> None:
    """Delete conversations with all their messages, for everybody and for good.

    The chat may be running: clients see it at once, and the rows are removed some at a time. After
    an interruption run it again, also for conversations that the chat was deleting itself.
    """

    async def prepare(session: Session) -> tuple[PlannedDeletion, ...]:
        await require_rights(session.database, COMMAND)
        read(ConversationDeletion, reason=reason)
        return await plan_deletions(session.context, session.user_id, conversation_ids)

    async def plan(_: Session, planned: tuple[PlannedDeletion, ...]) -> Plan:
        new = [found for found in planned if not found.is_deleted]
        counts = Counts(sum(found.messages for found in new), len(new))
        return Plan(
            what=f"delete {counted(counts)}",
            document={"deleted": asdict(counts), "deletedBefore": len(planned) - len(new)},
            remark=_remark(planned),
        )

    async def act(session: Session, planned: tuple[PlannedDeletion, ...]) -> Outcome:
        counts = await deleting.carry_out(
            session.context, session.user_id, planned, reason=reason, progress=progress_bar
        )
        before = sum(found.is_deleted for found in planned)
        document = {"deleted": asdict(counts), "deletedBefore": before}
        return Outcome(document, f"Deleted {counted(counts)}.", _remark(planned))

    in_session_with_consent(prepare, plan, act, **place)


def _remark(planned: Sequence[PlannedDeletion]) -> str | None:
    before = [found.conversation_id for found in planned if found.is_deleted]
    return f"Deleted before, and completed now: {', '.join(before)}." if before else None
