"""Event loops of the processes that the benchmark starts."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Literal

LoopKind = Literal["asyncio", "uvloop"]


def run(main: Coroutine[Any, Any, None], loop: str) -> None:
    """Run on the event loop of this kind."""
    if loop == "uvloop":
        import uvloop

        uvloop.run(main)
    else:
        asyncio.run(main)
