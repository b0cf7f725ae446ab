"""Positions, from which a reconnecting client resumes.

A position is the id of a created event, `<conversation id>:<seq>`, or names a moment, `::<ms>`, for
a client that has not received any message. No conversation id can have that form.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from chat_aio.errors import InvalidInput
from chat_aio.live.event import Name
from chat_aio.live.frames import Frame, position_frame
from chat_aio.observability.observer import Reset
from chat_aio.schema.fields import is_id
from chat_aio.schema.pagination import millis_from, moment_from

# 18 digits: a longer number may not fit into BSON's 64 bits.
_SEQ = re.compile(r"[1-9][0-9]{0,17}")
SKEW = timedelta(minutes=1)
"""How far apart the clocks of processes may be."""

_MOMENT = ":"
"""Stands in place of a conversation's id and cannot be one, because ids have no colon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """Where a client was. `at` is the time of its position; without it nothing is replayed. With a
    `reset` the client must refetch."""

    at: datetime | None = None
    reset: Reset | None = None


NOWHERE = Whereabouts()


def position_from(last_event_id: str | None) -> Name | None:
    """The position in a Last-Event-ID, split at the last colon; None if it is malformed."""
    conversation_id, _, seq = (last_event_id or "").rpartition(":")
    return (conversation_id, int(seq)) if is_id(conversation_id) and _SEQ.fullmatch(seq) else None


def is_moment(name: Name) -> bool:
    return name[0] == _MOMENT


def time_of_moment(name: Name) -> datetime | None:
    """The time that a moment names; None if it is outside the calendar."""
    try:
        return moment_from(name[1])
    except InvalidInput:
        return None


def moment_frame(at: datetime) -> Frame:
    """An id-only frame that names a moment."""
    return position_frame(_MOMENT, millis_from(at))
