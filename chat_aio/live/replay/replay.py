"""Replay: what a client that comes back is told before anything new."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from chat_aio.live.event import Event, Name, ShownMessage, shown_message
from chat_aio.live.frames import Frame, message_frame, position_frame, reset_frame
from chat_aio.live.replay.buffer import BufferedEvent
from chat_aio.observability.observer import Reset, Source
from chat_aio.plugins.base import DeliveredMessage
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import Parents, message_from

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """What a replay has told that the feed may tell as well, because it has not come so far yet:
    `created` and `changed` name it, `shown` says how new the states were that it showed. `passed`
    is done once the feed has told all that was committed when the replay was read."""

    created: frozenset[Name]
    changed: Mapping[Name, datetime]
    shown: Mapping[Name, datetime]
    passed: asyncio.Future[None]

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
class Replay:
    """The frames that come first, and the `position` they leave the client at: the newest created
    event told, else the newest there is (docs/behaviour.md 7.4). `messages` are told as created.
    `events` of the past are told, from this `source`; or it is a `reset` for this reason.
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
    """An event of the past as it is told now: a message's creation, or its last change
    (`is_change`). `changed_at` is when the message was last changed in the state that is shown."""

    name: Name
    frame: Frame
    message: DeliveredMessage
    created_at: datetime
    changed_at: datetime | None = None
    is_change: bool = False
    shown: ShownMessage | None = field(default=None, repr=False)


def replayed_event_from(
    document: MessageDocument, parents: Parents, *, is_change: bool
) -> ReplayedEvent | None:
    """A message's creation or last change, as the message is now.

    None for the creation of what is deleted by now, of which the deletion is told, and for a row
    of another program that cannot be told.
    """
    deleted = bool(document.get("deletedAt"))
    if deleted and not is_change:
        return None
    changed = "message.deleted" if deleted else "message.updated"
    try:
        message = message_from(document, parents)
        return ReplayedEvent(
            name=(message.conversation_id, message.seq),
            frame=message_frame(changed if is_change else "message.created", message),
            message=DeliveredMessage(
                message.id, message.conversation_id, message.seq, message.sender_id
            ),
            shown=shown_message(document, parents),
            created_at=message.created_at,
            changed_at=document["changedAt"] if is_change else document.get("changedAt"),
            is_change=is_change,
        )
    except Exception as error:
        message_id = document.get("_id")
        named = {"message_id": message_id}
        log.error("message %r cannot be told: %r", message_id, error, extra=named)
        return None


def replay_of_nothing(position: Frame, *, reset: Reset | None = None) -> Replay:
    """Nothing was missed; or more was than can be told, for the reason that `reset` names."""
    frames = (reset_frame(reset), position) if reset else (position,)
    return Replay(reset=reset, frames=frames, position=position)


def replay_from_feed(
    told: Sequence[tuple[BufferedEvent, ReplayedEvent | None]],
    *,
    since: Frame,
    newest: Frame | None,
    passed: asyncio.Future[None] | None = None,
) -> Replay:
    """Missed events in the order of the feed; of some there is nothing to tell any more. Behind an
    update stands the newest created event before it, the client's own position at first: a
    connection cut in between loses nothing."""
    frames: list[Frame] = []
    position = since
    for kept, stored in told:
        if kept.created:
            position = position_frame(*kept.name)
        if stored is not None:
            frames += [stored.frame, position] if stored.is_change else [stored.frame]
    if not any(kept.created for kept, _ in told):
        position = newest or since
    events = [stored for _, stored in told if stored is not None]
    return Replay(
        source="ring",
        frames=(*frames, position),
        position=position,
        **_details(events, passed),
    )


def replay_from_storage(
    told: Sequence[ReplayedEvent],
    *,
    since: Frame,
    newest: Frame,
    passed: asyncio.Future[None] | None,
) -> Replay:
    """Missed events by their times, which is not the order of the feed: until all are told, the
    position stays the client's own."""
    frames = [frame for each in told for frame in (each.frame, since)]
    return Replay(
        source="storage", frames=(*frames, newest), position=newest, **_details(told, passed)
    )


def _details(told: Sequence[ReplayedEvent], passed: asyncio.Future[None] | None) -> dict[str, Any]:
    return {
        "events": len(told),
        "messages": tuple(each.message for each in told if not each.is_change),
        "cover": _cover(told, passed) if told and passed else None,
    }


def _cover(told: Iterable[ReplayedEvent], passed: asyncio.Future[None]) -> Cover:
    return Cover(
        created=frozenset(each.name for each in told if not each.is_change),
        changed={each.name: each.changed_at for each in told if each.is_change and each.changed_at},
        shown={each.name: each.changed_at for each in told if each.changed_at},
        passed=passed,
    )
