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
    if event.all:
        conversations = await _listed(client)
    else:
        if len(rows) > MOST_ONE_BY_ONE:
            ids = sorted(rows)
            for start in range(0, len(ids), PAGE):
                conversations |= await _listed(client, ids[start : start + PAGE])
        # Also the rest of a list, which leaves out the conversations that the user has hidden.
        for conversation_id in rows - conversations.keys():
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


async def _listed(
    client: ChatClient, ids: Sequence[str] | None = None
) -> dict[str, ConversationWithUnread]:
    """All listed conversations, or those with these ids."""
    found: dict[str, ConversationWithUnread] = {}
    cursor = None
    while True:
        page = await until_answered(client.list_conversations, limit=PAGE, cursor=cursor, ids=ids)
        found |= {conversation.id: conversation for conversation in page.conversations}
        cursor = page.next_cursor
        if cursor is None:
            return found
