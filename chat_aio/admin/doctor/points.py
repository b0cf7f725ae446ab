"""A point of `chat-aio doctor`: one check, and its result."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "problem", "unknown"]


@dataclass(frozen=True, slots=True)
class Point:
    """`advice` describes the remedy; it is None if the state is ok."""

    name: str
    state: State
    found: str
    advice: str | None = None


def ok(name: str, found: str) -> Point:
    return Point(name, "ok", found)


def warning(name: str, found: str, advice: str) -> Point:
    return Point(name, "warning", found, advice)


def problem(name: str, found: str, advice: str) -> Point:
    return Point(name, "problem", found, advice)


def unknown(name: str, found: str, advice: str) -> Point:
    """A point that this user of MongoDB may not see."""
    return Point(name, "unknown", found, advice)
