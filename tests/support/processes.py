"""Real service processes, as `chat-aio serve` starts them, and calls to them."""

import asyncio
import os
import re
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from aiohttp import ClientError, ClientSession

from chat_aio.embedded import _end_with_parent, _free_port

ROOT = Path(__file__).parents[2]
START_SECONDS = 90
PATIENT = ("--storage-timeout-seconds", "60")
"""Options of a service: on a busy machine a slow command has not failed."""
OWN = ("CHAT_AIO_TEST_", "CHAT_AIO_CHAOS_", "CHAT_AIO_MODEL_", "CHAT_AIO_GENERATED")
EXIT_SECONDS = 20
"""What operators are promised is a quarter of it; this machine may be busy."""


def without_own_variables() -> dict[str, str]:
    """The environment without the variables of the tests, which `serve` would warn of."""
    return {name: value for name, value in os.environ.items() if not name.startswith(OWN)}


class Service:
    """`chat-aio serve` on one port, which can be started again; `log` is all that it said."""

    def __init__(
        self,
        mongo_url: str,
        database: str,
        *options: str,
        start: tuple[str, ...] = ("-m", "chat_aio"),
        environment: Mapping[str, str] | None = None,
        cwd: Path = ROOT,
    ) -> None:
        self.port, self._cwd = _free_port(), cwd
        self._command = (*start, "serve", "--port", str(self.port), *options)
        self._environment = {
            **without_own_variables(),
            "CHAT_AIO_MONGO_URL": mongo_url,
            "CHAT_AIO_DATABASE": database,
            "CHAT_AIO_QUOTAS": "null",
            **(environment or {}),
        }
        self._log: BinaryIO | None = None
        self._said = ""
        self._process: asyncio.subprocess.Process | None = None

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base(self) -> str:
        """The address of its chat."""
        return f"{self.origin}/api/chat"

    @property
    def log(self) -> str:
        if self._log is None:
            return self._said
        return os.pread(self._log.fileno(), 10_000_000, 0).decode()

    def pids(self) -> list[int]:
        """The processes that have come to serve, one after the other."""
        return [int(found) for found in re.findall(r"process (\d+) is serving", self.log)]

    async def start(self) -> None:
        """Until it is ready."""
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, *self._command),
            stderr=self._log,
            env=self._environment,
            cwd=self._cwd,
            preexec_fn=_end_with_parent,
        )
        async with ClientSession() as session, asyncio.timeout(START_SECONDS):
            while process.returncode is None:
                with suppress(ClientError):
                    async with session.get(f"{self.origin}/readyz") as response:
                        # On a busy machine it may answer before its feed is live.
                        if response.status == 200:
                            return
                await asyncio.sleep(0.05)
        raise AssertionError(self.log)

    async def has_served(self, count: int) -> list[int]:
        """Wait until so many processes have come to serve; their ids."""
        await until(lambda: len(self.pids()) >= count)
        return self.pids()

    def send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    async def ended(self) -> int:
        """Its exit code, once it has ended, which it must do in time."""
        assert self._process is not None
        try:
            return await asyncio.wait_for(self._process.wait(), EXIT_SECONDS)
        except TimeoutError:
            self._process.kill()
            raise

    async def stop(self) -> None:
        """SIGTERM, which it must obey in time and cleanly."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.terminate()
        assert await self.ended() == 0, self.log

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """From a start until an end that must be clean, unless it has ended by then."""
        with tempfile.TemporaryFile() as self._log:
            try:
                await self.start()
                yield
                if self._process is not None and self._process.returncode is None:
                    await self.stop()
            finally:
                if self._process is not None and self._process.returncode is None:
                    self._process.kill()
                    await self._process.wait()
                self._said, self._log = self.log, None


async def until(holds: Callable[[], bool]) -> None:
    """Look again and again."""
    async with asyncio.timeout(START_SECONDS):
        while True:
            if holds():
                return
            await asyncio.sleep(0.05)


@asynccontextmanager
async def serving(
    mongo_url: str,
    database: str,
    *options: str,
    start: tuple[str, ...] = ("-m", "chat_aio"),
    logged: list[str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[str]:
    """A process over a database; gives the address of its chat. It must end cleanly; the lines
    that it has logged are in `logged` then."""
    options = ("--auth-header", "X-User", *options)
    service = Service(mongo_url, database, *options, start=start, environment=environment)
    try:
        async with service.running():
            yield service.base
            await service.stop()
    finally:
        if logged is not None:
            logged += service.log.splitlines()
