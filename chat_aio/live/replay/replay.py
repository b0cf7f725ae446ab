"""Replay: what a reconnecting client gets before any live event."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from chat_aio.live.event import (
    MessageChanged,
    MessageCreated,
    MessageEvent,
    Name,
    ShownMessage,
    quoted_seq,
    shown_message,
    without_parent,
)
from chat_aio.live.frames import Frame, message_frame, position_frame, reset_frame, unquoted
from chat_aio.live.replay.buffer import BufferedEvent
from chat_aio.observability.observer import Reset, Source
from chat_aio.plugin_types.base import DeliveredMessage
from chat_aio.schema.models import OptionalFields
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import Parents

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """The events of a replay that the feed may deliver again, because it is behind the replay's
    reads. `created` and `changed` name the events, `shown` holds the `changed_at` of the states
    shown. `passed` is done once the feed has delivered all that was committed at the reads."""

    created: frozenset[Name]
    changed: Mapping[Name, datetime]
    shown: Mapping[Name, datetime]
    passed: asyncio.Future[None]

    def covers(self, event: MessageEvent) -> bool:
        """Whether a live event repeats the replay, or shows an older state than it did."""
        if isinstance(event, MessageCreated):
            # Also where the replay showed its deletion instead: after that, the text of the
            # creation would stay for good, since the deletion is not delivered again.
            return event.name in self.created or event.name in self.shown
        shown = self.shown.get(event.name)
        if shown is None:
            return False
        if event.changed_at is None or event.changed_at < shown:
            return True
        # A reaction is not covered: it may be newer than the replay even if the text that it shows
        # is the same.
        return (
            isinstance(event, MessageChanged) and self.changed.get(event.name) == event.changed_at
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The frames to send first, and the `position` at which they leave the client: the newest
    created event among them, else the newest there is (specification 7.4).

    `messages` are those whose created event is replayed, `events` counts all replayed events,
    `source` is where they come from. With a `reset` nothing is replayed, for this reason.
    """

    source: Source = "none"
    reset: Reset | None = None
    events: int = 0
    frames: tuple[Frame, ...] = ()
    position: Frame | None = None
    messages: tuple[DeliveredMessage, ...] = ()
    cover: Cover | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedEvent:
    """A past event in the message's present state: its creation, or its last change (`is_change`).
    `changed_at` is when the message was last edited or deleted in the state that is shown; `quoted`
    is the seq of the message that it quotes, 0 without one."""

    name: Name
    frame: Frame
    message: DeliveredMessage
    created_at: datetime
    changed_at: datetime | None = None
    is_change: bool = False
    quoted: int = 0
    shown: ShownMessage | None = field(default=None, repr=False)

    def without_quote(self) -> Self:
        """The event for a reader who may not read the quoted message."""
        return replace(self, frame=unquoted(self.frame), quoted=0, shown=without_parent(self.shown))

    def behind(self, upto: int) -> Self | None:
        """The event for a reader from whom messages up to a seq are hidden; None if it is about one
        of these."""
        if self.name[1] <= upto:
            return None
        return self.without_quote() if 0 < self.quoted <= upto else self


def replayed_event_from(
    document: MessageDocument, parents: Parents, optional: OptionalFields, *, is_change: bool
) -> ReplayedEvent | None:
    """A message's creation or last change, in the message's present state.

    None for the creation of a message that is deleted by now (its deletion is replayed instead),
    and for a malformed row of another program.
    """
    deleted = bool(document.get("deletedAt"))
    if deleted and not is_change:
        return None
    changed = "message.deleted" if deleted else "message.updated"
    try:
        kind = changed if is_change else "message.created"
        conversation_id, seq = document["conversationId"], document["seq"]
        return ReplayedEvent(
            name=(conversation_id, seq),
            frame=message_frame(kind, document, parents, optional),
            message=DeliveredMessage(document["_id"], conversation_id, seq, document["senderId"]),
            shown=shown_message(document, parents),
            quoted=quoted_seq(document, parents),
            created_at=document["createdAt"],
            # A change without its time has no place in a replay: the KeyError counts as malformed.
            changed_at=document["changedAt"] if is_change else document.get("changedAt"),
            is_change=is_change,
        )
    except Exception as error:
        message_id = document.get("_id")
        named = {"message_id": message_id}
        log.error("no event can be made of message %r: %r", message_id, error, extra=named)
        return None


def replay_of_nothing(position: Frame, *, reset: Reset | None = None) -> Replay:
    """A replay without events: nothing was missed, or it is a reset for the given reason."""
    frames = (reset_frame(reset), position) if reset else (position,)
    return Replay(reset=reset, frames=frames, position=position)


def with_changes(replay: Replay, changed: Frame, since: Frame, *, names_any: bool) -> Replay:
    """The replay, and after its events `stream.changed`. Only then the client's position moves
    beyond `since`: a client that is cut off before it needs the same again."""
    *events, position = replay.frames
    if names_any and replay.source == "buffer":
        events = [frame for event in events for frame in (event, since)]
    return replace(replay, frames=(*events, changed, position))


def replay_from_feed(
    events: Sequence[tuple[BufferedEvent, ReplayedEvent | None]],
    *,
    since: Frame,
    newest: Frame | None,
    passed: asyncio.Future[None] | None = None,
) -> Replay:
    """Missed events in feed order; those of messages that are gone are None. `newest` is the
    position of the last created event of all that the buffer holds for the client."""
    frames: list[Frame] = []
    position = since
    for kept, stored in events:
        if kept.created:
            position = position_frame(*kept.name)
        # An update has the id of its message, which may be old. The position after it is that of
        # the newest created event so far, so that a connection cut here resumes without loss.
        if stored is not None:
            frames += [stored.frame, position] if stored.is_change else [stored.frame]
    position = newest or position
    found = [stored for _, stored in events if stored is not None]
    return Replay(
        source="buffer",
        frames=(*frames, position),
        position=position,
        **_details(found, passed),
    )


def replay_from_storage(
    events: Sequence[ReplayedEvent],
    *,
    since: Frame,
    newest: Frame,
    passed: asyncio.Future[None] | None,
) -> Replay:
    """Missed events in the order of their times."""
    # Times are not feed order: an event in the middle is no position to resume from. So the
    # client's own position is repeated after each event, and a replay that is cut starts over.
    frames = [frame for event in events for frame in (event.frame, since)]
    return Replay(
        source="storage", frames=(*frames, newest), position=newest, **_details(events, passed)
    )


def _details(
    events: Sequence[ReplayedEvent], passed: asyncio.Future[None] | None
) -> dict[str, Any]:
    cover = None
    if events and passed:
        shown = {event.name: event.changed_at for event in events if event.changed_at}
        changed = {event.name for event in events if event.is_change}
        cover = Cover(
            created=frozenset(event.name for event in events if not event.is_change),
            changed={name: at for name, at in shown.items() if name in changed},
            shown=shown,
            passed=passed,
        )
    return {
        "events": len(events),
        "messages": tuple(event.message for event in events if not event.is_change),
        "cover": cover,
    }
