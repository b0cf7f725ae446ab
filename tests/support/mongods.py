"""MongoDB processes of the tests that need their own."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

SMALL = ("--wiredTigerEngineConfigString", "log=(file_max=8MB,prealloc=false)")
"""Options of a mongod whose journal does not begin with 300 MB: the folders of tests may be in
memory."""

T = TypeVar("T")


@contextmanager
def shared(opened: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Enter a context for several tests, each of which has another event loop: a process that runs,
    and nothing that is bound to a loop."""
    with asyncio.Runner() as runner:
        found = runner.run(opened.__aenter__())
        try:
            yield found
        finally:
            runner.run(opened.__aexit__(None, None, None))
