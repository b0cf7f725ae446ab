"""An event: what streams are told, in which conversation, and who comes and goes with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from chat_aio.live.frames import Frame

Name = tuple[str, int]
"""Which message a durable event is about: its conversation and seq."""


@dataclass(frozen=True, slots=True)
class Retold:
    """The events of a message as it is now: that it was created, and that it was changed."""

    created: Frame
    changed: Frame

    @property
    def size(self) -> int:
        return len(self.created.chunk) + len(self.changed.chunk)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event for everyone in a conversation; `index` is its place in this process's feed.

    Durable message events have a `position`, which clients resume from, and those of an edit or
    deletion also `retold`: how events of that message, and of replies to it, are told from then on.
    `added` and `removed` are the users that this event lets in and out; `told` is False where that
    is all it does. An event that shows a later state than its own has an `audience`: who was in the
    conversation even then, so that whoever goes out in between is not shown what came after.
    """

    index: int
    conversation_id: str
    frame: Frame
    told: bool = True
    audience: frozenset[str] | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    seq: int = 0
    created: bool = False
    position: Frame | None = None
    message_id: str = ""
    parent_id: str | None = None
    retold: Mapping[Name, "Retold"] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many bytes it holds."""
        return len(self.frame.chunk) + sum(each.size for each in self.retold.values())

    @property
    def name(self) -> Name:
        """Of a durable event: the message it is about."""
        return self.conversation_id, self.seq
