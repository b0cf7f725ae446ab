"""What is told to streams once, and to whom: the notes that processes send one another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chat_aio.live.frames import Frame, frame_from
from chat_aio.store.signals import ephemeral_events_in


@dataclass(frozen=True, slots=True, kw_only=True)
class EphemeralDelivery:
    """An event for the streams of some users, or of some conversations' participants."""

    name: str
    data: str
    conversation_ids: tuple[str, ...]
    user_ids: tuple[str, ...]
    but: str | None
    needs_exchange: bool = False

    def frame(self) -> Frame:
        return frame_from(f"event: {self.name}\ndata: {self.data}\n\n".encode())


def ephemeral_deliveries_from(
    signal: Mapping[str, Any], *, now: datetime
) -> Iterator[EphemeralDelivery]:
    """What a signal says, unless that was long ago. Raises ValueError for what is no note."""
    for note in ephemeral_events_in(signal, now=now):
        told = EphemeralDelivery(
            name=note["name"],
            data=note["data"],
            conversation_ids=tuple(note["conversationIds"]),
            user_ids=tuple(note["userIds"]),
            but=note["but"],
            needs_exchange=note.get("needsExchange") is True,
        )
        texts = (told.name, told.data, *told.conversation_ids, *told.user_ids)
        if not all(isinstance(each, str) for each in texts):
            raise ValueError(f"no note: {note!r}")
        yield told
