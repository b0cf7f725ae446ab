"""Programs in Node.js."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from chat_aio.embedded import _free_port
from tests.support.backend import WEBHOOK_SECRET
from tests.support.processes import ROOT, Service
from tests.support.tokens import SECRET

NODE = shutil.which("node")

NODE_HOST = ROOT / "examples" / "node_host"

needs_node = pytest.mark.skipif(
    NODE is None and "CI" not in os.environ, reason="no node on PATH: apt-get install nodejs"
)


@asynccontextmanager
async def running(
    *arguments: str, cwd: Path, environment: Mapping[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A program, until the end of the block; stdout is a pipe."""
    assert NODE is not None
    process = await asyncio.create_subprocess_exec(
        *(NODE, *arguments),
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@asynccontextmanager
async def node_host(mongo_url: str, database: str) -> AsyncIterator[tuple[str, str]]:
    """`examples/node_host` with its chat, as its README starts them; gives both origins."""
    port = _free_port()
    hook = f"http://127.0.0.1:{port}/hooks/chat"
    service = Service(
        mongo_url,
        database,
        "--config",
        str(NODE_HOST / "chat.toml"),
        environment={
            "CHAT_AIO_JWT_KEY": SECRET,
            "CHAT_AIO_WEBHOOK_SECRET": WEBHOOK_SECRET,
            "CHAT_AIO_WEBHOOK_URL": hook,
            "CHAT_AIO_PROFILES_URL": hook,
            "CHAT_AIO_PERMISSIONS_URL": hook,
        },
    )
    environment = {
        "CHAT_URL": service.origin,
        "JWT_KEY": SECRET,
        "WEBHOOK_SECRET": WEBHOOK_SECRET,
        "PORT": str(port),
    }
    shop = running("host.mjs", cwd=NODE_HOST, environment=environment)
    async with service.running(), shop as host:
        assert host.stdout is not None
        async with asyncio.timeout(60):
            origin = (await host.stdout.readline()).decode().strip()
        yield origin, service.origin
