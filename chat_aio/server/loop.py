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
    try:
        factory = _factory_of(kind)
    except SetupError:
        main.close()
        raise
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)


def _factory_of(kind: LoopKind) -> Callable[[], asyncio.AbstractEventLoop]:
    if kind == "asyncio":
        return asyncio.new_event_loop
    try:
        import uvloop
    except ImportError:
        if kind == "auto":
            return asyncio.new_event_loop
        raise SetupError("uvloop needs a package: pip install chat-aio[uvloop]") from None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
