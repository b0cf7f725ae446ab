"""The Python client: `ChatClient` has the methods of the server API, over HTTP."""

from chat_aio.client.client import ChatClient
from chat_aio.client.events import Event, OtherEvent
from chat_aio.client.stream import EventStream
from chat_aio.errors import ChatError
from chat_aio.schema.events import (
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
)

__all__ = [
    "ChatClient",
    "ChatError",
    "ConversationEvent",
    "DeliveredEvent",
    "Event",
    "EventStream",
    "JoinRequestEvent",
    "MessageEvent",
    "NewConversationEvent",
    "OtherEvent",
    "PresenceEvent",
    "ReactionEvent",
    "ReadEvent",
    "ReadReceiptEvent",
    "ResetEvent",
    "TypingEvent",
]
