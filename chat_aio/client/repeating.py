"""Repeats a request until the service answers, for a program that is to outlive every outage."""

import logging
from asyncio import sleep
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from chat_aio.client.connection import CUT, LONGEST_PAUSE_SECONDS, TEMPORARY, backoff_delay
from chat_aio.errors import ChatError

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


async def until_answered(
    call: Callable[P, Awaitable[T]], /, *given: P.args, **named: P.kwargs
) -> T:
    """The result of a read, or of a write with an idempotency key. Repeated after lost connections,
    429, 502, 503 and 504 for as long as it takes; any other refusal is raised."""
    failures = 0
    while True:
        try:
            return await call(*given, **named)
        except CUT as reason:
            failure: Exception = reason
        except ChatError as refusal:
            # Would be the same again, however long one waits.
            if refusal.status not in TEMPORARY:
                raise
            failure = refusal
        failures += 1
        log.warning("the service does not answer: %r; trying again", failure)
        # Without an end: a bot outlives every outage, and must not hammer a service that recovers.
        await sleep(backoff_delay(1.0, failures, 6 * LONGEST_PAUSE_SECONDS))
