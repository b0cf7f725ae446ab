"""The events that streams deliver, one class for each kind of change."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Self, TypeAlias, cast

from chat_aio.live.frames import Frame, position_frame, unquoted, without_position
from chat_aio.plugin_types.base import DeliveredMessage
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import Parents

Name = tuple[str, int]
"""The message that an event is about: its conversation and seq."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMessage:
    """The message that an event shows and the one that it quotes, for a host whose `can_read` is
    asked about each message."""

    message: MessageDocument
    parent: MessageDocument | None


@dataclass(eq=False, kw_only=True)
class Event:
    """An event for the streams of a conversation. One that is only this is ephemeral.

    `index` is its place in this process's feed, 0 for an ephemeral event. `encode` makes the frame
    when a stream first needs it. If the event shows a later state than its change, `audience`
    limits it to the participants of that later state: users who were removed in between must not
    see it.
    """

    index: int
    conversation_id: str
    encode: Callable[[], Frame]
    audience: frozenset[str] | None = None

    @cached_property
    def frame(self) -> Frame:
        """What all streams get. Raises if the document, of another program, has a wrong shape."""
        return self.encode()

    @cached_property
    def frame_without_position(self) -> Frame:
        """What all streams get that follow conversations."""
        return without_position(self.frame)

    def behind(self, upto: int) -> Self | None:
        """The event for a reader from whom messages up to a seq are hidden; None if it is about one
        of these."""
        return self


@dataclass(eq=False, kw_only=True)
class ConversationChanged(Event):
    """A conversation was created or changed. `added` and `removed` are the users that this event
    adds to it and removes from it; `delivered` is False if the event does nothing else. `hidden`
    is by user, of those added, up to which seq messages are hidden from them. After `is_deletion`
    nobody hears the conversation."""

    delivered: bool = True
    is_deletion: bool = False
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    hidden: Mapping[str, int] | None = None


@dataclass(eq=False, kw_only=True)
class MessageEvent(Event):
    """The base of the events about a message. `changed_at` is when it was last edited or deleted in
    the state that is shown. `quoted` is the seq of the message that it quotes, 0 without one.
    `mentioned` are the users whom it mentions, where streams get `unread.updated`. `shown` is set
    where the host's `can_read` is asked about each message."""

    seq: int
    changed_at: datetime | None = None
    quoted: int = 0
    mentioned: frozenset[str] = frozenset()
    shown: ShownMessage | None = None

    @property
    def name(self) -> Name:
        return self.conversation_id, self.seq

    @cached_property
    def _unquoted(self) -> Self:
        return replace(
            self, encode=partial(unquoted, self.frame), quoted=0, shown=without_parent(self.shown)
        )

    def without_quote(self) -> Self:
        """The event for a reader who may not read the quoted message; one for all of them."""
        return self._unquoted

    def behind(self, upto: int) -> Self | None:
        if self.seq <= upto:
            return None
        return self.without_quote() if 0 < self.quoted <= upto else self


class ReactionChanged(MessageEvent):
    """A reaction was added or removed."""


@dataclass(eq=False, kw_only=True)
class MessageChanged(MessageEvent):
    """A message was edited or deleted."""

    message_id: str

    @property
    def written_at(self) -> datetime | None:
        return self.changed_at


@dataclass(eq=False, kw_only=True)
class MessageCreated(MessageEvent):
    message_id: str
    sender_id: str
    written_at: datetime | None

    @cached_property
    def position(self) -> Frame:
        """What moves a client's Last-Event-ID behind this event."""
        return position_frame(*self.name)

    @property
    def delivered_message(self) -> DeliveredMessage:
        """The message in the form that plugins get."""
        return DeliveredMessage(self.message_id, self.conversation_id, self.seq, self.sender_id)


DurableEvent: TypeAlias = MessageCreated | MessageChanged
"""The events that clients resume from."""


def quoted_seq(message: MessageDocument, parents: Parents) -> int:
    """The seq of the message that a reply quotes, 0 without one."""
    parent = parents.get(message["replyToMessageId"] or "")
    return parent["seq"] if parent else 0


def without_parent(shown: ShownMessage | None) -> ShownMessage | None:
    """The rest of the host's check, if the quote is not shown."""
    return shown and replace(shown, parent=None)


def shown_message(message: MessageDocument, parents: Parents) -> ShownMessage:
    """The message and the one it quotes; `parents` must hold whole messages."""
    parent = parents.get(message["replyToMessageId"] or "")
    return ShownMessage(message=message, parent=cast(MessageDocument | None, parent))
