"""The Python client: `ChatClient` has the methods of the server API, over HTTP."""

from chat_aio.client.bot import Bot, BotMessage
from chat_aio.client.changes import FetchedChanges, fetch_changed
from chat_aio.client.client import ChatClient
from chat_aio.client.events import Event, OtherEvent
from chat_aio.client.positions import FilePositions, Positions
from chat_aio.client.stream import EventStream
from chat_aio.errors import ChatError
from chat_aio.schema.drafts import DraftEndedEvent, DraftEvent
from chat_aio.schema.events import (
    ChangedEvent,
    ConversationDeletedEvent,
    ConversationEvent,
    DeliveredEvent,
    JoinRequestEvent,
    MessageEvent,
    NewConversationEvent,
    PresenceEvent,
    ReactionEvent,
    ReadEvent,
    ReadReceiptEvent,
    ResetEvent,
    TypingEvent,
    UnreadEvent,
    ViewEvent,
)

__all__ = [
    "Bot",
    "BotMessage",
    "ChangedEvent",
    "ChatClient",
    "ChatError",
    "ConversationDeletedEvent",
    "ConversationEvent",
    "DeliveredEvent",
    "DraftEndedEvent",
    "DraftEvent",
    "Event",
    "EventStream",
    "FetchedChanges",
    "FilePositions",
    "JoinRequestEvent",
    "MessageEvent",
    "NewConversationEvent",
    "OtherEvent",
    "Positions",
    "PresenceEvent",
    "ReactionEvent",
    "ReadEvent",
    "ReadReceiptEvent",
    "ResetEvent",
    "TypingEvent",
    "UnreadEvent",
    "ViewEvent",
    "fetch_changed",
]
