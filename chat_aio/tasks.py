"""Waits for tasks without cancelling them, and ends those of the background reliably."""

import asyncio
from collections.abc import Awaitable
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")

AGAIN_SECONDS = 0.5
"""How long a cancelled task may take to clean up before it is cancelled again."""

_ASKED: set[asyncio.Task[Any]] = set()
"""What `answered` waits for, also past its time limit. asyncio keeps only weak references to tasks,
so one that nobody waits for could be garbage-collected half-way."""

_UNSET = object()


async def answered(answer: Awaitable[T], limit: float) -> T:
    """Run an async function of the host in a separate task and return its result. Raises
    TimeoutError.

    Context variables that it sets stay set afterwards, as if it had been awaited here.
    """
    variables = copy_context()
    asked = asyncio.create_task(_awaited(answer), context=variables)
    _ASKED.add(asked)
    asked.add_done_callback(_forget)
    # `wait`, not `wait_for`, which would cancel it: it may be in a call of the database's driver,
    # and a cancelled call can break the client (decision 0009).
    await asyncio.wait({asked}, timeout=limit)
    if not asked.done():
        raise TimeoutError(f"no answer within {limit} seconds")
    for variable, value in variables.items():
        if variable.get(_UNSET) is not value:
            variable.set(value)
    return asked.result()


async def _awaited(answer: Awaitable[T]) -> T:
    return await answer


def _forget(asked: asyncio.Task[Any]) -> None:
    _ASKED.discard(asked)
    if not asked.cancelled():
        asked.exception()  # Nobody else retrieves it of a late one, and asyncio would complain.


async def cancel_and_wait(*tasks: asyncio.Task[Any], again: float = AGAIN_SECONDS) -> None:
    """Cancel tasks and wait until all are done, cancelling them again after `again` seconds.
    Their results and exceptions are dropped."""
    # Cancelling once is not enough: `asyncio.wait_for` of Python 3.11, with which PyMongo connects,
    # swallows a cancellation that arrives together with its result. And a task that is cleaning up
    # with a server that does not answer must be cancelled in that, too.
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=again)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # Retrieved, or asyncio logs it as never retrieved.
