"""Pytest fixtures for apps that mount a chat: `pytest_plugins = ["chat_aio.testing"]`.

Tests use a real mongod that is started for them, or the replica set that CHAT_AIO_TEST_MONGO_URL
names.
"""

import asyncio
import inspect
import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, contextmanager
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase

from chat_aio.chat import Chat
from chat_aio.client import ChatClient
from chat_aio.embedded import Mongod
from chat_aio.errors import SetupError
from chat_aio.options import Options

URL = "CHAT_AIO_TEST_MONGO_URL"
OURS = "CHAT_AIO_TEST_MONGO_IS_OURS"
OPTIONS = (
    "--setParameter",
    "diagnosticDataCollectionEnabled=0",
    "--setParameter",
    "minSnapshotHistoryWindowInSeconds=0",
    "--syncdelay",
    "5",
    "--wiredTigerCacheSizeGB",
    "0.25",
    "--oplogSize",
    "128",
)
"""Options of mongod for many small databases that live for a second each: keep little on disk."""

STACK = pytest.StashKey[ExitStack]()

Database = AsyncDatabase[dict[str, Any]]
People = Callable[[str], Awaitable[ChatClient]]
Serve = Callable[..., Awaitable[People]]


@contextmanager
def running_mongod() -> Iterator[None]:
    """A mongod for this process and those that it starts, unless the environment names one."""
    if URL in os.environ:
        yield
        return
    with (
        tempfile.TemporaryDirectory(prefix="chat-aio-tests-") as folder,
        # One loop for start and stop, because a subprocess belongs to its loop. With a factory the
        # runner does not touch the current event loop, which is that of the tests.
        asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner,
    ):
        mongod = Mongod(folder, options=OPTIONS)
        runner.run(mongod.__aenter__())
        os.environ |= {URL: mongod.url, OURS: "yes"}
        try:
            yield
        finally:
            del os.environ[URL], os.environ[OURS]
            runner.run(mongod.__aexit__(None, None, None))


def pytest_configure(config: pytest.Config) -> None:
    """Under xdist, start mongod in the controller, so that its workers share it."""
    config.stash[STACK] = stack = ExitStack()
    is_worker = hasattr(config, "workerinput")
    if config.getoption("dist", "no") != "no" and not is_worker and not config.option.collectonly:
        try:
            stack.enter_context(running_mongod())
        except SetupError as error:
            raise pytest.UsageError(str(error)) from error


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[STACK].close()


@pytest.fixture(scope="session")
def chat_mongo_url() -> Iterator[str]:
    """The URL of a replica set, which is started for the first test that needs it."""
    with running_mongod():
        yield os.environ[URL]


@pytest_asyncio.fixture
async def chat_database(chat_mongo_url: str) -> AsyncIterator[Database]:
    """A new database for each test, of PyMongo's async API, dropped afterwards."""
    async with AsyncMongoClient[dict[str, Any]](chat_mongo_url) as client:
        name = f"test_{secrets.token_hex(6)}"
        yield client[name]
        # Our own mongod's data is deleted as a whole at the end, which is much faster.
        if OURS not in os.environ:
            await client.drop_database(name)


@pytest_asyncio.fixture
async def chat(chat_database: Database) -> AsyncIterator[Chat]:
    """An open chat over the test's database; use its `chat.api`."""
    # All tests share one oplog: each test would read the minutes of others before it.
    async with Chat(chat_database, options=Options(replay_buffer_seconds=1)) as opened:
        yield opened


@pytest_asyncio.fixture
async def chat_people(chat_database: Database) -> AsyncIterator[Serve]:
    """Serve your app and use its chat as any user: `person = await chat_people(app, sign_in)`, then
    `ada = await person("ada")` is an open ChatClient.

    `sign_in(user_id, origin)` returns the headers of a user's requests. It may be async, and log in
    at `origin`, where your app is served. The chat is mounted at `path`. A stream that is answered
    500, as when your `auth` fails, raises InternalError at once.
    """
    async with AsyncExitStack() as opened:

        async def serve(
            app: web.Application,
            sign_in: Callable[[str, str], Any],
            *,
            path: str = "/api/chat",
        ) -> People:
            server = await opened.enter_async_context(TestServer(app))
            origin = str(server.make_url("")).rstrip("/")

            async def person(user_id: str) -> ChatClient:
                given = sign_in(user_id, origin)
                headers: Mapping[str, str] = await given if inspect.isawaitable(given) else given
                client = ChatClient(origin + path, headers=headers, stream_attempts=1)
                return await opened.enter_async_context(client)

            return person

        yield serve
