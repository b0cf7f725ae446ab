"""Real service processes, as `chat-aio serve` starts them, and calls to them."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientError, ClientSession

from chat_aio.embedded import _free_port


@asynccontextmanager
async def serving(
    mongo_url: str,
    database: str,
    *,
    start: tuple[str, ...] = ("-m", "chat_aio"),
    logged: list[str] | None = None,
) -> AsyncIterator[str]:
    """A process over a database; gives the address of its chat. It must end cleanly; the lines
    that it has logged are in `logged` then."""
    port = _free_port()
    with tempfile.TemporaryFile() as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *start, "serve", "--mongo-url", mongo_url),
            *("--database", database, "--port", str(port), "--auth-header", "X-User"),
            stderr=log,
        )
        try:
            await _healthy(f"http://127.0.0.1:{port}/healthz", process)
            yield f"http://127.0.0.1:{port}/api/chat"
        finally:
            if process.returncode is None:
                process.terminate()
            await asyncio.wait_for(process.wait(), 20)
            log.seek(0)
            text = log.read().decode()
            assert process.returncode == 0, text
            if logged is not None:
                logged += text.splitlines()


async def _healthy(url: str, process: asyncio.subprocess.Process) -> None:
    async with ClientSession() as session, asyncio.timeout(30):
        while process.returncode is None:
            try:
                async with session.get(url) as response:
                    assert response.status == 200
                    return
            except ClientError:
                await asyncio.sleep(0.05)
