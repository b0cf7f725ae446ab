"""The commands as processes: the files of `scripts/`, and the entry point that is installed."""

import asyncio
import json
import os
import sys
import tomllib
from pathlib import Path

from chat_aio.admin.cli import LATER
from tests.admin.running import AS_MOD, People, Run, Tool
from tests.conftest import Database

ROOT = Path(__file__).parents[2]

SCRIPTS: dict[str, tuple[str, ...]] = {
    "check": ("check",),
    "retention": ("retention", "--older-than", "1", *AS_MOD, "--dry-run"),
    "erase-user": ("erase", "alice", *AS_MOD, "--dry-run"),
    "export-user": ("export", "alice"),
    "moderation": ("moderation", "reports", "--json"),
    "indexes": ("indexes", "check"),
}
"""Each script, and what is asked of it as a command of `chat-aio`."""


EACH_IN_TURN = """
import contextlib, io, json, runpy, sys
ran = []
for sys.argv in json.load(sys.stdin):
    said = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(said):
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except SystemExit as ended:
            said.flush()
            ran.append((ended.code, said.buffer.getvalue().decode()))
print(json.dumps(ran))
"""
"""Runs each script as its own main program, in one process that loads the package once."""


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


async def test_each_script_is_its_command(
    people: People, tool: Tool, mongo_url: str, database: Database
) -> None:
    place = {"CHAT_AIO_MONGO_URL": mongo_url, "CHAT_AIO_DATABASE": database.name}
    await people("alice").send(await people("alice").group(), "hello")
    commands = [
        (str(ROOT / "scripts" / name), *arguments) for name, (_, *arguments) in SCRIPTS.items()
    ]
    given = json.dumps(commands)
    ran = await process(sys.executable, "-c", EACH_IN_TURN, given=given, **place)
    for asked, (code, output) in zip(SCRIPTS.values(), ran.json, strict=True):
        here = await tool(*asked)
        assert code == here.code == 0, (asked, ran)
        assert without_times(output) == without_times(here.output)
        assert output


def without_times(output: str) -> str:
    """What does not say since when messages are old."""
    return output.partition(", from before")[0]


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
    assert not [each for each in loaded if each.startswith("chat_aio.actions.maintenance.check")]
