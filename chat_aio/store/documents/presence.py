"""What is stored about presence."""

from datetime import datetime
from typing import NotRequired

from typing_extensions import TypedDict


class PresenceDocument(TypedDict):
    """`_id` is the user; `processes` are those where the user has streams open."""

    _id: str
    processes: list[str]
    lastSeenAt: datetime


class ProcessDocument(TypedDict):
    """A process that keeps presence; `seenAt` is its last sign of life, by the database's clock."""

    _id: str
    seenAt: datetime
    dead: NotRequired[bool]
