"""An event: what is delivered to streams, for which conversation, and whom it adds or removes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Self, cast

from chat_aio.live.frames import Frame, position_frame, unquoted
from chat_aio.plugins.base import DeliveredMessage
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import Parents

Name = tuple[str, int]
"""The message that a durable event is about: its conversation and seq."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMessage:
    """The message that an event shows and the one that it quotes, for a host whose `can_read` is
    asked about each message."""

    message: MessageDocument
    parent: MessageDocument | None


@dataclass(eq=False, kw_only=True)
class Event:
    """One event for everyone in a conversation; `index` is its place in this process's feed.

    `encode` makes the frame, when a stream first needs it. Durable events are the message events
    that clients resume from; `written_at` is when what they tell was written. `changed_at` is when
    the message was last edited or deleted in the state that is shown, in events of reactions too.
    `added` and `removed` are the users that this event adds to and removes from the conversation;
    `delivered` is False if the event does nothing else. If the event shows a later state than its
    change, `audience` limits it to the participants of that later state: users who were removed in
    between must not see it. `hidden` is by user, of those added, up to which seq messages are
    hidden from them; `quoted` is the seq of the message that is quoted, 0 without one. `shown` is
    set where the host's `can_read` is asked about each message.
    """

    index: int
    conversation_id: str
    encode: Callable[[], Frame]
    delivered: bool = True
    audience: frozenset[str] | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    hidden: Mapping[str, int] | None = None
    seq: int = 0
    quoted: int = 0
    created: bool = False
    durable: bool = False
    written_at: datetime | None = None
    changed_at: datetime | None = None
    message_id: str = ""
    sender_id: str = ""
    shown: ShownMessage | None = None

    @cached_property
    def frame(self) -> Frame:
        """What all streams get. Raises if the document, of another program, has a wrong shape."""
        return self.encode()

    @cached_property
    def position(self) -> Frame:
        """What moves a client's Last-Event-ID behind this event."""
        return position_frame(*self.name)

    @property
    def delivered_message(self) -> DeliveredMessage:
        """The message of a created event, in the form that plugins get."""
        return DeliveredMessage(self.message_id, self.conversation_id, self.seq, self.sender_id)

    @property
    def name(self) -> Name:
        """The message that a durable event is about."""
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
        """The event for a reader from whom messages up to a seq are hidden; None if it is about one
        of these."""
        if 0 < self.seq <= upto:
            return None
        return self.without_quote() if 0 < self.quoted <= upto else self


def quoted_seq(message: MessageDocument, parents: Parents) -> int:
    """The seq of the message that a reply quotes, 0 without one."""
    parent = parents.get(message["replyToMessageId"] or "")
    return parent["seq"] if parent else 0


def without_parent(shown: ShownMessage | None) -> ShownMessage | None:
    """What is left to ask the host about, if the quote is not shown."""
    return shown and replace(shown, parent=None)


def shown_message(message: MessageDocument, parents: Parents) -> ShownMessage:
    """The message and the one it quotes; `parents` must hold whole messages."""
    parent = parents.get(message["replyToMessageId"] or "")
    return ShownMessage(message=message, parent=cast(MessageDocument | None, parent))
