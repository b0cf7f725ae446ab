"""Processes that are measured or that measure: started, controlled by pipes, stopped, ended."""

import asyncio
import ctypes
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path

START_SECONDS = 30
STOP_SECONDS = 5
SCRIPTS = Path(__file__).parents[1]
_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


class LoadFailed(Exception):
    """Something answered wrongly under load, or a process of the benchmark ended."""


class Child:
    """A running process that prints one line when it is ready, and one for each line it
    receives."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid

    async def say(self) -> str:
        """The next line it prints. Raises LoadFailed if it ends instead, or reports an error."""
        stdout = self._process.stdout
        line = (await stdout.readline()).decode().strip() if stdout else ""
        if not line or line.startswith("error"):
            raise LoadFailed(line or f"process {self.pid} ended")
        return line

    async def ask(self, line: str) -> str:
        """Send it one line, and return its answer."""
        if self._process.stdin is not None:
            self._process.stdin.write(line.encode() + b"\n")
        return await self.say()


def child(module: str, *arguments: str) -> AbstractAsyncContextManager[Child]:
    """`python -m benchmarks.MODULE`, started, and ended at the end of the context."""
    command = (sys.executable, "-m", f"benchmarks.{module}", *arguments)
    return program(*command, PYTHONPATH=str(SCRIPTS))


@asynccontextmanager
async def program(*command: str, **environment: str) -> AsyncIterator[Child]:
    """A program, started, and ended at the end of the context.

    It can finish its work first: MongoDB holds the locks of a transaction whose client was killed
    for a minute.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_end_with_parent,
    )
    try:
        yield Child(process)
    finally:
        await _ended(process)


async def listening(port: int) -> bool:
    """Wait for a while until connections are accepted."""
    for _ in range(10 * START_SECONDS):
        with suppress(ConnectionRefusedError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return True
        await asyncio.sleep(0.1)
    return False


def _end_with_parent() -> None:
    """Let Linux kill this process when the benchmark has ended, even if this one is stopped."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


async def _ended(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


@contextmanager
def resting(pids: Iterable[int]) -> Iterator[None]:
    """Stop processes that are not measured now, so that they use no CPU."""
    stopped = list(pids)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def cpu_seconds(pids: Iterable[int]) -> float:
    """The CPU time of these processes so far, user and system."""
    return sum(time.clock_gettime(_cpu_clock(pid)) for pid in pids)


def _cpu_clock(pid: int) -> int:
    """The number of a process's clock of CPU time, as clock_getcpuclockid makes it on Linux: it is
    exact, while /proc counts hundredths of a second."""
    return ~pid << 3 | 2


def resident_bytes(pid: int) -> int:
    """The main memory that a process uses now."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
