"""Loading what an action works on, and checking that the acting user may do it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping

from chat_aio.actions.bans import require_unbanned
from chat_aio.actions.context import Context
from chat_aio.errors import (
    ChatError,
    ConversationNotFound,
    ForbiddenRead,
    ForbiddenWrite,
    InvalidInput,
    MessageNotFound,
    NotConversationAdmin,
    NotGroupConversation,
    StorageUnavailable,
)
from chat_aio.schema.fields import ID_RULE, is_id
from chat_aio.schema.models import BareMessage, Conversation
from chat_aio.store import messages
from chat_aio.store.calls import deadline_within
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import bare_message_from
from chat_aio.store.snapshots import Snapshot

FOLLOW_SECONDS = 0.01


async def require_user(context: Context, user_id: str) -> None:
    """Raise InvalidInput for what can be no user's id, and UserBanned."""
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
    """As `load_readable`, for a conversation that is loaded already. A hidden message is not found
    before any hook is called about it (docs/behaviour.md 13.7)."""
    if message is not None:
        await require_shown(context, user_id, snapshot, message.seq)
    may = context.permissions.may_read
    return await _permitted(context, snapshot, lambda it: may(user_id, it, message), ForbiddenRead)


async def require_shown(context: Context, user_id: str, snapshot: Snapshot, seq: int) -> None:
    """Raise MessageNotFound if a message of the conversation is hidden from `user_id`: it was sent
    before they joined (docs/behaviour.md 13.7)."""
    if seq <= snapshot.hidden.get(user_id, 0):
        # They may have left, and joined again with all to be seen.
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
    """As `load_writable`, for a conversation that is loaded already; `message` is changed."""
    may = context.permissions.may_write
    return await _permitted(context, snapshot, lambda it: may(user_id, it, message), ForbiddenWrite)


async def load_manageable(context: Context, user_id: str, conversation_id: str) -> Snapshot:
    """The group, if `user_id` may manage it. Raises NotConversationAdmin, and as `load_group`."""
    snapshot = await load_group(context, conversation_id)
    may = context.permissions.may_manage
    return await _permitted(context, snapshot, lambda it: may(user_id, it), NotConversationAdmin)


async def load_invitable(context: Context, user_id: str, conversation_id: str) -> Snapshot:
    """The group, if `user_id` may invite. Raises NotConversationAdmin, and as `load_group`."""
    snapshot = await load_group(context, conversation_id)
    may = context.permissions.may_invite
    return await _permitted(context, snapshot, lambda it: may(user_id, it), NotConversationAdmin)


async def _permitted(
    context: Context,
    snapshot: Snapshot,
    may: Callable[[Conversation], Awaitable[bool]],
    refusal: type[ChatError],
) -> Snapshot:
    """Ask for permission on the snapshot, and if that is refused on a fresh one; returns the one
    that passed.

    A cached snapshot may be milliseconds old, so it may permit but never refuse.
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
    """A message and its conversation. Raises MessageNotFound, also for a message that is hidden
    from `user_id`, before anything else of it is looked at, and ConversationNotFound."""
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
    if context.permissions.asks_for_messages or snapshot.hidden_from(user_id):
        await require_readable(context, user_id, snapshot, bare_message_from(found))
    return found


def within(context: Context) -> Iterator[None]:
    """Iterate until the storage timeout is over: `for _ in within(context)` around one try."""
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
        # A transaction may have seen an epoch that a majority does not have yet: on anything older
        # the same draft would be refused again at once.
        if snapshot.epoch >= epoch:
            return snapshot
        if time.monotonic() >= deadline:
            raise StorageUnavailable
        await asyncio.sleep(FOLLOW_SECONDS)
    raise ConversationNotFound
