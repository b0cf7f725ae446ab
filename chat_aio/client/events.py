"""The events of a stream as objects; an event's `type` decides its class."""

from typing import Any, get_args

from chat_aio.client.decoding import read
from chat_aio.schema.drafts import DraftEndedEvent, DraftEvent
from chat_aio.schema.events import (
    ChangedEvent,
    ConversationBanEvent,
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
    ReportEvent,
    ResetEvent,
    StreamEvent,
    TypingEvent,
    UnreadEvent,
    ViewEvent,
)


class OtherEvent(StreamEvent):
    """An event of a type that this client does not know, such as one of a host's own plugin; `data`
    is its JSON."""

    type: str
    data: dict[str, Any]


Known = (
    MessageEvent
    | ReactionEvent
    | ConversationEvent
    | NewConversationEvent
    | ConversationDeletedEvent
    | JoinRequestEvent
    | ConversationBanEvent
    | ReadEvent
    | ViewEvent
    | UnreadEvent
    | ReportEvent
    | ResetEvent
    | ChangedEvent
    | TypingEvent
    | PresenceEvent
    | DeliveredEvent
    | ReadReceiptEvent
    | DraftEvent
    | DraftEndedEvent
)
Event = Known | OtherEvent

SHAPES: dict[str, type[Known]] = {
    name: shape
    for shape in get_args(Known)
    for name in get_args(shape.model_fields["type"].annotation)
}


def event_from(name: str, told: dict[str, Any]) -> Event:
    """The event with this name and JSON."""
    if shape := SHAPES.get(name):
        return read(shape, told)
    return OtherEvent(type=name, data=told)
