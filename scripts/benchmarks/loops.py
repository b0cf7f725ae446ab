"""Event loops of the processes that the benchmark starts; they end with it."""

import asyncio
import ctypes
import signal
from collections.abc import Coroutine
from typing import Any, Literal

LoopKind = Literal["asyncio", "uvloop"]

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Linux kills this process when the benchmark is gone, even where this one is stopped."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def run(main: Coroutine[Any, Any, None], loop: str) -> None:
    """Run on the event loop of this kind."""
    end_with_parent()
    if loop == "uvloop":
        import uvloop

        uvloop.run(main)
    else:
        asyncio.run(main)
