"""Running a script: as a process of its own, or in this one."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from tools.moderation import main

from tests.conftest import Database
from tests.support.people import Person

SCRIPTS = Path(__file__).parents[2] / "scripts"
AS_MOD = ("--as", "mod")


@dataclass(frozen=True)
class Run:
    code: int
    output: str
    errors: str

    @property
    def json(self) -> Any:
        """The one document that was printed."""
        assert self.code == 0, self
        return json.loads(self.output)

    @property
    def refusal(self) -> str:
        """The one line of a refusal."""
        assert (self.code, self.output) == (1, ""), self
        (line,) = self.errors.splitlines()
        assert line.startswith("Error: "), line
        return line


Moderate = Callable[..., Awaitable[Run]]
Tool = Callable[..., Awaitable[Run]]
People = Callable[[str], Person]


async def run(script: str, *arguments: str, **env: str) -> Run:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(SCRIPTS / script), *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **env},
    )
    output, errors = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    return Run(process.returncode, output.decode(), errors.decode())


async def run_here(*arguments: str, **env: str) -> Run:
    """`moderation` in this process, one at a time: where many are asked, and none is heard of."""
    result = await asyncio.to_thread(CliRunner().invoke, main, arguments, env=env)
    return Run(result.exit_code, result.stdout, result.stderr)


async def kept(database: Database, *collections: str) -> list[Any]:
    """All that stands in some collections."""
    return [await database[each].find().sort("_id", 1).to_list(None) for each in collections]
