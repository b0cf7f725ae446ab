"""Conversations: opening a direct one, listing and reading them."""

from typing import Any

from chat_aio import inputs, pages
from chat_aio.actions.access import acting, load_readable
from chat_aio.actions.users import require_users
from chat_aio.context import Context
from chat_aio.errors import ConversationNotFound, DirectInteractionBlocked, InvalidInput
from chat_aio.models import ConversationPage, ViewedConversation
from chat_aio.store import blocks, conversations
from chat_aio.store.documents import ConversationDocument
from chat_aio.store.metadata import escaped
from chat_aio.store.shapes import readable
from chat_aio.store.transactions import Session
from chat_aio.store.unread import count_unread
from chat_aio.store.views import viewed_conversation_from


@acting
async def get_or_create_conversation(
    context: Context,
    user_id: str,
    other_user_id: str,
    *,
    metadata: dict[str, Any] | None = None,
) -> ViewedConversation:
    """The direct conversation of the two users, made if there is none (docs/behaviour.md 3.2).

    Raises InvalidInput (also for oneself), UserNotFound, DirectInteractionBlocked, and
    ConversationNotFound (for one that cannot be read). `metadata` is for a new one only.
    """
    given = inputs.read(inputs.DirectConversation, other_user_id=other_user_id, metadata=metadata)
    kept = inputs.metadata_within(given.metadata, context.options.max_metadata_bytes)
    if given.other_user_id == user_id:
        raise InvalidInput("otherUserId: a direct conversation needs somebody else")
    pair = sorted((user_id, given.other_user_id))
    conversation_id = await context.settings.direct_conversation_id(*pair)
    if viewed := await find_viewed(context, user_id, conversation_id):
        return viewed
    await require_users(context, user_id, [given.other_user_id])
    new = conversations.new_conversation(
        conversation_id,
        creator_id=user_id,
        roles=dict.fromkeys(pair, "admin"),
        at=context.clock(),
        change_id=context.new_id(),
        type="direct",
        pairKey=":".join(pair),
        metadata=escaped(kept),
    )

    async def allowed(session: Session) -> None:
        if await blocks.is_blocked(context.database, pair, session):
            raise DirectInteractionBlocked

    made, is_new = await conversations.create(context.database, new, allowed=allowed)
    if is_new:
        return viewed_conversation_from(made, unread_count=0)
    return await _load_viewed(context, user_id, conversation_id)


@acting
async def list_conversations(
    context: Context, user_id: str, *, limit: int | None = None, cursor: str | None = None
) -> ConversationPage:
    """The user's conversations, most recently active first (docs/behaviour.md 3.3)."""
    size = pages.limit_from(limit)
    position = pages.after_from("conversations", cursor)
    ids = await conversations.ids_of_user(context.database, user_id)
    found = await conversations.list_heads(context.database, ids, limit=size + 1, position=position)
    page, last = pages.cut(found, size)
    documents = await conversations.find_many(context.database, [each["_id"] for each in page])
    heads = {each["_id"]: each for each in readable("counters", page)}
    present = [
        documents[each] for each in heads if each in documents and _is_in(documents[each], user_id)
    ]
    unread = await count_unread(context.database, user_id, present, heads)
    return ConversationPage(
        conversations=tuple(
            viewed_conversation_from(each, unread_count=unread[each["_id"]]) for each in present
        ),
        next_cursor=last and pages.cursor_after("conversations", last["activityAt"], last["_id"]),
    )


@acting
async def get_conversation(
    context: Context, user_id: str, conversation_id: str
) -> ViewedConversation:
    """One conversation. Raises ConversationNotFound and ForbiddenRead."""
    await load_readable(context, user_id, conversation_id)
    return await _load_viewed(context, user_id, conversation_id)


async def find_viewed(
    context: Context, user_id: str, conversation_id: str
) -> ViewedConversation | None:
    """A conversation with the viewer's unread count; its head is read before its read-states."""
    head = await conversations.find_head(context.database, conversation_id)
    found = await conversations.find(context.database, conversation_id)
    if head is None or found is None:
        return None
    unread = await count_unread(context.database, user_id, [found], {conversation_id: head})
    return viewed_conversation_from(found, unread_count=unread.get(conversation_id, 0))


async def _load_viewed(context: Context, user_id: str, conversation_id: str) -> ViewedConversation:
    viewed = await find_viewed(context, user_id, conversation_id)
    if viewed is None:
        raise ConversationNotFound
    return viewed


def _is_in(conversation: ConversationDocument, user_id: str) -> bool:
    return any(each["userId"] == user_id for each in conversation["participants"])
