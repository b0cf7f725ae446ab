"""What several tests of a module share, each with an event loop of its own."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def shared(opened: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Enter a context for several tests: a process that runs, and nothing of an event loop."""
    with asyncio.Runner() as runner:
        found = runner.run(opened.__aenter__())
        try:
            yield found
        finally:
            runner.run(opened.__aexit__(None, None, None))
