"""Ends background tasks reliably."""

import asyncio
from typing import Any

AGAIN_SECONDS = 0.5
"""How long a cancelled task may take to clean up before it is cancelled again."""


async def cancel_and_wait(*tasks: asyncio.Task[Any], again: float = AGAIN_SECONDS) -> None:
    """Cancel tasks and wait until all are done, cancelling them `again` after so many seconds.
    Their results and exceptions are dropped."""
    # Cancelling once is not enough: `asyncio.wait_for` of Python 3.11, with which PyMongo connects,
    # swallows a cancellation that arrives together with its result. And a task that is cleaning up
    # with a server that does not answer must be cancelled in that, too.
    pending = {each for each in tasks if not each.done()}
    while pending:
        for each in pending:
            each.cancel()
        _, pending = await asyncio.wait(pending, timeout=again)
    for each in tasks:
        if not each.cancelled():
            each.exception()  # Retrieved, or asyncio logs it as never retrieved.
