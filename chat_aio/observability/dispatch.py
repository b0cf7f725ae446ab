"""Dispatches notifications to plugins and observers."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextvars import Context
from typing import Any, Concatenate, ParamSpec

log = logging.getLogger(__name__)

_under_way: set[asyncio.Task[None]] = set()
"""Calls that took longer than their caller waited. Held here, or they could be garbage-collected
before they are done."""

P = ParamSpec("P")


def notify(
    listeners: Iterable[object],
    event: Callable[Concatenate[Any, P], None],
    *said: P.args,
    **named: P.kwargs,
) -> None:
    """Call a method of each listener, such as `Plugin.stream_opened`. An exception is logged and
    does not keep the others from being called."""
    for listener in listeners:
        try:
            getattr(listener, event.__name__)(*said, **named)
        except Exception:
            log.exception("%s failed in %s", type(listener).__name__, event.__name__)


async def notify_and_wait(
    listeners: Iterable[object],
    event: Callable[Concatenate[Any, P], Awaitable[None]],
    seconds: float,
    *said: P.args,
    **named: P.kwargs,
) -> None:
    """Call an async method of each listener concurrently, and wait for at most `seconds`. An
    exception is logged and does no harm to the others."""

    async def call(listener: object) -> None:
        try:
            await getattr(listener, event.__name__)(*said, **named)
        except Exception:
            log.exception("%s failed in %s", type(listener).__name__, event.__name__)

    # A fresh context: a listener that takes longer must not inherit the caller's deadline.
    calls = {asyncio.create_task(call(listener), context=Context()) for listener in listeners}
    for task in calls:
        _under_way.add(task)
        task.add_done_callback(_under_way.discard)
    # `asyncio.wait` does not cancel: a listener may be in a driver call, which must not be
    # cancelled (decision 0009).
    if calls:
        await asyncio.wait(calls, timeout=seconds)
