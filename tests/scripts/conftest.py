"""The script over the test's database. Its own package is found as the script finds it."""

import sys
from pathlib import Path

import pytest

from chat_aio import Hooks
from tests.conftest import Database, MakePeople

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

from tests.scripts.running import Moderate, People, Run, run, run_here


@pytest.fixture
def moderate(mongo_url: str, database: Database) -> Moderate:
    """Runs the script on the test's database."""

    async def on_database(*arguments: str) -> Run:
        return await run(*arguments, CHAT_AIO_MONGO_URL=mongo_url, CHAT_AIO_DATABASE=database.name)

    return on_database


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
