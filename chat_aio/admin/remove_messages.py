"""`chat-aio moderation remove-message`, `remove-messages` and `restore-message`."""

from dataclasses import asdict
from typing import Any

import click

from chat_aio.actions.maintenance import remove_messages as rules
from chat_aio.actions.maintenance.remove_messages import BulkRemoval, Removal
from chat_aio.actions.moderation_tools import restoring
from chat_aio.admin.consent import Plan, consenting, in_session_with_consent
from chat_aio.admin.find_messages import narrowing, terms_in
from chat_aio.admin.options import acting, an_id, writing
from chat_aio.admin.printing import Outcome, counted, dry_run_outcome, progress_bar, show
from chat_aio.admin.session import Session, in_session
from chat_aio.store.maintenance.find_messages import MessageCriteria


@click.command("remove-message")
@click.argument("message_id", metavar="ID", type=an_id)
@consenting
@acting
def remove_message(message_id: str, **place: Any) -> None:
    """Empty a message; its place stays, and connected clients see it at once.

    It is kept for a while, for restore-message, only if the option moderation_tools is on.
    """

    async def prepare(session: Session) -> Removal:
        return await rules.plan_removal(session.context, session.user_id, message_id)

    async def plan(session: Session, found: Removal) -> Plan:
        # A removal that is done already may lack its row in the audit log: it is carried out again.
        if found.is_new:
            what = f"remove message {message_id} of {found.found['senderId']}"
            return Plan(what=what, document={"messageId": message_id})
        shown = await rules.show(session.context, session.user_id, found)
        what = f"do nothing: message {message_id} is deleted already"
        return Plan(what=what, document={"message": shown}, is_empty=True)

    async def carry_out(session: Session, found: Removal) -> Outcome:
        message, is_new = await rules.remove(session.context, session.user_id, found)
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
    """Restore a message that a moderator has removed, as long as it is kept
    (message_version_days)."""
    is_there = f"message {message_id} is not removed"

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


@click.command("remove-messages")
@click.option(
    "--user", "user_id", type=an_id, metavar="ID", required=True, help="Sender of the messages."
)
@narrowing
@consenting
@acting
def remove_messages(text: str | None, **given: Any) -> None:
    """Empty many messages of a user; clients see it at once.

    All given options must match. Messages are removed a hundred at a time, every message with its
    row in the audit log, so an interrupted run can be repeated. Messages sent after the start are
    kept.
    """
    chosen = {name: given.pop(name) for name in ("user_id", "conversation_id", "since", "until")}
    criteria = MessageCriteria(**chosen, terms=terms_in(text))

    async def prepare(session: Session) -> BulkRemoval:
        return await rules.plan_removals(session.context, session.user_id, criteria)

    async def plan(session: Session, found: BulkRemoval) -> Plan:
        counts = await rules.count_removals(session.context, found, progress=progress_bar)
        what = f"remove {counted(counts)} of {criteria.user_id}"
        document = {"removed": asdict(counts)}
        return Plan(what=what, document=document, is_empty=not counts.messages)

    async def carry_out(session: Session, found: BulkRemoval) -> Outcome:
        done = await rules.remove_many(
            session.context, session.user_id, found, progress=progress_bar
        )
        return Outcome({"removed": asdict(done)}, f"Removed {counted(done)} of {criteria.user_id}.")

    in_session_with_consent(prepare, plan, carry_out, **given)
