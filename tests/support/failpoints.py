"""Failures that mongod itself produces, for one client by its application name."""

import asyncio
import fcntl
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pymongo import AsyncMongoClient


@asynccontextmanager
async def failing(
    client: AsyncMongoClient[dict[str, Any]],
    commands: list[str],
    *,
    app_name: str,
    times: int | None = None,
    **failure: Any,
) -> AsyncIterator[None]:
    """While open, `commands` of clients called `app_name` fail or wait as `failure` says.

    A mongod has one such failure at a time: other tests of the run wait for this one's end."""
    async with _only_one(await client.address):
        await client.admin.command(
            "configureFailPoint",
            "failCommand",
            mode={"times": times} if times else "alwaysOn",
            data={"failCommands": commands, "appName": app_name, **failure},
        )
        try:
            yield
        finally:
            await client.admin.command("configureFailPoint", "failCommand", mode="off")


@asynccontextmanager
async def _only_one(address: tuple[str, int] | None) -> AsyncIterator[None]:
    """A lock between the processes of a test run, for one mongod."""
    assert address is not None
    path = Path(tempfile.gettempdir()) / f"chat-aio-failpoint-{address[1]}"
    with path.open("w") as file:
        await asyncio.to_thread(fcntl.flock, file, fcntl.LOCK_EX)
        yield
