"""Failures that mongod itself produces, for one client by its application name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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
    """While open, `commands` of clients called `app_name` fail or wait as `failure` says."""
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
