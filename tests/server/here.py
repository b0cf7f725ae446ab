"""The chat of `chat-aio serve` in the process of a test: starting another takes a second or two."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp.test_utils import TestServer

from chat_aio.server.app import make_served
from chat_aio.server.sources import settings_from


@asynccontextmanager
async def served_here(mongo_url: str, database: str, **given: Any) -> AsyncIterator[str]:
    """Serve with these settings; gives the address of the chat."""
    settings = settings_from(
        mongo_url=mongo_url,
        database=database,
        **{
            "quotas": "null",
            "replay_buffer_seconds": "1",
            "metrics": False,
            # On a busy machine, what takes long has not failed.
            "hook_timeout_seconds": "60",
            "storage_timeout_seconds": "60",
            **given,
        },
    )
    async with TestServer(await make_served(settings)) as server:
        yield str(server.make_url("/api/chat"))
