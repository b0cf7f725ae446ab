"""The progress and the result of long work, as a command shows them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

Advance = Callable[[int], object]
"""Called with the number of further things done."""

Progress = Callable[[str, int], AbstractContextManager[Advance]]
"""Opens a stage with its name and the approximate number of things to do."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of messages and of their conversations."""

    messages: int
    conversations: int


def silent(_stage: str, _length: int) -> AbstractContextManager[Advance]:
    """No progress is shown."""
    return nullcontext(lambda _: None)
