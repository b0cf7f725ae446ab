"""Conversations: opening a direct one, listing and reading them."""

from dataclasses import dataclass
from typing import Any

from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_readable
from chat_aio.actions.users import require_users
from chat_aio.errors import ConversationNotFound, DirectInteractionBlocked, InvalidInput
from chat_aio.schema import inputs
from chat_aio.schema.models import ViewedConversation
from chat_aio.store import blocks, conversations
from chat_aio.store.documents import ConversationDocument
from chat_aio.store.mapping import viewed_conversation_from
from chat_aio.store.metadata import escaped
from chat_aio.store.transactions import Session
from chat_aio.store.unread import count_viewed


@dataclass(frozen=True, slots=True)
class Opened:
    """A direct conversation, and whether this call created it."""

    conversation: ViewedConversation
    is_new: bool


async def get_or_create_conversation(
    context: Context,
    user_id: str,
    other_user_id: str,
    *,
    metadata: dict[str, Any] | None = None,
) -> Opened:
    """Get the direct conversation of the two users, or create it (docs/behaviour.md 3.2).

    `metadata` is used for a new conversation only. Raises InvalidInput (also for oneself),
    UserNotFound, DirectInteractionBlocked, and ConversationNotFound (for one that cannot be read).
    """
    given = inputs.read(
        inputs.DirectConversation,
        metadata_within=context.options.max_metadata_bytes,
        other_user_id=other_user_id,
        metadata=metadata,
    )
    if given.other_user_id == user_id:
        raise InvalidInput("otherUserId must be another user")
    pair = sorted((user_id, given.other_user_id))
    conversation_id = await context.settings.direct_conversation_id(*pair)
    if viewed := await find_viewed(context, user_id, conversation_id):
        return Opened(viewed, is_new=False)
    await require_users(context, user_id, [given.other_user_id])
    new = _new_direct(context, user_id, conversation_id, pair, given.metadata or {})

    # Inside the transaction, which has locked the head as a block does: once a block is answered,
    # no conversation is opened past it.
    async def allowed(session: Session) -> None:
        if await blocks.is_blocked(context.database, pair, session):
            raise DirectInteractionBlocked

    made, is_new = await conversations.create(context.database, new, allowed=allowed)
    if is_new:
        controls = context.options.room_controls
        return Opened(viewed_conversation_from(made, 0, room_controls=controls), is_new=True)
    return Opened(await _load_viewed(context, user_id, conversation_id), is_new=False)


def _new_direct(
    context: Context, user_id: str, conversation_id: str, pair: list[str], metadata: dict[str, Any]
) -> ConversationDocument:
    return conversations.new_conversation(
        conversation_id,
        creator_id=user_id,
        roles=dict.fromkeys(pair, "admin"),
        at=context.clock(),
        change_id=context.new_id(),
        pair_key=":".join(pair),
        metadata=escaped(metadata),
    )


async def get_conversation(
    context: Context, user_id: str, conversation_id: str
) -> ViewedConversation:
    """Get one conversation. Raises ConversationNotFound and ForbiddenRead."""
    await load_readable(context, user_id, conversation_id)
    return await _load_viewed(context, user_id, conversation_id)


async def find_viewed(
    context: Context, user_id: str, conversation_id: str
) -> ViewedConversation | None:
    """A conversation with the viewer's unread count, None if there is none."""
    # The head first: in the other order, a message sent and read in between would count as unread.
    head = await conversations.find_head(context.database, conversation_id, counts_of=[user_id])
    found = await conversations.find(context.database, conversation_id)
    if head is None or found is None:
        return None
    controls = context.options.room_controls
    return await count_viewed(context.database, user_id, found, head, room_controls=controls)


async def _load_viewed(context: Context, user_id: str, conversation_id: str) -> ViewedConversation:
    viewed = await find_viewed(context, user_id, conversation_id)
    if viewed is None:
        raise ConversationNotFound
    return viewed
