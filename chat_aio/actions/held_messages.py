"""Moderators' actions on held messages: list, release, discard (specification 12.8)."""

from chat_aio.actions.answers import shapes_of
from chat_aio.actions.attachments import release_attached
from chat_aio.actions.bans import require_unbanned
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_writable
from chat_aio.actions.idempotency import Sent, repeated
from chat_aio.actions.moderators import require_moderator
from chat_aio.actions.outgoing import Outgoing
from chat_aio.actions.sending import put, require_place
from chat_aio.actions.write_rule import require_open
from chat_aio.capabilities import Capability, require
from chat_aio.errors import HeldMessageNotFound, HeldMessageReleased, UserBanned
from chat_aio.hooks import BeforeMessageSend
from chat_aio.schema import inputs, pagination
from chat_aio.schema.fields import is_id
from chat_aio.schema.models import HeldMessage, HeldMessagePage, Message
from chat_aio.store import audit, held_messages, messages
from chat_aio.store.documents import AuditEntry, HeldMessageDocument
from chat_aio.store.mapping import attachments_from, held_message_from
from chat_aio.store.messages import Place, RequestKey
from chat_aio.store.metadata import unescaped
from chat_aio.store.rows import MOST_BYTES
from chat_aio.store.shapes import one_readable
from chat_aio.store.snapshots import Snapshot


async def list_held_messages(
    context: Context, user_id: str, *, limit: int | None = None, cursor: str | None = None
) -> HeldMessagePage:
    """List held messages, newest first. Raises InvalidInput, NotModerator and
    ModerationUnsupported."""
    size = pagination.limit_from(limit)
    position = pagination.after_from("held_messages", cursor)
    await _require_moderator(context, user_id, "list_held_messages")
    found = await held_messages.list_newest(context.database, position=position, limit=size + 1)
    page = found[:size]
    shown, count = await shapes_of(
        context,
        page,
        lambda held: held_message_from(held) if one_readable("held_messages", held) else None,
        # Their stored size is unknown, so it is always measured: a body may be long.
        stored_bytes=MOST_BYTES,
    )
    last = page[count - 1] if count < len(found) else None
    return HeldMessagePage(
        held_messages=shown,
        next_cursor=last
        and pagination.cursor_after("held_messages", last["createdAt"], last["_id"]),
    )


async def require_releasable(context: Context, user_id: str, held_id: str) -> HeldMessage:
    """The message, if a release would send it now, or has already sent it. Raises as
    `release_held_message`."""
    await _require_moderator(context, user_id, "release_held_message")
    held = await _load(context, held_id)
    if not await _find_sent(context, held):
        await _require_sendable(context, held)
    return held_message_from(held)


async def require_discardable(context: Context, user_id: str, held_id: str) -> HeldMessage:
    """The message, if it could be discarded now. Raises as `discard_held_message`."""
    await _require_moderator(context, user_id, "discard_held_message")
    held = await _load(context, held_id)
    if held["releasedBy"] is not None:
        raise HeldMessageReleased
    return held_message_from(held)


async def release_held_message(context: Context, user_id: str, held_id: str) -> Message:
    """Send a held message in the name of its sender, who must still be allowed to write. Hooks and
    plugins do not check it again, and slow mode does not apply.

    Its idempotency key ensures that it is sent only once. The release is stored before the send, so
    that a call after a crash completes it, and nobody can discard the message.

    Raises InvalidInput, NotModerator, ModerationUnsupported and HeldMessageNotFound;
    MessageConflict if the sender has used the key for another message since; and for a sender who
    may not send it now UserBanned, ConversationNotFound, ForbiddenWrite, DirectInteractionBlocked,
    ConversationFrozen, MessageNotFound, AttachmentNotFound and ForbiddenRead.
    """
    given = inputs.read(inputs.HeldMessageChoice, held_id=held_id)
    await _require_moderator(context, user_id, "release_held_message")
    held = await _load(context, given.held_id)
    if sent := await _find_sent(context, held):
        # An earlier call has sent it and failed before it removed the row.
        await held_messages.remove(context.database, held_id)
        return sent.message
    snapshot = await _require_sendable(context, held)
    entry = _entry(context, "release-held", user_id, held)
    if not await held_messages.decide_release(context.database, held_id, entry):
        raise HeldMessageNotFound
    roles = snapshot.conversation.roles
    content = BeforeMessageSend(
        user_id=held["senderId"],
        kind="send",
        conversation=snapshot.conversation,
        body=held["body"],
        role=held["role"],
        metadata=unescaped(held["metadata"]),
        # Users who have left since are not mentioned: a release weeks later must not fail by them.
        mentions=tuple(name for name in held["mentions"] if name in roles),
        attachments=attachments_from(held.get("attachments")),
    )
    outgoing = Outgoing(
        content=content,
        snapshot=snapshot,
        place=_place(held),
        key=RequestKey(held["clientMessageId"], held["requestHash"]),
        message_id=held["_id"],
        in_slow_mode=False,
        silent=held.get("silent", False),
    )
    sent = await put(context, outgoing)
    await held_messages.remove(context.database, held_id)
    return sent.message


async def discard_held_message(context: Context, user_id: str, held_id: str) -> None:
    """Remove a held message for good. Raises InvalidInput, NotModerator, ModerationUnsupported,
    HeldMessageNotFound and HeldMessageReleased."""
    given = inputs.read(inputs.HeldMessageChoice, held_id=held_id)
    await _require_moderator(context, user_id, "discard_held_message")
    held = await _load(context, given.held_id)
    entry = _entry(context, "discard-held", user_id, held)
    found = await held_messages.discard(context.database, held_id, entry)
    if found is None:
        raise HeldMessageNotFound
    if found["releasedBy"] is not None:
        raise HeldMessageReleased
    # Nothing names the files any more, so the next sweep may remove them.
    release_attached(context, [found])


async def _require_moderator(context: Context, user_id: str, action: str) -> None:
    await require_moderator(context, user_id, action)
    require(context, Capability.MODERATION)


async def _find_sent(context: Context, held: HeldMessageDocument) -> Sent | None:
    """The message, if an earlier release has sent it."""
    scope = held["conversationId"], held["senderId"], held["clientMessageId"]
    stored = await messages.find_repeated(context.database, scope)
    return await repeated(context, stored, held["requestHash"]) if stored else None


async def _load(context: Context, held_id: str) -> HeldMessageDocument:
    found = await held_messages.find(context.database, held_id) if is_id(held_id) else None
    if found is None:
        raise HeldMessageNotFound
    return found


async def _require_sendable(context: Context, held: HeldMessageDocument) -> Snapshot:
    """Check that the sender may send the message now, and that the message it replies to exists."""
    sender_id = held["senderId"]
    try:
        await require_unbanned(context, sender_id)
    except UserBanned:
        # The plain error would read as if the moderator were banned.
        raise UserBanned("the sender of this message is banned") from None
    snapshot = await load_writable(context, sender_id, held["conversationId"])
    snapshot = await require_open(context, sender_id, snapshot)
    await require_place(context, sender_id, snapshot, _place(held))
    return snapshot


def _place(held: HeldMessageDocument) -> Place:
    return Place(held["replyToMessageId"], held["threadRootMessageId"], held["alsoSendToMain"])


def _entry(context: Context, action: str, user_id: str, held: HeldMessageDocument) -> AuditEntry:
    return audit.entry(
        context.new_id(),
        action,
        held["_id"],
        actor_id=user_id,
        at=context.clock(),
        conversationId=held["conversationId"],
        senderId=held["senderId"],
    )
