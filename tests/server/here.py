"""The chat of `chat-aio serve` in the process of a test: starting another takes a second or two."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from chat_aio.server.app import make_served
from chat_aio.server.sources import settings_from
from tests.support.people import BASE


async def app_here(mongo_url: str, database: str, **given: Any) -> web.Application:
    """The app with these settings."""
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
    return await make_served(settings)


@asynccontextmanager
async def served_here(mongo_url: str, database: str, **given: Any) -> AsyncIterator[str]:
    """Serve with these settings; gives the address of the chat."""
    async with TestServer(await app_here(mongo_url, database, **given)) as server:
        yield str(server.make_url(BASE))
