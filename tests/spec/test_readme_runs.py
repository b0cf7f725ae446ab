"""The README's example and its commands are run as they stand."""

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp.test_utils import unused_port

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", README, re.S)
COMMANDS, MONGOD, HOST, LISTEN, SEND = re.findall(r"```sh\n(.*?)```", README, re.S)
ADDRESS = "http://127.0.0.1:8000"
MONGO_URL = "mongodb://127.0.0.1:27017"
PATIENCE = 60


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    """Where the example listens. Both programs run as the README has it, at free ports."""
    assert MONGO_URL in EXAMPLE
    mongod_port, port = unused_port(), unused_port()
    example = EXAMPLE.replace(":27017", f":{mongod_port}").replace("port=8000", f"port={port}")
    (tmp_path / "host.py").write_text(example)
    mongod = await shell(command(MONGOD, f"--port {mongod_port} --data {tmp_path / 'data'}"))
    try:
        await read_until(mongod, b"is ready")
        host = await shell(command(HOST), cwd=tmp_path)
        try:
            await read_until(host, b"Running on")
            yield f"http://127.0.0.1:{port}"
        finally:
            await end(host)
    finally:
        await end(mongod)


def command(block: str, options: str = "") -> str:
    """A block of the README, with the programs of this environment."""
    assert block.startswith(".venv/bin/")
    return (
        f"exec {Path(sys.executable).parent}/{block.removeprefix('.venv/bin/').strip()} {options}"
    )


async def test_what_is_sent_arrives(address: str) -> None:
    """In the README's order, with its own commands: listen first, then send."""
    if shutil.which("curl") is None and "CI" not in os.environ:
        pytest.skip("there is no curl here: apt-get install curl")
    listening = await shell(at(LISTEN, address))
    try:
        await read_until(listening, b": open")
        sending = await shell(at(SEND, address))
        sent, _ = await asyncio.wait_for(sending.communicate(), PATIENCE)
        assert b'"body":"Hello!"' in sent
        await read_until(listening, b'"body":"Hello!"')
    finally:
        await end(listening)


async def test_a_port_in_use_is_refused(tmp_path: Path) -> None:
    taken = socket.socket()
    with taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        options = f"--port {taken.getsockname()[1]} --data {tmp_path}"
        process = await shell(command(MONGOD, options))
        output, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 1
    assert output.decode().startswith("Error: mongod cannot listen on")


def at(commands: str, address: str) -> str:
    """Commands of the README, against the address where the example is this time."""
    assert ADDRESS in commands
    return commands.replace(ADDRESS, address)


async def shell(commands: str, *, cwd: Path | None = None) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *("bash", "-euo", "pipefail", "-c", f"exec 2>&1\n{commands}"),
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        cwd=cwd,
    )


async def end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    async with asyncio.timeout(PATIENCE):
        await process.wait()


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
