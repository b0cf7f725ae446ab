"""A supervisor that starts, replaces and ends several worker processes at one socket."""

import asyncio
import logging
import os
import signal
import socket
import sys
from contextlib import suppress

from chat_aio.observability.multiprocess import Forget, shared_metrics

log = logging.getLogger(__name__)

PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
"""The pause before a worker is replaced doubles up to this, while workers fail to start."""

LOG_FORMAT_VARIABLE = "CHAT_AIO_WORKER_LOG_FORMAT"
"""The log format for errors in a worker's settings, which cannot be read then."""

GRACE_SECONDS = 8.0
"""More than a worker needs: it cuts off by itself what it cannot finish within 5 seconds."""

AS_WORKER = "--as-worker"
"""Appended to our own command line, followed by the worker's two sockets as file descriptors."""


class Workers:
    """The worker processes at one bound socket. Each runs this command line again, so a replaced
    one runs the version that is installed by then."""

    def __init__(self, count: int, at: socket.socket, *, log_format: str = "text") -> None:
        self._at = at
        self._workers = [_Worker(at, self._forget, log_format) for _ in range(count)]
        self._rolling: asyncio.Task[None] | None = None

    async def run(self) -> int:
        """Run until SIGTERM or SIGINT, or until the first worker has failed to start; returns the
        exit code. SIGHUP replaces the workers one by one, each once the one before it serves.
        """

        async def keep() -> int:
            # One worker first: an app that cannot start would otherwise fail in every worker, again
            # and again.
            if not await self._workers[0].start():
                return await self._workers[0].ended()
            await asyncio.gather(*(worker.keep() for worker in self._workers))
            return 0

        with shared_metrics() as self._forget_metrics:
            keeping = asyncio.create_task(keep())
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, keeping.cancel)
            loop.add_signal_handler(signal.SIGHUP, self._roll)
            try:
                await asyncio.wait({keeping})
            finally:
                self._at.close()
                if self._rolling is not None:
                    self._rolling.cancel()
                codes = await asyncio.gather(*(worker.end() for worker in self._workers))
            return max(codes) if keeping.cancelled() else keeping.result()

    def _forget(self, pid: int) -> None:
        self._forget_metrics(pid)

    def _roll(self) -> None:
        async def replace_all() -> None:
            # One by one: the others serve in the meantime.
            for worker in self._workers:
                await worker.replace()

        if self._rolling is None or self._rolling.done():
            self._rolling = asyncio.create_task(replace_all())


class _Worker:
    """One worker's slot, and the process that runs in it now."""

    def __init__(self, at: socket.socket, forget: Forget, log_format: str) -> None:
        self._at = at
        self._forget = forget
        self._log_format = log_format
        self._wanted = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._lifeline: socket.socket | None = None
        self._serves = asyncio.Event()

    async def start(self) -> bool:
        """Start a process; returns whether it has begun to serve."""
        # A socket pair shows each side that the other has ended, even if it was killed.
        self._lifeline, theirs = socket.socketpair()
        self._lifeline.setblocking(False)
        # Our copy of the worker's end is closed, or we would never see the worker close its own.
        with theirs:
            given = (self._at.fileno(), theirs.fileno())
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *sys.orig_argv[1:],
                AS_WORKER,
                *map(str, given),
                pass_fds=given,
                env={**os.environ, LOG_FORMAT_VARIABLE: self._log_format},
                start_new_session=True,  # Ctrl+C is for the supervisor.
            )
        if await asyncio.get_running_loop().sock_recv(self._lifeline, 1):
            self._serves.set()
        return self._serves.is_set()

    async def keep(self) -> None:
        """Keep a process running for ever. One that has failed is replaced after a pause, which
        grows while processes fail before they serve, and ends when the worker must be replaced."""
        failures = 0
        while True:
            served = self._serves.is_set() if self._process else await self.start()
            failures = 0 if served else failures + 1
            # A worker that ended cleanly was ended on request: replacing it needs no pause.
            if code := await self.ended():
                pause = min(PAUSE_SECONDS * 2 ** max(0, failures - 1), LONGEST_PAUSE_SECONDS)
                log.warning("a worker ended with exit code %d and is replaced in %d s", code, pause)
                self._wanted.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), pause)

    async def ended(self) -> int:
        """Wait for the end of the process; returns its exit code, 1 if a signal killed it."""
        assert self._process is not None
        assert self._lifeline is not None
        code = await self._process.wait()
        self._forget(self._process.pid)
        self._lifeline.close()
        self._serves.clear()
        self._process = None
        return code if code >= 0 else 1

    async def replace(self) -> None:
        """End the process, and wait until another one serves."""
        self._serves.clear()
        self._wanted.set()
        await self.end()
        await self._serves.wait()

    async def end(self) -> int:
        """End the process, by force after `GRACE_SECONDS`; returns 0 if it ended cleanly."""
        process = self._process
        if process is None:
            return 0
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                # SIGTERM itself ends a worker that has not installed its signal handlers yet.
                return 0 if await process.wait() in (0, -signal.SIGTERM) else 1
        except TimeoutError:
            log.error("worker %d did not end, and is killed", process.pid)
            process.kill()
            await process.wait()
            return 1
