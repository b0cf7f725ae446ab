"""An event: what streams are told, in which conversation, and who comes and goes with it."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from chat_aio.live.frames import Frame
from chat_aio.plugins.base import DeliveredMessage
from chat_aio.store.documents import MessageDocument
from chat_aio.store.mapping import Parents

Name = tuple[str, int]
"""Which message a durable event is about: its conversation and seq."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMessage:
    """The message whose text an event shows, and the one that it quotes, for a host that is asked
    about each."""

    message: MessageDocument
    parent: MessageDocument | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event for everyone in a conversation; `index` is its place in this process's feed.

    Durable message events have a `position`, which clients resume from. `changed_at` is when the
    message was last edited or deleted in the state that is shown, in events of reactions too.
    `added` and `removed` are the users that this event lets in and out; `delivered` is False where
    that is all it does. An event that shows a later state than its own has an `audience`: who was
    in the conversation even then, so that whoever goes out in between is not shown what came after.
    `shown` is kept where a host is asked about each message.
    """

    index: int
    conversation_id: str
    frame: Frame
    delivered: bool = True
    audience: frozenset[str] | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    seq: int = 0
    created: bool = False
    position: Frame | None = None
    changed_at: datetime | None = None
    message_id: str = ""
    sender_id: str = ""
    shown: ShownMessage | None = None

    @property
    def delivered_message(self) -> DeliveredMessage:
        """Of a created event: the message, as plugins hear of it."""
        return DeliveredMessage(self.message_id, self.conversation_id, self.seq, self.sender_id)

    @property
    def name(self) -> Name:
        """Of a durable event: the message it is about."""
        return self.conversation_id, self.seq


def shown_message(message: MessageDocument, parents: Parents) -> ShownMessage:
    """What an event of this message shows; `parents` are whole messages."""
    parent = parents.get(message["replyToMessageId"] or "")
    return ShownMessage(message=message, parent=cast(MessageDocument | None, parent))
