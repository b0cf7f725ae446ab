"""The event loop of a process that serves."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Literal, TypeVar

from chat_aio.errors import SetupError

T = TypeVar("T")

LoopKind = Literal["auto", "asyncio", "uvloop"]


def run_on(kind: LoopKind, main: Coroutine[Any, Any, T]) -> T:
    """Run on uvloop where it is installed, or on the loop that is named. Raises SetupError for a
    uvloop that is not installed, and what `main` raises."""
    factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    if kind != "asyncio":
        try:
            import uvloop
        except ImportError:
            if kind == "uvloop":
                # Else Python warns of a coroutine that was never awaited.
                main.close()
                raise SetupError(
                    "uvloop needs the extra uvloop (docs/start/installation.md)"
                ) from None
        else:
            factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)
