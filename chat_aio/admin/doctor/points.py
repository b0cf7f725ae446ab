"""A point of `chat-aio doctor`: what was looked at, and how it is."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "problem", "unknown"]


@dataclass(frozen=True, slots=True)
class Point:
    """`advice` says what to do; it is None where all is well."""

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
    """What the user of MongoDB may not see."""
    return Point(name, "unknown", found, advice)
