"""How background tasks are ended, for sure."""

import asyncio
from typing import Any

AGAIN_SECONDS = 0.5
"""Time for what is cancelled to say goodbye to the server."""


async def cancel_and_wait(*tasks: asyncio.Task[Any], again: float = AGAIN_SECONDS) -> None:
    """Cancel tasks, `again` after so many seconds, until all are over, whatever has become of them.

    Once is not enough. What a task waits for may swallow it: `asyncio.wait_for` of Python 3.11 does
    where its result comes at the same moment, and PyMongo connects with it. And whoever says
    goodbye to a server that does not answer has to be cancelled in that, too.
    """
    pending = {each for each in tasks if not each.done()}
    while pending:
        for each in pending:
            each.cancel()
        _, pending = await asyncio.wait(pending, timeout=again)
    for each in tasks:
        if not each.cancelled():
            each.exception()
