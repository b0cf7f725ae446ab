"""Conversations: opening a direct one, listing and reading them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from chat_aio.actions.blocks import require_unblocked
from chat_aio.actions.context import Context
from chat_aio.actions.guards import FOLLOW_SECONDS, load_readable, within
from chat_aio.actions.users import require_users
from chat_aio.errors import (
    ConversationNotFound,
    InvalidInput,
    StorageUnavailable,
)
from chat_aio.schema import inputs
from chat_aio.schema.models import ConversationWithUnread
from chat_aio.store import conversations, deleted_conversations
from chat_aio.store.deleted_conversations import IdDeleted
from chat_aio.store.direct_conversations import direct_conversation_id
from chat_aio.store.documents import ConversationDocument
from chat_aio.store.mapping import viewed_conversation_from
from chat_aio.store.metadata import escaped
from chat_aio.store.transactions import Session
from chat_aio.store.unread import count_viewed


@dataclass(frozen=True, slots=True)
class Opened:
    """A direct conversation or a group, and whether this call created it."""

    conversation: ConversationWithUnread
    is_new: bool


async def get_or_create_conversation(
    context: Context,
    user_id: str,
    other_user_id: str,
    *,
    metadata: dict[str, Any] | None = None,
) -> Opened:
    """Get the direct conversation of the two users, or create it (specification 3.2).

    `metadata` is used for a new conversation only. Raises InvalidInput (also for the user
    themselves), CreateNotAllowed, UserNotFound, DirectInteractionBlocked, and ConversationNotFound
    (for one that cannot be read).
    """
    given = inputs.read(
        inputs.DirectConversation,
        metadata_within=context.options.max_metadata_bytes,
        other_user_id=other_user_id,
        metadata=metadata,
    )
    if given.other_user_id == user_id:
        raise InvalidInput("otherUserId must be another user")
    # Sorted, so that both users get the same id, and can only open one conversation.
    pair = sorted((user_id, given.other_user_id))
    # Deleted since its id was computed: the pair has a new one.
    return await past_deletions(
        context, lambda: _open(context, user_id, pair, given.metadata or {})
    )


async def past_deletions(context: Context, attempt: Callable[[], Awaitable[Opened]]) -> Opened:
    """Repeat an attempt to open a conversation while it raises IdDeleted."""
    for _ in within(context):
        try:
            return await attempt()
        except IdDeleted:
            await asyncio.sleep(FOLLOW_SECONDS)
    raise StorageUnavailable


async def _open(
    context: Context, user_id: str, pair: list[str], metadata: dict[str, Any]
) -> Opened:
    """Find or create the conversation of a pair. Raises IdDeleted if it is deleted during the call,
    and as `get_or_create_conversation`."""
    conversation_id = await direct_conversation_id(context.settings, *pair)
    # Most calls find it: a block does not hide an existing conversation, and no user is looked up.
    if viewed := await find_viewed(context, user_id, conversation_id):
        return Opened(viewed, is_new=False)
    others = [other for other in pair if other != user_id]
    await context.permissions.require_create(user_id, "direct", others, metadata)
    await require_users(context, user_id, others)
    new = conversations.new_conversation(
        conversation_id,
        creator_id=user_id,
        roles=dict.fromkeys(pair, "admin"),
        at=context.clock(),
        change_id=context.new_id(),
        pair_key=":".join(pair),
        metadata=escaped(metadata),
    )

    # Inside the transaction, which locks the head as a block does: once a block has been
    # acknowledged, no conversation is opened past it.
    async def allowed(session: Session) -> None:
        await require_unblocked(context, pair, session)

    return await create_or_find(context, user_id, new, allowed)


async def create_or_find(
    context: Context,
    user_id: str,
    new: ConversationDocument,
    allowed: Callable[[Session], Awaitable[None]],
) -> Opened:
    """Write a new conversation, or find the one that has its id or key: another request was faster,
    and both get the same one. Raises IdDeleted if that is deleted during the call, and
    ConversationNotFound for one that cannot be read."""
    made, is_new = await conversations.create(context.database, new, allowed=allowed)
    if is_new:
        shown = viewed_conversation_from(made, 0, context.database.optional_fields)
        return Opened(shown, is_new=True)
    if viewed := await find_viewed(context, user_id, made["_id"]):
        return Opened(viewed, is_new=False)
    if await deleted_conversations.find(context.database, made["_id"]):
        raise IdDeleted
    raise ConversationNotFound


async def get_conversation(
    context: Context, user_id: str, conversation_id: str
) -> ConversationWithUnread:
    """Get one conversation. Raises ConversationNotFound and ForbiddenRead."""
    await load_readable(context, user_id, conversation_id)
    return await load_viewed(context, user_id, conversation_id)


async def find_viewed(
    context: Context, user_id: str, conversation_id: str
) -> ConversationWithUnread | None:
    """A conversation with the viewer's unread count; None if there is none."""
    # The head first: in the other order, a message sent and read in between would count as unread.
    head = await conversations.find_head(context.database, conversation_id, counts_of=[user_id])
    found = await conversations.find(context.database, conversation_id)
    if head is None or found is None:
        return None
    return await count_viewed(context.database, user_id, found, head)


async def load_viewed(
    context: Context, user_id: str, conversation_id: str
) -> ConversationWithUnread:
    viewed = await find_viewed(context, user_id, conversation_id)
    if viewed is None:
        raise ConversationNotFound
    return viewed
