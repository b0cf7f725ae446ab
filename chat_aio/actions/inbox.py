"""A user's mentions, and marks of unread messages, over all conversations. Everything here needs
the option `inbox` (specification 15)."""

from collections.abc import Sequence

from chat_aio.actions.answers import shapes_of
from chat_aio.actions.context import Context
from chat_aio.actions.guards import load_readable_message
from chat_aio.actions.optional_events import publish_read
from chat_aio.actions.reading import fill, load_parents, readable_anywhere
from chat_aio.schema import inputs, pagination
from chat_aio.schema.inbox import Mention, MentionPage
from chat_aio.schema.wire import aware
from chat_aio.store import conversations, mention_inbox
from chat_aio.store.documents import MessageDocument
from chat_aio.store.hidden import hidden_from
from chat_aio.store.mapping import message_from
from chat_aio.store.rows import Rows
from chat_aio.store.shapes import readable
from chat_aio.store.unread import find_unread

CURSOR = "mentions"


async def mark_unread(
    context: Context, user_id: str, conversation_id: str, message_id: str
) -> None:
    """Count a message and all newer ones as unread again, except the user's own messages.

    The mark lasts until one of them is marked as read. The read state that others see is unchanged.
    Raises InvalidInput, ConversationNotFound, ForbiddenRead and MessageNotFound (specification
    15.3).
    """
    given = inputs.read(inputs.MessageChoice, message_id=message_id)
    found = await load_readable_message(context, user_id, conversation_id, given.message_id)
    await context.read_marks.mark_unread(conversation_id, user_id, found["seq"])
    await publish_read(context, user_id, conversation_id)


async def list_mentions(
    context: Context, user_id: str, *, limit: int | None = None, cursor: str | None = None
) -> MentionPage:
    """The messages of others that mention the user, in conversations and threads that the user may
    read, newest first. Raises InvalidInput (specification 15.4)."""
    size = pagination.limit_from(limit)
    position = pagination.after_from(CURSOR, cursor)
    hidden = await hidden_from(context.database, user_id)

    async def fetch(last: MessageDocument | None, limit: int) -> Rows[MessageDocument]:
        behind = (aware(last["createdAt"]), last["_id"]) if last else position
        return await mention_inbox.list_newest(
            context.database, user_id, behind, hidden=hidden, limit=limit
        )

    async def sift(found: Sequence[MessageDocument]) -> Sequence[MessageDocument]:
        return await readable_anywhere(context, user_id, found)

    found = await fill(fetch, sift, count=size + 1)
    page = found.rows[:size]
    parents = await load_parents(context, user_id, page, hidden)
    starts = await _starts(context, user_id, {entry["conversationId"] for entry in page})

    def shown(document: MessageDocument) -> Mention:
        # Users who can read a conversation without being in it have no unread messages there.
        unread = document["seq"] > starts.get(document["conversationId"], document["seq"])
        return Mention(
            message=message_from(document, parents, context.database.optional_fields), unread=unread
        )

    made, count = await shapes_of(context, page, shown, stored_bytes=found.stored_bytes)
    last = found.behind(page, count) if page else found.stopped
    behind = last and pagination.cursor_after(CURSOR, aware(last["createdAt"]), last["_id"])
    return MentionPage(mentions=made, next_cursor=behind)


async def _starts(context: Context, user_id: str, conversation_ids: set[str]) -> dict[str, int]:
    """The seq after which messages are unread, for each conversation that the user is in."""
    names = sorted(conversation_ids)
    heads = await conversations.list_heads(
        context.database, names, limit=len(names), counts_of=[user_id]
    )
    given = {head["_id"]: head for head in readable("counters", heads)}
    starts: dict[str, int] = {}
    while names:
        found, _, read = await context.decoded.read_some(names)
        documents = [conversation.document for conversation in found.values()]
        unread = await find_unread(context.database, user_id, documents, given, keep=False)
        starts |= {name: count.start for name, count in unread.items()}
        names = names[read:]
    return starts
