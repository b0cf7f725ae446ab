"""The scripts over the test's database. Its own package is found as a script finds it."""

import sys
from functools import partial
from pathlib import Path

import pytest

from chat_aio import Hooks
from tests.conftest import Database, MakePeople

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from tests.scripts.running import Moderate, People, Run, Tool, run, run_here


@pytest.fixture
def tool(mongo_url: str, database: Database) -> Tool:
    """Runs a script, named first, on the test's database."""

    async def on_database(script: str, *arguments: str) -> Run:
        place = {"CHAT_AIO_MONGO_URL": mongo_url, "CHAT_AIO_DATABASE": database.name}
        return await run(script, *arguments, **place)

    return on_database


@pytest.fixture
def moderate(tool: Tool) -> Moderate:
    return partial(tool, "moderation")


@pytest.fixture
def moderate_here(mongo_url: str, database: Database) -> Moderate:
    async def on_database(*arguments: str) -> Run:
        return await run_here(
            *arguments, CHAT_AIO_MONGO_URL=mongo_url, CHAT_AIO_DATABASE=database.name
        )

    return on_database


@pytest.fixture
async def people(serve: MakePeople) -> People:
    """People of a chat that runs, and enforces bans."""
    return await serve(Hooks(can_moderate=lambda asked: asked.user_id == "mod"))
