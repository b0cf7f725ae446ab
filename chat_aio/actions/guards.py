"""Loading the object of an action, and checking that the acting user may act on it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping

from chat_aio.actions.bans import require_unbanned
from chat_aio.actions.context import Context
from chat_aio.errors import (
    ChatError,
    ConversationNotFound,
    DeleteNotAllowed,
    ForbiddenRead,
    ForbiddenWrite,
    InvalidInput,
    LeaveNotAllowed,
    MessageNotFound,
    NotConversationAdmin,
    NotGroupConversation,
    StorageUnavailable,
)
from chat_aio.schema.fields import ID_RULE, is_id
from chat_aio.schema.models import BareMessage, Conversation
from chat_aio.store import deleted_conversations, messages
from chat_aio.store.calls import deadline_within
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import bare_message_from
from chat_aio.store.snapshots import Snapshot

FOLLOW_SECONDS = 0.01


async def require_user(context: Context, user_id: str) -> None:
    """Raise InvalidInput for an invalid user id, and UserBanned."""
    if not is_id(user_id):
        raise InvalidInput(f"user_id {ID_RULE}")
    await require_unbanned(context, user_id)


def require_length(context: Context, body: str) -> None:
    """Raise InvalidInput if a body is longer than `max_message_length` code points."""
    limit = context.options.max_message_length
    if len(body) > limit:
        raise InvalidInput(f"body must be at most {limit} characters")


async def load_readable(
    context: Context, user_id: str, conversation_id: str, message: BareMessage | None = None
) -> Snapshot:
    """The conversation, if `user_id` may read it, and a message of it. Raises ConversationNotFound,
    ForbiddenRead, and MessageNotFound for a message that is hidden from them."""
    snapshot = await load_conversation(context, conversation_id)
    return await require_readable(context, user_id, snapshot, message)


async def require_readable(
    context: Context, user_id: str, snapshot: Snapshot, message: BareMessage | None = None
) -> Snapshot:
    """As `load_readable`, for a loaded conversation. A hidden message is not found, and no hook is
    called about it (specification 13.7)."""
    if message is not None:
        await require_shown(context, user_id, snapshot, message.seq)
    may = context.permissions.may_read
    return await _permitted(context, snapshot, lambda it: may(user_id, it, message), ForbiddenRead)


async def require_shown(context: Context, user_id: str, snapshot: Snapshot, seq: int) -> None:
    """Raise MessageNotFound if a message of the conversation is hidden from `user_id`, because it
    was sent before they joined (specification 13.7), or they have cleared it (15.6)."""
    if seq <= snapshot.hidden.get(user_id, 0):
        # They may have left and rejoined while the full history is visible.
        fresh = await load_fresh(context, snapshot.conversation.id)
        if seq <= fresh.hidden.get(user_id, 0):
            raise MessageNotFound


async def load_writable(
    context: Context, user_id: str, conversation_id: str, message: BareMessage | None = None
) -> Snapshot:
    """The conversation, if `user_id` may write. Raises ConversationNotFound and ForbiddenWrite."""
    snapshot = await load_conversation(context, conversation_id)
    return await require_writable(context, user_id, snapshot, message)


async def require_writable(
    context: Context, user_id: str, snapshot: Snapshot, message: BareMessage | None
) -> Snapshot:
    """As `load_writable`, for a loaded conversation; `message` is the one to change."""
    may = context.permissions.may_write
    return await _permitted(context, snapshot, lambda it: may(user_id, it, message), ForbiddenWrite)


async def load_manageable(context: Context, user_id: str, conversation_id: str) -> Snapshot:
    """The group, if `user_id` may manage it. Raises NotConversationAdmin, and as `load_group`."""
    return await require_managing(context, user_id, await load_group(context, conversation_id))


async def require_managing(context: Context, user_id: str, snapshot: Snapshot) -> Snapshot:
    """As `load_manageable`, for a loaded conversation, also a direct one."""
    may = context.permissions.may_manage
    return await _permitted(context, snapshot, lambda it: may(user_id, it), NotConversationAdmin)


async def may_set_metadata(context: Context, user_id: str, snapshot: Snapshot) -> bool:
    """Whether the host lets a participant change the metadata of a group that they need not
    manage."""
    if context.permissions.can_set_metadata is None:
        return False
    may = context.permissions.may_set_metadata
    try:
        await _permitted(context, snapshot, lambda it: may(user_id, it), NotConversationAdmin)
    except NotConversationAdmin:
        return False
    return True


async def load_invitable(context: Context, user_id: str, conversation_id: str) -> Snapshot:
    """The group, if `user_id` may invite. Raises NotConversationAdmin, and as `load_group`."""
    snapshot = await load_group(context, conversation_id)
    may = context.permissions.may_invite
    return await _permitted(context, snapshot, lambda it: may(user_id, it), NotConversationAdmin)


async def load_leavable(context: Context, user_id: str, conversation_id: str) -> Snapshot:
    """The group, if `user_id` may leave it. Raises LeaveNotAllowed, and as `load_group`; with the
    host's rule also NotConversationAdmin for other users than participants."""
    snapshot = await load_group(context, conversation_id)
    if context.permissions.can_leave is not None:
        snapshot = await require_leave(context, user_id, snapshot)
        if user_id not in snapshot.conversation.roles:
            raise NotConversationAdmin
    return snapshot


async def require_leave(context: Context, user_id: str, snapshot: Snapshot) -> Snapshot:
    """The snapshot on which `user_id` may leave the group, or is not in it. Raises
    LeaveNotAllowed."""
    if context.permissions.can_leave is None:
        return snapshot
    if user_id not in snapshot.conversation.roles:
        # The host decides about participants only, and this user may have joined since.
        snapshot = await load_fresh(context, snapshot.conversation.id)
        if user_id not in snapshot.conversation.roles:
            return snapshot
    may = context.permissions.may_leave
    return await _permitted(context, snapshot, lambda it: may(user_id, it), LeaveNotAllowed)


async def require_message_deletable(
    context: Context, user_id: str, snapshot: Snapshot, message: BareMessage
) -> Snapshot:
    """The snapshot on which the sender may delete this message. Raises DeleteNotAllowed."""
    may = context.permissions.may_delete_message
    return await _permitted(
        context, snapshot, lambda it: may(user_id, it, message), DeleteNotAllowed
    )


async def _permitted(
    context: Context,
    snapshot: Snapshot,
    may: Callable[[Conversation], Awaitable[bool]],
    refusal: type[ChatError],
) -> Snapshot:
    """Check a permission on the snapshot, and if it is refused, on a fresh one; returns the
    snapshot that passed.

    A cached snapshot may be milliseconds old, so it may grant permission but never refuse it.
    """
    if not await may(snapshot.conversation):
        snapshot = await load_fresh(context, snapshot.conversation.id)
        if not await may(snapshot.conversation):
            raise refusal
    return snapshot


async def load_group(context: Context, conversation_id: str) -> Snapshot:
    """The group. Raises ConversationNotFound, and NotGroupConversation if it is no group."""
    snapshot = await load_conversation(context, conversation_id)
    if snapshot.conversation.type == "direct":
        raise NotGroupConversation
    return snapshot


async def load_conversation(context: Context, conversation_id: str) -> Snapshot:
    """The conversation, possibly from the cache. Raises ConversationNotFound, also for an id that
    cannot exist."""
    # An id that cannot exist is not looked up: the driver refuses some of them with errors of its
    # own.
    snapshot = await context.snapshots.find(conversation_id) if is_id(conversation_id) else None
    if snapshot is None:
        raise ConversationNotFound
    return snapshot


async def load_message(
    context: Context, message_id: str, fields: Mapping[str, int] = messages.READ
) -> MessageDocument:
    """The message, read at majority. Raises MessageNotFound, also for an id that cannot exist."""
    known = is_id(message_id)
    found = await messages.find(context.database, message_id, fields) if known else None
    if found is None:
        raise MessageNotFound
    return found


async def load_shown(
    context: Context,
    user_id: str,
    message_id: str,
    fields: Mapping[str, int] = messages.READ,
) -> tuple[MessageDocument, Snapshot]:
    """A message and its conversation. Raises ConversationNotFound, and MessageNotFound, also for a
    message that is hidden from `user_id`, before any other check."""
    found = await load_message(context, message_id, fields)
    snapshot = await load_conversation(context, found["conversationId"])
    await require_shown(context, user_id, snapshot, found["seq"])
    return found, snapshot


async def load_within(context: Context, conversation_id: str, message_id: str) -> MessageDocument:
    """The message. Raises MessageNotFound, also if it is of another conversation."""
    found = await load_message(context, message_id)
    if found["conversationId"] != conversation_id:
        raise MessageNotFound
    return found


async def load_readable_message(
    context: Context, user_id: str, conversation_id: str, message_id: str
) -> MessageDocument:
    """A message of the conversation, if `user_id` may read both. Raises ConversationNotFound,
    ForbiddenRead, and MessageNotFound, also if it is of another conversation or hidden."""
    snapshot = await load_readable(context, user_id, conversation_id)
    found = await load_within(context, conversation_id, message_id)
    # Only then can a message be refused that is in a readable conversation.
    if context.permissions.asks_for_messages or snapshot.hidden_from(user_id):
        await require_readable(context, user_id, snapshot, bare_message_from(found))
    return found


async def withdraw_if_deleted(
    context: Context, conversation_id: str, withdraw: Callable[[], Awaitable[object]]
) -> None:
    """After the write of a row that does not lock its conversation: if that is deleted by now,
    withdraw the row and raise ConversationNotFound.

    A deletion that commits after this read removes the row itself.
    """
    if await deleted_conversations.find(context.database, conversation_id):
        await withdraw()
        raise ConversationNotFound


def within(context: Context) -> Iterator[None]:
    """Iterate until the storage timeout is over: `for _ in within(context)` around one attempt."""
    deadline = deadline_within(context.options.storage_timeout_seconds)
    while time.monotonic() < deadline:
        yield


async def load_fresh(context: Context, conversation_id: str, *, epoch: int = 0) -> Snapshot:
    """The conversation from the database at majority, of `epoch` or a later one.

    Raises ConversationNotFound, and StorageUnavailable if the majority does not reach that epoch in
    time.
    """
    deadline = deadline_within(context.options.storage_timeout_seconds)
    while snapshot := await context.snapshots.find_fresh(conversation_id):
        # A transaction may have read an epoch that a majority does not have yet. With an older
        # snapshot the same draft would be refused again at once.
        if snapshot.epoch >= epoch:
            return snapshot
        if time.monotonic() >= deadline:
            raise StorageUnavailable
        # A majority has it within milliseconds, so a back-off would only add to the wait.
        await asyncio.sleep(FOLLOW_SECONDS)
    raise ConversationNotFound
