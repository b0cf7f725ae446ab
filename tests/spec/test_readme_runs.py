"""The README's example and its commands are run as they stand."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", README, re.S)
COMMANDS, LISTEN, SEND = re.findall(r"```sh\n(.*?)```", README, re.S)
ADDRESS = "http://127.0.0.1:8000"
PATIENCE = 20


@pytest.fixture
async def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """Where the example listens: at a free port, and with its data in a folder of the test."""
    monkeypatch.chdir(tmp_path)
    example = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", example)
    exec(compile(EXAMPLE, "README.md", "exec"), example.__dict__)
    app: web.Application = await example.make_app()
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


async def test_what_is_sent_arrives(address: str) -> None:
    """In the README's order, with its own commands: listen first, then send."""
    if shutil.which("curl") is None and "CI" not in os.environ:
        pytest.skip("there is no curl here: apt-get install curl")
    listening = await shell(LISTEN, address)
    try:
        await read_until(listening, b": open")
        sending = await shell(SEND, address)
        sent, _ = await asyncio.wait_for(sending.communicate(), PATIENCE)
        assert b'"body":"Hello!"' in sent
        await read_until(listening, b'"body":"Hello!"')
    finally:
        listening.kill()
        await listening.wait()


async def shell(commands: str, address: str) -> asyncio.subprocess.Process:
    """Commands of the README, against the address where the example is this time."""
    assert ADDRESS in commands
    return await asyncio.create_subprocess_exec(
        *("bash", "-euo", "pipefail", "-c", f"exec 2>&1\n{commands.replace(ADDRESS, address)}"),
        stdout=subprocess.PIPE,
    )


async def read_until(process: asyncio.subprocess.Process, what: bytes) -> None:
    assert process.stdout
    async with asyncio.timeout(PATIENCE):
        async for line in process.stdout:
            if what in line:
                return
    pytest.fail(f"it ended without {what!r}")


def test_the_example_listens_on_loopback_where_the_commands_ask() -> None:
    assert 'host="127.0.0.1", port=8000' in EXAMPLE


def test_the_two_commands_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = re.findall(r"^make (\w+)", COMMANDS, re.M)
    assert named == ["run", "test"]
    for command in named:
        assert re.search(rf"^{command}:", makefile, re.M)


def test_ci_calls_the_command_that_tests() -> None:
    called = re.findall(r"^make (.*)$", (ROOT / ".ci" / "run").read_text(), re.M)
    assert "test" in called[0].split()
