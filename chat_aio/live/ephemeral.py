"""Ephemeral events and their audience, decoded from the signals that processes exchange."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chat_aio.live.frames import Frame, frame_from
from chat_aio.store.signals import ephemeral_events_in


@dataclass(frozen=True, slots=True, kw_only=True)
class EphemeralDelivery:
    """An event for the streams of some users, of some conversations' participants, or where both
    are given, of these users within these conversations; never for `but`, its sender. One
    `for_moderators` is for the streams of moderators."""

    name: str
    data: str
    conversation_ids: tuple[str, ...]
    user_ids: tuple[str, ...]
    but: str | None
    needs_exchange: bool = False
    for_moderators: bool = False

    def frame(self) -> Frame:
        return frame_from(f"event: {self.name}\ndata: {self.data}\n\n".encode())


def ephemeral_deliveries_from(
    signal: Mapping[str, Any], *, now: datetime
) -> Iterator[EphemeralDelivery]:
    """The ephemeral events of a signal; none if the signal is stale. Raises ValueError for a
    malformed event."""
    for note in ephemeral_events_in(signal, now=now):
        delivery = EphemeralDelivery(
            name=note["name"],
            data=note["data"],
            conversation_ids=tuple(note["conversationIds"]),
            user_ids=tuple(note["userIds"]),
            but=note["but"],
            needs_exchange=note["needsExchange"] is True,
            for_moderators=note["forModerators"] is True,
        )
        ids = (*delivery.conversation_ids, *delivery.user_ids, delivery.but or "")
        texts = (delivery.name, delivery.data, *ids)
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"not an ephemeral event: {note!r}")
        yield delivery
