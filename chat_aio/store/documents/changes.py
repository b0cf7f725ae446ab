"""The stamp of a change, from which the feed makes an event."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired

from pydantic import SkipValidation
from typing_extensions import TypedDict

EventName = Literal[
    "conversation.created",
    "conversation.updated",
    "participant.added",
    "participant.removed",
    "message.updated",
    "message.deleted",
    "reaction.added",
    "reaction.removed",
]


class Change(TypedDict):
    """The stamp of a write, from which the feed makes an event. It is always set as a whole, in the
    atomic update that it describes. `hiddenUpto` is that of those it adds."""

    id: str
    at: datetime
    kind: EventName
    actorId: str
    addedUserIds: NotRequired[list[str]]
    removedUserIds: NotRequired[list[str]]
    affectedUserIds: NotRequired[list[str]]
    hiddenUpto: NotRequired[int]
    emoji: NotRequired[str]


Stamp = Annotated[Change, SkipValidation]
"""The stamp of a row. Not validated on reading: a malformed stamp costs an event, not the row."""
