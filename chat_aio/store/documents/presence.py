"""Stored presence."""

from datetime import datetime
from typing import NotRequired

from typing_extensions import TypedDict


class PresenceDocument(TypedDict):
    """`_id` is the user; `processes` are the processes with open streams of the user."""

    _id: str
    processes: list[str]
    lastSeenAt: datetime


class ProcessDocument(TypedDict):
    """A process that stores presence; `seenAt` is its last sign of life, by the database's
    clock."""

    _id: str
    seenAt: datetime
    dead: NotRequired[bool]
