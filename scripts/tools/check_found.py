"""What a check finds: violations, and how much was looked at."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeGuard

from chat_aio.schema.models import timestamp
from tools.printing import table_of


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that does not hold: where it stands, what is there, and what should be."""

    kind: str
    collection: str
    id: Any
    found: object
    expected: object
    conversation_id: object = None


MOST = 10_000
"""So many violations are enough."""


@dataclass(slots=True)
class Findings:
    """All that a check has found, and the number of things it has looked at, by name; `more` where
    it stopped, having found enough."""

    violations: list[Violation] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    more: bool = False

    def add(self, other: "Findings") -> None:
        self.violations.extend(other.violations)
        self.checked.update(other.checked)


def entry_from(violation: Violation) -> dict[str, object]:
    """A violation as it goes out."""
    return {
        "kind": violation.kind,
        "collection": violation.collection,
        "id": told(violation.id),
        "conversationId": told(violation.conversation_id),
        "is": told(violation.found),
        "shouldBe": told(violation.expected),
    }


def violations_table(violations: Sequence[Violation]) -> str:
    return table_of(
        ("KIND", "COLLECTION", "ID", "IS", "SHOULD BE"),
        [
            (each.kind, each.collection, each.id, each.found, each.expected)
            for each in sorted(violations, key=lambda each: (each.kind, str(each.id)))
        ],
    )


def told(value: Any) -> Any:
    """A stored value as JSON has it; what JSON has no form for is told as text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, dict):
        return {str(name): told(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [*map(told, value)]
    return str(value)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a stored value is a whole number, not below zero."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
