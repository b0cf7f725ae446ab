"""The commands as processes, from the entry point that is installed."""

import asyncio
import os
import sys
import tomllib
from pathlib import Path

from chat_aio.admin.cli import LATER
from tests.admin.running import People, Run
from tests.conftest import Database

ROOT = Path(__file__).parents[2]


async def process(*command: str, given: str = "", **env: str) -> Run:
    """A command as a process of its own."""
    started = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
    )
    output, errors = await asyncio.wait_for(started.communicate(given.encode()), 240)
    assert started.returncode is not None
    return Run(started.returncode, output.decode(), errors.decode())


async def test_the_entry_point(people: People, mongo_url: str, database: Database) -> None:
    """It has the exit codes of the commands, also that of a check that has found something."""
    place = {"CHAT_AIO_MONGO_URL": mongo_url, "CHAT_AIO_DATABASE": database.name}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["scripts"]["chat-aio"].partition(":")
    chat_aio = (sys.executable, "-c", f"from {module} import {name}; {name}()")
    group = await people("alice").group()
    await database["counters"].update_one({"_id": group}, {"$set": {"public": True}})
    found, refused = await asyncio.gather(
        process(*chat_aio, "check", **place),
        process(*chat_aio, "moderation", "report", "none", **place),
    )
    assert found.code == 3
    assert "head.public" in found.output
    assert "no such report" in refused.refusal


async def test_a_process_that_serves_loads_no_command_of_operators() -> None:
    program = "import sys, chat_aio.admin.cli; print(*sys.modules)"
    got = await process(sys.executable, "-c", program)
    assert got.code == 0, got
    loaded = set(got.output.split())
    assert not loaded & {place.partition(":")[0] for place in LATER.values()}
    assert not [name for name in loaded if name.startswith("chat_aio.actions.maintenance.check")]
