"""Server-sent events as bytes: built once per event and shared by all streams."""

from dataclasses import dataclass
from typing import cast

import orjson

from chat_aio.schema.events import (
    ConversationEvent,
    MessageEvent,
    MessageEventType,
    NewConversationEvent,
    ReactionEvent,
    ResetEvent,
)
from chat_aio.schema.models import Message, json_from

Told = MessageEvent | ReactionEvent | ConversationEvent | NewConversationEvent | ResetEvent


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


def event_frame(event: Told, *, event_id: str | None = None) -> Frame:
    """An event with one line of JSON; `event_id` on durable message events only."""
    head = f"id: {event_id}\nevent: {event.type}\n" if event_id else f"event: {event.type}\n"
    return frame_from(b"%bdata: %b\n\n" % (head.encode(), json_from(event)))


def message_frame(name: str, message: Message) -> Frame:
    """A durable message event. Raises ValueError for an unknown event name."""
    event = MessageEvent(
        type=cast(MessageEventType, name), conversation_id=message.conversation_id, message=message
    )
    return event_frame(event, event_id=f"{message.conversation_id}:{message.seq}")


def unquoted(frame: Frame) -> Frame:
    """The event without its quote, for a reader who may not read the quoted message; the quote
    shows as deleted."""
    head, _, data = frame.plain.partition(b"data: ")
    # orjson is exact here: metadata have no integer of more than 64 bits (docs/behaviour.md 1.4).
    event = orjson.loads(data)
    event["message"]["replyTo"] |= {"senderId": "", "excerpt": "", "deleted": True}
    return frame_from(b"%bdata: %b\n\n" % (head, orjson.dumps(event)))


def position_frame(conversation_id: str, seq: int) -> Frame:
    """An id-only frame: it moves the client's Last-Event-ID without dispatching an event."""
    return frame_from(f"id: {conversation_id}:{seq}\n\n".encode())


def opening_frame(retry_ms: int) -> Frame:
    """The first bytes of a stream: the reconnection delay in milliseconds, and a comment."""
    return frame_from(f"retry: {retry_ms}\n: open\n\n".encode())


def reset_frame(reason: str) -> Frame:
    """`stream.reset`: the missed events cannot be replayed completely; the client refetches."""
    return event_frame(ResetEvent(reason=reason))


HEARTBEAT = frame_from(b": keep-alive\n\n")
