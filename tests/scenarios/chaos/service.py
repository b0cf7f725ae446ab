"""A service process that is killed and started again, as its supervisor would do."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from aiohttp import ClientError, ClientSession

from chat_aio.embedded import _end_with_parent, _free_port

ROOT = Path(__file__).parents[3]
START_SECONDS = 60


class Service:
    """One process over a database, on one port; its log is appended to `log`."""

    def __init__(self, mongo_url: str, log: Path, *, memory: int) -> None:
        self._port = _free_port()
        self._log = log
        self._environment = {
            **os.environ,
            "CHAT_AIO_MONGO_URL": mongo_url,
            "CHAT_AIO_DATABASE": "chaos",
            "CHAOS_MEMORY": str(memory),
        }
        self._process: asyncio.subprocess.Process | None = None

    @property
    def address(self) -> str:
        """Where its chat is."""
        return f"http://127.0.0.1:{self._port}/api/chat"

    async def start(self) -> None:
        """Until it answers; again where it ends because there is no primary at this moment."""
        async with ClientSession() as session, asyncio.timeout(START_SECONDS):
            while not await self._answers(session):
                if self._process is None or self._process.returncode is not None:
                    await self._spawn()
                await asyncio.sleep(0.05)

    def send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    async def kill(self) -> None:
        """SIGKILL."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def stop(self) -> None:
        """SIGTERM, which it must obey in time and cleanly."""
        assert self._process is not None
        self._process.terminate()
        async with asyncio.timeout(20):
            assert await self._process.wait() == 0, self.log()

    def log(self) -> str:
        return self._log.read_text()

    async def _spawn(self) -> None:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(
                    sys.executable,
                    "-m",
                    "chat_aio",
                    "serve",
                    "--app",
                    "tests.scenarios.chaos.served:make",
                ),
                *("--port", str(self._port)),
                stderr=log,
                stdout=log,
                env=self._environment,
                cwd=ROOT,
                preexec_fn=_end_with_parent,
            )

    async def _answers(self, session: ClientSession) -> bool:
        try:
            async with session.get(f"http://127.0.0.1:{self._port}/healthz") as response:
                return response.status == 200
        except ClientError:
            return False
