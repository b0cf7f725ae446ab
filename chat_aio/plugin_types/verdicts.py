"""The verdicts of a plugin on a message that is about to be written."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refuse:
    """The message is not written. The sender gets MESSAGE_REJECTED with this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Hold:
    """The message waits for a moderator. The sender gets MESSAGE_HELD with this reason; an edit or
    a forward is refused instead."""

    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """The message is written, and reported to the moderators by `reporter_id`."""

    reason: str
    reporter_id: str = "filter"


Verdict = Refuse | Hold | Report

_SEVERITY = {Refuse: 3, Hold: 2, Report: 1}


def strictest(one: Verdict | None, other: Verdict | None) -> Verdict | None:
    """Refuse before Hold before Report before None; the first of two that are as strict."""
    if one is None or other is None:
        return one or other
    # The first of equals: the host's plugins come in the order in which they are listed.
    return one if _SEVERITY[type(one)] >= _SEVERITY[type(other)] else other
