"""How plugins and observers hear of something."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextvars import Context
from typing import Any, Concatenate, ParamSpec

log = logging.getLogger(__name__)

_under_way: set[asyncio.Task[None]] = set()
"""What nobody waits for any more, and goes on to its end."""

P = ParamSpec("P")


def notify(
    listeners: Iterable[object],
    event: Callable[Concatenate[Any, P], None],
    *said: P.args,
    **named: P.kwargs,
) -> None:
    """Call a method of each, such as `Plugin.stream_opened`; one that fails does no harm to the
    rest."""
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
    """Call an async method of each, and wait until they are done, or for so many seconds; nothing
    is cancelled. One that fails does no harm to the rest."""

    async def call(listener: object) -> None:
        try:
            await getattr(listener, event.__name__)(*said, **named)
        except Exception:
            log.exception("%s failed in %s", type(listener).__name__, event.__name__)

    calls = {asyncio.create_task(call(each), context=Context()) for each in listeners}
    for each in calls:
        _under_way.add(each)
        each.add_done_callback(_under_way.discard)
    if calls:
        await asyncio.wait(calls, timeout=seconds)
