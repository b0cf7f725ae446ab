"""Durable events of messages, as the feed delivers and the replay buffer keeps them."""

from datetime import UTC, datetime, timedelta

from chat_aio.live.event import DurableEvent, MessageChanged, MessageCreated
from chat_aio.live.frames import frame_from
from chat_aio.live.replay.buffer import BufferedEvent

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def event(
    index: int,
    name: str,
    *,
    created: bool = True,
    changed_at: datetime | None = None,
    seconds: float | None = None,
) -> DurableEvent:
    """A durable event of message `name`, such as "c:5", written some seconds after noon."""
    conversation_id, seq = name.split(":")
    written_at = NOON + timedelta(seconds=index if seconds is None else seconds)
    if created:
        return MessageCreated(
            index=index,
            conversation_id=conversation_id,
            encode=lambda: frame_from(f"created {name}".encode()),
            seq=int(seq),
            changed_at=changed_at,
            written_at=written_at,
            message_id=name,
            sender_id="alice",
        )
    return MessageChanged(
        index=index,
        conversation_id=conversation_id,
        encode=lambda: frame_from(f"updated {name}".encode()),
        seq=int(seq),
        changed_at=changed_at or written_at,
        message_id=name,
    )


def kept(index: int, name: str = "seen:1", *, created: bool = True) -> BufferedEvent:
    conversation_id, seq = name.split(":")
    at = NOON + timedelta(seconds=index)
    return BufferedEvent(index, (conversation_id, int(seq)), name, created, at, at)
