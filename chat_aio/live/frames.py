"""Server-sent events as bytes: built once per event and shared by all streams."""

from dataclasses import dataclass

import orjson

from chat_aio.schema.events import (
    ChangedEvent,
    ConversationDeletedEvent,
    ConversationEvent,
    NewConversationEvent,
    OpenedEvent,
    PingEvent,
    ReactionEvent,
    ResetEvent,
    UnreadEvent,
)
from chat_aio.schema.models import OptionalFields
from chat_aio.schema.wire import json_from
from chat_aio.store.documents import MessageDocument
from chat_aio.store.event_data import message_event_json
from chat_aio.store.mapping import Parents

FrameEvent = (
    ReactionEvent
    | ConversationEvent
    | NewConversationEvent
    | ConversationDeletedEvent
    | ResetEvent
    | ChangedEvent
    | UnreadEvent
    | OpenedEvent
    | PingEvent
)


@dataclass(frozen=True, slots=True)
class Frame:
    """An encoded event: `chunk` in HTTP/1.1's chunked coding, `plain` without it."""

    chunk: bytes
    _start: int

    @property
    def plain(self) -> bytes:
        return self.chunk[self._start : -2]


def frame_from(text: bytes) -> Frame:
    head = b"%x\r\n" % len(text)
    return Frame(b"%b%b\r\n" % (head, text), len(head))


def joined(first: Frame, second: Frame) -> Frame:
    """Two frames that are written in one piece."""
    return frame_from(first.plain + second.plain)


def event_frame(event: FrameEvent) -> Frame:
    """An event that is not durable, and so has no id, with one line of JSON."""
    return frame_from(b"event: %b\ndata: %b\n\n" % (event.type.encode(), json_from(event)))


def message_frame(
    name: str, document: MessageDocument, parents: Parents, optional: OptionalFields
) -> Frame:
    """A durable message event. Raises ValueError for an unknown event name and a malformed
    document."""
    data = message_event_json(name, document, parents, optional)
    head = f"id: {document['conversationId']}:{document['seq']}\nevent: {name}\ndata: "
    return frame_from(b"%b%b\n\n" % (head.encode(), data))


def unquoted(frame: Frame) -> Frame:
    """The event without its quote, for a reader who may not read the quoted message; the quote
    shows as deleted."""
    head, _, data = frame.plain.partition(b"data: ")
    # orjson is exact here: metadata have no integer of more than 64 bits (specification 1.4).
    event = orjson.loads(data)
    event["message"]["replyTo"] |= {"senderId": "", "excerpt": "", "deleted": True}
    return frame_from(b"%bdata: %b\n\n" % (head, orjson.dumps(event)))


def without_position(frame: Frame) -> Frame:
    """The event without its id, for a reader who cannot resume."""
    first, _, rest = frame.plain.partition(b"\n")
    return frame_from(rest) if first.startswith(b"id: ") else frame


def position_frame(conversation_id: str, seq: int) -> Frame:
    """An id-only frame: it moves the client's Last-Event-ID without dispatching an event."""
    return frame_from(f"id: {conversation_id}:{seq}\n\n".encode())


def opening_frame(retry_ms: int) -> Frame:
    """The first bytes of a stream: the reconnection delay in milliseconds, and a comment."""
    return frame_from(f"retry: {retry_ms}\n: open\n\n".encode())


def reset_frame(reason: str) -> Frame:
    """`stream.reset`: the missed events cannot be replayed completely; the client refetches."""
    return event_frame(ResetEvent(reason=reason))


def opened_frame(user_id: str) -> Frame:
    """The user of a stream."""
    return event_frame(OpenedEvent(user_id=user_id))


def ping_frame(interval_ms: int) -> Frame:
    """A heartbeat that is an event."""
    return event_frame(PingEvent(interval_ms=interval_ms))


HEARTBEAT = frame_from(b": keep-alive\n\n")
