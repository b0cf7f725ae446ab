"""The stamp of a change, from which the feed makes an event."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired

from pydantic import SkipValidation
from typing_extensions import TypedDict

ChangeKind = Literal[
    "conversation.created",
    "conversation.updated",
    "participant.added",
    "participant.removed",
    "participants.changed",
    "message.updated",
    "message.deleted",
    "reaction.added",
    "reaction.removed",
]
"""The kinds of changes: names of events, and `participants.changed`, from which the feed makes up
to three events, one per list of users that is not empty."""

ConversationPart = Literal["members", "name", "metadata", "pins"]
"""The parts of a conversation whose changes are dated: `name` is also its visibility, its join
policy and its room controls."""


class Change(TypedDict):
    """The stamp of a write, from which the feed makes an event. It is always set as a whole, in the
    atomic update that it describes. `hiddenUpToSeq` is that of the users it adds."""

    id: str
    at: datetime
    kind: ChangeKind
    actorId: str
    addedUserIds: NotRequired[list[str]]
    removedUserIds: NotRequired[list[str]]
    affectedUserIds: NotRequired[list[str]]
    hiddenUpToSeq: NotRequired[int]
    emoji: NotRequired[str]


Stamp = Annotated[Change, SkipValidation]
"""The stamp of a row. Not validated on reading: a malformed stamp costs an event, not the row."""
