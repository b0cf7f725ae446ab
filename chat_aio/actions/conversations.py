"""Conversations: opening a direct one, listing and reading them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from chat_aio import hooks, inputs, pages
from chat_aio.actions.access import acting, load_readable
from chat_aio.actions.reading import fill
from chat_aio.actions.users import require_users
from chat_aio.context import Context
from chat_aio.errors import ConversationNotFound, DirectInteractionBlocked, InvalidInput
from chat_aio.models import ConversationPage, ViewedConversation
from chat_aio.store import blocks, conversations
from chat_aio.store.documents import ConversationDocument, CounterDocument
from chat_aio.store.metadata import escaped
from chat_aio.store.transactions import Session
from chat_aio.store.unread import count_unread, count_viewed
from chat_aio.store.views import conversation_from, viewed_conversation_from


@acting
async def get_or_create_conversation(
    context: Context,
    user_id: str,
    other_user_id: str,
    *,
    metadata: dict[str, Any] | None = None,
) -> ViewedConversation:
    """The direct conversation of the two users, made if there is none (docs/behaviour.md 3.2).

    Raises InvalidInput (also for oneself), UserNotFound and DirectInteractionBlocked. `metadata` is
    for a new one only.
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

    async def fetch(last: CounterDocument | None, limit: int) -> Sequence[CounterDocument]:
        behind = (last["activityAt"], last["_id"]) if last else position
        return await conversations.list_heads(context.database, ids, limit=limit, position=behind)

    sift = partial(_readable, context, user_id)
    found, stopped = await fill(fetch, sift, count=size + 1)
    page, last = pages.cut(found, size)
    last = last or stopped
    documents = await conversations.find_many(context.database, [each["_id"] for each in page])
    heads = {each["_id"]: each for each in page}
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


async def _readable(
    context: Context, user_id: str, heads: Sequence[CounterDocument]
) -> Sequence[CounterDocument]:
    """Those whose conversations the host lets a user read; by default, all that they are in."""
    permissions = context.permissions
    if not permissions.asks_host:
        return heads
    documents = await conversations.find_many(context.database, [each["_id"] for each in heads])

    async def ask(head: CounterDocument) -> bool:
        found = documents.get(head["_id"])
        return found is not None and await permissions.may_read(user_id, conversation_from(found))

    return await hooks.those(ask, heads)


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
    return await count_viewed(context.database, user_id, found, head)


async def _load_viewed(context: Context, user_id: str, conversation_id: str) -> ViewedConversation:
    viewed = await find_viewed(context, user_id, conversation_id)
    if viewed is None:
        raise ConversationNotFound
    return viewed


def _is_in(conversation: ConversationDocument, user_id: str) -> bool:
    return any(each["userId"] == user_id for each in conversation["participants"])
