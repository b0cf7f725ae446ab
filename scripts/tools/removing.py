"""Removing a message: as its sender deletes it, but by a moderator, and kept in the trail."""

from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_message, user_action
from chat_aio.schema.models import Message
from chat_aio.store import audit, edits, messages
from chat_aio.store.documents import Change, MessageDocument
from chat_aio.store.mapping import message_from
from chat_aio.store.transactions import Session, Unchanged, transact

ACTION = "remove-message"


@user_action
async def remove_message(
    context: Context, user_id: str, message_id: str, *, mends: bool = True
) -> tuple[Message, bool]:
    """Leave a tombstone where a message was; returns it, and whether it is new.

    Clients hear of it as of any deletion. Should this end between the tombstone and the row of the
    trail, removing it again adds the row, where it `mends`. Raises MessageNotFound.
    """
    found = await load_message(context, message_id)
    tombstone = None
    if not found["deletedAt"]:
        tombstone = await edits.delete(
            context.database, message_id, change=_change(context, user_id)
        )
    shown = tombstone or await load_message(context, message_id)
    if tombstone or (mends and _is_removal(shown)):
        await _record(context, shown, shown["change"])
    parents = await messages.find_parents(context.database, [shown])
    return message_from(shown, parents), tombstone is not None


def _change(context: Context, user_id: str) -> Change:
    return {
        "id": context.new_id(),
        "at": context.clock(),
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


async def _record(context: Context, tombstone: MessageDocument, change: Change) -> None:
    """Add to the trail that a message was removed, once: the row has the id of the change."""

    async def body(session: Session) -> None:
        if await context.database.audit.find_one({"_id": change["id"]}, session=session):
            raise Unchanged(None)
        row = audit.entry(
            change["id"],
            ACTION,
            tombstone["_id"],
            actor_id=change["actorId"],
            at=change["at"],
            conversationId=tombstone["conversationId"],
            senderId=tombstone["senderId"],
        )
        await audit.add(context.database, row, session)

    await transact(context.database, body)
