"""Fetches what `stream.changed` names, in place of everything that a program keeps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chat_aio.client.client import ChatClient
from chat_aio.client.repeating import until_answered
from chat_aio.errors import ConversationNotFound, ForbiddenRead
from chat_aio.schema.events import ChangedEvent
from chat_aio.schema.models import ConversationWithUnread, Message

MOST_ONE_BY_ONE = 5
"""More conversations are fetched as a list."""

PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedChanges:
    """The present state of changed conversations, and the newest messages of those with changed
    reactions, both by id; and the ids of conversations that the user can no longer read."""

    conversations: Mapping[str, ConversationWithUnread]
    messages: Mapping[str, Sequence[Message]]
    removed: frozenset[str]


async def fetch_changed(client: ChatClient, event: ChangedEvent) -> FetchedChanges:
    """Fetch what `event` names; with `event.all`, all conversations and no messages. Removed
    conversations are not fetched. Waits while the service does not answer. Raises ChatError."""
    named = event.conversations
    rows = {*named.members, *named.name, *named.metadata, *named.pins, *named.own_marks}
    removed = {*named.removed}
    conversations: dict[str, ConversationWithUnread] = {}
    messages: dict[str, Sequence[Message]] = {}
    if event.all or len(rows) > MOST_ONE_BY_ONE:
        conversations = await _listed(client, None if event.all else rows)
        removed |= rows - conversations.keys()
    else:
        for conversation_id in rows:
            try:
                found = await until_answered(client.get_conversation, conversation_id)
                conversations[conversation_id] = found
            except (ConversationNotFound, ForbiddenRead):  # Removed in the meantime.
                removed.add(conversation_id)
    for conversation_id in named.reactions:
        try:
            page = await until_answered(client.list_messages, conversation_id, limit=PAGE)
            messages[conversation_id] = page.messages
        except (ConversationNotFound, ForbiddenRead):
            removed.add(conversation_id)
    return FetchedChanges(
        conversations=conversations, messages=messages, removed=frozenset(removed)
    )


async def _listed(client: ChatClient, wanted: set[str] | None) -> dict[str, ConversationWithUnread]:
    """All conversations, or page by page until all wanted ones are found."""
    found: dict[str, ConversationWithUnread] = {}
    cursor = None
    while True:
        page = await until_answered(client.list_conversations, limit=PAGE, cursor=cursor)
        for conversation in page.conversations:
            if wanted is None or conversation.id in wanted:
                found[conversation.id] = conversation
        cursor = page.next_cursor
        if cursor is None or (wanted is not None and wanted <= found.keys()):
            return found
