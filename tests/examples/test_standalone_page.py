"""The page about a standalone chat: its commands are run, except those of Docker."""

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from chat_aio.server.settings import SETTINGS
from tests.conftest import Database
from tests.support.node import NODE_HOST, needs_node, node_host
from tests.support.processes import ROOT

PAGE = (ROOT / "docs" / "start" / "standalone.md").read_text()


def commands() -> list[str]:
    found = re.findall(r"^\$ (.*)$", PAGE, re.M)
    return [text for text in found if not text.startswith("docker ")]


@needs_node
@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on PATH: apt-get install curl")
async def test_the_commands_do_what_they_say(
    mongo_url: str, database: Database, tmp_path: Path
) -> None:
    async with node_host(mongo_url, database.name) as (shop, chat):
        script = "\n".join(["set -eo pipefail", *commands()])
        script = script.replace("http://127.0.0.1:3000", shop).replace(
            "http://127.0.0.1:8080", chat
        )
        shell = await asyncio.create_subprocess_exec(
            *("bash", "-c", script), cwd=tmp_path, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await asyncio.wait_for(shell.communicate(), 120)
        assert shell.returncode == 0, output.decode()
    last = json.loads(output[output.rindex(b'{"messages"') :])
    assert [message["body"] for message in last["messages"]] == ["Is it bright?"]
    assert last["users"]["ann"]["name"] == "Ann Lee"
    secrets = dict(line.split("=", 1) for line in (tmp_path / ".env").read_text().splitlines())
    SETTINGS["webhook_secret"].read(secrets["WEBHOOK_SECRET"])
    assert len(secrets["JWT_KEY"]) == 64


def test_what_compose_sets_are_settings() -> None:
    """And files that it mounts exist, and services that it extends."""
    more = yaml.safe_load((NODE_HOST / "docker-compose.yml").read_text())["services"]
    base = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert {*more} - {*base} == {"shop"}
    known = {setting.variable for setting in SETTINGS.values()} | {"CHAT_AIO_CONFIG"}
    assert {*more["chat"]["environment"]} <= known
    for service in more.values():
        for volume in service["volumes"]:
            assert (ROOT / volume.split(":")[0]).exists()
    # The secrets that the page writes are those that are needed.
    written = set(re.findall(r'echo "(\w+)=', PAGE))
    text = (NODE_HOST / "docker-compose.yml").read_text() + (
        ROOT / "docker-compose.yml"
    ).read_text()
    assert set(re.findall(r"\$\{(\w+):\?", text)) == written
