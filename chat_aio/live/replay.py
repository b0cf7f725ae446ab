"""Replay: what a client that comes back is told before anything new."""

import re
from dataclasses import dataclass

from chat_aio.fields import is_id
from chat_aio.live.event import Event
from chat_aio.live.frames import Frame, reset_frame

Position = tuple[str, int]
"""A conversation's id and the seq of a message in it."""

_SEQ = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The missed events in feed order, or the reason why they cannot be told completely.

    `since` is the position the client came with, `newest` the one to name where no message is
    told: both as id-only frames (docs/behaviour.md 7.3).
    """

    events: tuple[Event, ...] = ()
    since: Frame | None = None
    newest: Frame | None = None
    reset: str | None = None

    @property
    def position(self) -> Frame | None:
        """The newest created event told, else the newest there is."""
        created = (each.position for each in reversed(self.events) if each.created)
        return next(created, self.newest)

    def frames(self) -> list[Frame]:
        """All of it as it goes out. Behind an update stands the newest created event told before
        it, so that a connection cut in the middle loses nothing."""
        frames = [reset_frame(self.reset)] if self.reset else []
        told = self.since
        for event in self.events:
            frames.append(event.frame)
            if event.created:
                told = event.position
            elif told:
                frames.append(told)
        return [*frames, self.position] if self.position else frames


def position_from(last_event_id: str | None) -> Position | None:
    """The conversation and seq that a Last-Event-ID names, None if it names nothing."""
    conversation_id, _, seq = (last_event_id or "").rpartition(":")
    return (conversation_id, int(seq)) if is_id(conversation_id) and _SEQ.fullmatch(seq) else None
