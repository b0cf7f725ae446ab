"""Processes that are stopped for a while: they keep their connections, and do nothing."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

STOP_SECONDS = 30


@asynccontextmanager
async def stopped(pid: int) -> AsyncIterator[None]:
    """No thread of the process runs inside the block.

    SIGSTOP is delivered to one thread, and the others go on until that one is scheduled: on a busy
    machine that is long enough to answer requests.
    """
    os.kill(pid, signal.SIGSTOP)
    try:
        async with asyncio.timeout(STOP_SECONDS):
            while not _is_stopped(pid):  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _is_stopped(pid: int) -> bool:
    threads = Path(f"/proc/{pid}/task").glob("*/stat")
    try:
        return all(thread.read_text().rpartition(") ")[2].startswith("T") for thread in threads)
    except (FileNotFoundError, ProcessLookupError):  # A thread has ended in between: look again.
        return False
