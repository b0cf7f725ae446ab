"""Pinned messages, with the option `room_controls` (specification 13.6)."""

from chat_aio.actions.answers import shapes_of
from chat_aio.actions.context import Context
from chat_aio.actions.guards import (
    load_conversation,
    load_manageable,
    load_readable,
    load_readable_message,
    load_writable,
)
from chat_aio.actions.membership import change_membership, new_change, require_still_managing
from chat_aio.actions.reading import load_parents, readable_in
from chat_aio.actions.write_rule import require_open, require_still_open
from chat_aio.errors import PinLimitExceeded
from chat_aio.schema import inputs
from chat_aio.schema.fields import MAX_PINS
from chat_aio.schema.models import ConversationWithUnread, Message
from chat_aio.store import messages
from chat_aio.store.mapping import message_from
from chat_aio.store.membership import Locked, MembershipChange


async def pin_message(
    context: Context, user_id: str, conversation_id: str, message_id: str
) -> ConversationWithUnread:
    """Pin a message of the conversation; it becomes the first of `pinned_message_ids`, or keeps its
    place. In a group admins may pin, in a direct conversation both users.

    Raises InvalidInput, ConversationNotFound, NotConversationAdmin, ForbiddenWrite, ForbiddenRead,
    DirectInteractionBlocked, MessageNotFound, and PinLimitExceeded for more than 50.
    """
    given = inputs.read(inputs.MessageChoice, message_id=message_id)
    await _require_pinner(context, user_id, conversation_id)
    found = await load_readable_message(context, user_id, conversation_id, given.message_id)
    snapshot = await load_conversation(context, conversation_id)
    pinned = snapshot.conversation.pinned_message_ids or ()
    # Before the lock, which must not be held during a read of other documents.
    there = await messages.ids_within(context.database, conversation_id, pinned)

    async def decide(locked: Locked) -> MembershipChange | None:
        _require_still_pinning(context, locked, user_id)
        pins = locked.conversation.get("pins", [])
        if found["_id"] in pins:
            return None
        # Retention may have removed some of them since.
        kept = [pin for pin in pins if pin in there or pin not in pinned]
        if len(kept) >= MAX_PINS:
            raise PinLimitExceeded
        change = new_change(context, "conversation.updated", user_id)
        return MembershipChange(change=change, fields={"pins": [found["_id"], *kept]})

    return await change_membership(context, user_id, conversation_id, decide)


async def unpin_message(
    context: Context, user_id: str, conversation_id: str, message_id: str
) -> ConversationWithUnread:
    """Unpin a message; nothing happens if it is not pinned. Raises ConversationNotFound,
    NotConversationAdmin, ForbiddenWrite and DirectInteractionBlocked."""
    await _require_pinner(context, user_id, conversation_id)

    async def decide(locked: Locked) -> MembershipChange | None:
        _require_still_pinning(context, locked, user_id)
        pins = locked.conversation.get("pins", [])
        if message_id not in pins:
            return None
        change = new_change(context, "conversation.updated", user_id)
        kept = [pin for pin in pins if pin != message_id]
        return MembershipChange(change=change, fields={"pins": kept})

    return await change_membership(context, user_id, conversation_id, decide)


async def list_pins(context: Context, user_id: str, conversation_id: str) -> tuple[Message, ...]:
    """The pinned messages that the user may read, the latest pinned first, up to 4 MiB of JSON;
    deleted ones are tombstones. Raises ConversationNotFound and ForbiddenRead."""
    snapshot = await load_readable(context, user_id, conversation_id)
    pinned = snapshot.conversation.pinned_message_ids or ()
    rows = await messages.read_many(context.database, pinned)
    found = {
        message["_id"]: message
        for message in rows.documents
        if message.get("conversationId") == conversation_id
    }
    here = [found[message_id] for message_id in pinned if message_id in found]
    allowed = await readable_in(context, user_id, snapshot, here)
    parents = await load_parents(context, user_id, allowed, snapshot.hidden_from(user_id))
    shown, _ = await shapes_of(
        context,
        allowed,
        lambda message: message_from(message, parents, context.database.optional_fields),
        stored_bytes=rows.stored_bytes,
    )
    return shown


async def _require_pinner(context: Context, user_id: str, conversation_id: str) -> None:
    found = await load_conversation(context, conversation_id)
    if found.conversation.type == "group":
        await load_manageable(context, user_id, conversation_id)
    else:
        snapshot = await load_writable(context, user_id, conversation_id)
        await require_open(context, user_id, snapshot)


def _require_still_pinning(context: Context, locked: Locked, user_id: str) -> None:
    if locked.conversation["type"] == "group":
        # Under the lock, or a former admin could still pin at the moment of the demotion.
        require_still_managing(context, locked, user_id)
    else:
        require_still_open(context, user_id, locked.conversation)
