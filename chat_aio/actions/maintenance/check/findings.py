"""The result of a check: violations, and the number of checked objects."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from chat_aio.store.maintenance.snapshot import ConversationSnapshot

ERASED = "erased-"
"""The prefix of the pseudonyms of erased users."""


def is_erased(user_id: str) -> bool:
    return user_id.startswith(ERASED)


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken invariant: its place, the value found, and the right value."""

    kind: str
    collection: str
    id: Any
    found: object
    expected: object
    conversation_id: object = None


MOST = 10_000
"""The number of violations at which a check stops."""


@dataclass(slots=True)
class Findings:
    """All violations found, and the number of objects checked, by name; `more` if the check stopped
    early."""

    violations: list[Violation] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    more: bool = False

    def add(self, other: "Findings") -> None:
        self.violations.extend(other.violations)
        self.checked.update(other.checked)


def violation_in(
    snapshot: ConversationSnapshot,
    kind: str,
    found: object,
    expected: object,
    *,
    of: str = "conversations",
    at: Any = None,
) -> Violation:
    """A violation of a conversation, or of a row `at` an id that belongs to it."""
    place = snapshot.id if at is None else at
    return Violation(kind, of, place, found, expected, snapshot.id)
