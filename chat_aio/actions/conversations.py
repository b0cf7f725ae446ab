"""Conversations: opening a direct one, listing and reading them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from chat_aio import hooks
from chat_aio.actions.answers import ConversationList
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_readable
from chat_aio.actions.reading import fill
from chat_aio.actions.users import require_users
from chat_aio.errors import ConversationNotFound, DirectInteractionBlocked, InvalidInput
from chat_aio.schema import inputs, pagination
from chat_aio.schema.models import ViewedConversation
from chat_aio.store import blocks, conversations
from chat_aio.store.documents import ConversationDocument, CounterDocument
from chat_aio.store.mapping import conversation_from, viewed_conversation_from
from chat_aio.store.metadata import escaped
from chat_aio.store.rows import Rows
from chat_aio.store.shapes import readable
from chat_aio.store.transactions import Session
from chat_aio.store.unread import count_unread, count_viewed


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
        type="direct",
        pairKey=":".join(pair),
        metadata=escaped(metadata),
    )


async def list_conversations(
    context: Context, user_id: str, *, limit: int | None = None, cursor: str | None = None
) -> ConversationList:
    """The user's conversations, most recently active first (docs/behaviour.md 3.3)."""
    size = pagination.limit_from(limit)
    position = pagination.after_from("conversations", cursor)
    ids = await conversations.ids_of_user(context.database, user_id)

    async def fetch(last: CounterDocument | None, limit: int) -> Rows[CounterDocument]:
        behind = (last["activityAt"], last["_id"]) if last else position
        heads = await conversations.list_heads(
            context.database, ids, limit=limit, position=behind, counts_of=[user_id]
        )
        # Heads are small; the size that bounds the page is that of the conversations below.
        return Rows(heads, 0)

    found = await fill(fetch, partial(_readable, context, user_id), count=size + 1)
    page = found.rows[:size]
    shown, stored_bytes, read = await context.decoded.read_some([each["_id"] for each in page])
    heads = {each["_id"]: each for each in readable("counters", page)}
    documents = [each.document for each in shown.values()]
    # It leaves out conversations that the user has left since `ids` was read.
    unread = await count_unread(context.database, user_id, documents, heads)
    names = [each["_id"] for each in page[:read]]
    rows = [(shown[name], unread[name]) if name in unread else None for name in names]

    def cursor_behind(count: int) -> str | None:
        last = found.behind(page, count)
        return last and pagination.cursor_after("conversations", last["activityAt"], last["_id"])

    return ConversationList(context, rows, stored_bytes, cursor_behind)


async def _readable(
    context: Context, user_id: str, heads: Sequence[CounterDocument]
) -> Sequence[CounterDocument]:
    """The heads whose conversations the host lets the user read; by default all of them."""
    permissions = context.permissions
    if not permissions.asks_host:
        return heads
    documents = await conversations.find_many(context.database, [each["_id"] for each in heads])

    async def ask(head: CounterDocument) -> bool:
        found = documents.get(head["_id"])
        if found is None:
            return False
        conversation = conversation_from(found, room_controls=context.options.room_controls)
        return await permissions.may_read(user_id, conversation)

    return await hooks.those(ask, heads)


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
