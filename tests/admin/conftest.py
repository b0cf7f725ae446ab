"""The commands over the test's database."""

import asyncio
from functools import partial

import pytest

from chat_aio import Hooks
from tests.admin.running import Moderate, People, Run, Tool, run
from tests.conftest import Database, MakePeople


@pytest.fixture
def tool(client_url: str, database: Database) -> Tool:
    """Runs a command, named first, on the test's database. Those that are asked for at once run one
    after the other."""
    place = {"CHAT_AIO_MONGO_URL": client_url, "CHAT_AIO_DATABASE": database.name}
    turn = asyncio.Lock()

    async def on_database(*arguments: str, **env: str) -> Run:
        async with turn:
            return await run(*arguments, **place, **env)

    return on_database


@pytest.fixture
def moderate(tool: Tool) -> Moderate:
    return partial(tool, "moderation")


@pytest.fixture
async def people(serve: MakePeople) -> People:
    """People of a chat that runs, and enforces bans."""
    return await serve(Hooks(can_moderate=lambda asked: asked.user_id == "mod"))
