"""Replay: what a client that comes back is told before anything new."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from chat_aio.fields import is_id
from chat_aio.live.event import Event, Name, Shown
from chat_aio.live.frames import Frame, reset_frame
from chat_aio.observer import Reset, Source
from chat_aio.plugin import ToldMessage

_SEQ = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The frames that come first, and the `position` they leave the client at: the newest created
    event told, else the newest there is (docs/behaviour.md 7.4). `messages` are told as created.
    `events` of the past are told, from this `source`; or it is a `reset` for this reason.

    What comes from storage is there as it was found, in `stored`. `created` and `changed` name what
    was told from there, `shown` how new the states were that it showed; the feed may tell it as
    well.
    """

    source: Source = "none"
    reset: Reset | None = None
    events: int = 0
    frames: tuple[Frame, ...] = ()
    position: Frame | None = None
    messages: tuple[ToldMessage, ...] = ()
    created: frozenset[Name] = frozenset()
    changed: Mapping[Name, datetime] = field(default_factory=dict)
    shown: Mapping[Name, datetime] = field(default_factory=dict)
    stored: tuple["Stored", ...] = ()

    def covers(self, event: Event) -> bool:
        """Whether a live event says what has been told, or what was so before that."""
        if event.created:
            return event.name in self.created
        shown = self.shown.get(event.name)
        if shown is None:
            return False
        if event.changed_at is None or event.changed_at < shown:
            return True
        return event.position is not None and self.changed.get(event.name) == event.changed_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An event that is told from storage: a message's creation, or its last change (`is_change`).
    `changed_at` is when the message was last changed in the state that is shown."""

    name: Name
    frame: Frame
    message: ToldMessage
    changed_at: datetime | None = None
    is_change: bool = False
    shown: Shown | None = None


def replay_of_nothing(position: Frame | None, *, reset: Reset | None = None) -> Replay:
    """Nothing was missed; or more was than can be told, for the reason that `reset` names."""
    frames = [reset_frame(reset)] if reset else []
    frames = [*frames, position] if position else frames
    return Replay(reset=reset, frames=tuple(frames), position=position)


def replay_from_feed(
    events: Sequence[Event], *, since: Frame | None, newest: Frame | None
) -> Replay:
    """Missed events in the order of the feed. Behind an update stands the newest created event told
    before it, the client's own position at first: a connection cut in between loses nothing."""
    frames: list[Frame] = []
    told = since
    for event in events:
        frames.append(event.frame)
        if event.created:
            told = event.position
        elif told:
            frames.append(told)
    created = next((each.position for each in reversed(events) if each.created), None)
    position = created or newest or since
    return Replay(
        source="ring",
        events=len(events),
        frames=tuple([*frames, position] if position else frames),
        position=position,
        messages=tuple(each.told_message for each in events if each.created),
    )


def replay_from_storage(told: Sequence[Stored], *, since: Frame, newest: Frame) -> Replay:
    """Missed events by their times, which is not the order of the feed: until all are told, the
    position stays the client's own."""
    frames = [frame for each in told for frame in (each.frame, since)]
    return Replay(
        source="storage",
        events=len(told),
        frames=(*frames, newest),
        position=newest,
        messages=tuple(each.message for each in told if not each.is_change),
        created=frozenset(each.name for each in told if not each.is_change),
        changed={each.name: each.changed_at for each in told if each.is_change and each.changed_at},
        shown={each.name: each.changed_at for each in told if each.changed_at},
        stored=tuple(told),
    )


def position_from(last_event_id: str | None) -> Name | None:
    """The message that a Last-Event-ID names, None if it names nothing."""
    conversation_id, _, seq = (last_event_id or "").rpartition(":")
    return (conversation_id, int(seq)) if is_id(conversation_id) and _SEQ.fullmatch(seq) else None
