"""Running the commands in this process, and what they have printed."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from click.testing import CliRunner

from chat_aio.admin.cli import main
from tests.conftest import Database
from tests.support.people import Person

AS_MOD = ("--as", "mod")
DO = (*AS_MOD, "--yes")
"""For commands that remove data or cannot be undone."""


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

    @property
    def refusal_at_work(self) -> str:
        """The line of a refusal behind the progress of what was done before."""
        assert (self.code, self.output) == (1, ""), self
        line = self.errors.splitlines()[-1]
        assert line.startswith("Error: "), line
        return line


def found_by(run: Run) -> Any:
    """The document of a check that has found something."""
    assert run.code == 3, run
    return json.loads(run.output)


Moderate = Callable[..., Awaitable[Run]]
Tool = Callable[..., Awaitable[Run]]
People = Callable[[str], Person]


async def run(*arguments: str, **env: str) -> Run:
    """`chat-aio` with these arguments, in a thread with an event loop of its own. It takes this
    process's stdout and stderr meanwhile, so only one may run at a time."""
    result = await asyncio.to_thread(CliRunner().invoke, main, arguments, env=env)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Run(result.exit_code, result.stdout, result.stderr)


async def kept(database: Database, *collections: str) -> list[Any]:
    """All that stands in some collections."""
    return [
        await database[collection].find().sort("_id", 1).to_list(None) for collection in collections
    ]
