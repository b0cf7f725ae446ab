"""How an operator's action shows how far it is."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

Advance = Callable[[int], object]
"""Called with how many more things are done."""

Progress = Callable[[str, int], AbstractContextManager[Advance]]
"""Opens a stage: its name, and about how many things there are to do."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many messages of how many conversations."""

    messages: int
    conversations: int


def silent(_stage: str, _length: int) -> AbstractContextManager[Advance]:
    """No progress is shown."""
    return nullcontext(lambda _: None)
