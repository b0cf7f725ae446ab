"""Removing a message: as its sender deletes it, but by a moderator, and kept in the audit trail.

A plan says what is left to do; it is shown or carried out.
"""

from dataclasses import dataclass
from typing import Any

from chat_aio.actions import reading
from chat_aio.actions.attachments import release_attached
from chat_aio.actions.context import Context
from chat_aio.actions.editing import later_than
from chat_aio.actions.guards import load_message, require_user
from chat_aio.schema.models import Message
from chat_aio.store import audit, edits
from chat_aio.store.documents import AuditEntry, Change, MessageDocument
from chat_aio.store.hidden import NOTHING
from chat_aio.store.maintenance import audit_log

ACTION = "remove-message"


@dataclass(frozen=True, slots=True)
class Removal:
    """The message as it was found. `is_new` where it is no tombstone yet."""

    found: MessageDocument

    @property
    def is_new(self) -> bool:
        return not self.found["deletedAt"]


async def plan_removal(context: Context, user_id: str, message_id: str) -> Removal:
    """Find what is to be removed. Raises UserBanned and MessageNotFound."""
    await require_user(context, user_id)
    return Removal(await load_message(context, message_id))


async def show(context: Context, user_id: str, plan: Removal) -> Message:
    """The message of a plan as it goes out."""
    (shown,) = await reading.show(context, user_id, [plan.found], NOTHING)
    return shown


async def carry_out(
    context: Context, user_id: str, plan: Removal, *, reason: str | None = None
) -> tuple[Message, bool]:
    """Leave a tombstone where a message was; returns it, and whether it is new.

    Clients hear of it as of any deletion. If this ends between the tombstone and the row of the
    audit trail, removing the message again adds the row. Raises MessageNotFound.
    """
    message_id = plan.found["_id"]
    tombstone = None
    if plan.is_new:
        change = change_of(context, user_id, plan.found)
        tombstone = await edits.delete(
            context.database, message_id, change=change, history=context.history
        )
    if tombstone is not None:
        release_attached(context, [plan.found])
    shown = tombstone or await load_message(context, message_id)
    if tombstone or _is_removal(shown):
        row = entry_of(shown, shown["change"], reason=reason)
        await audit_log.add_once(context.database, row)
    return await show(context, user_id, Removal(shown)), tombstone is not None


def change_of(context: Context, user_id: str, found: MessageDocument) -> Change:
    """A new stamp of the removal of a message, as it is stored."""
    return {
        "id": context.new_id(),
        "at": later_than(found, context.clock()),
        "kind": "message.deleted",
        "actorId": user_id,
    }


def _is_removal(tombstone: MessageDocument) -> bool:
    """Whether somebody else than its sender has deleted a message."""
    change = tombstone.get("change")
    return (
        change is not None
        and change["kind"] == "message.deleted"
        and change["actorId"] != tombstone["senderId"]
    )


def entry_of(
    tombstone: MessageDocument, change: Change, *, reason: str | None = None
) -> AuditEntry:
    """The row that a message was removed. It has the id of the change, so there is one at most."""
    given: dict[str, Any] = {} if reason is None else {"reason": reason}
    return audit.entry(
        change["id"],
        ACTION,
        tombstone["_id"],
        actor_id=change["actorId"],
        at=change["at"],
        conversationId=tombstone["conversationId"],
        senderId=tombstone["senderId"],
        **given,
    )
