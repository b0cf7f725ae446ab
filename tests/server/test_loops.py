"""Event loops: a process serves on uvloop where it is installed, and on asyncio's own."""

import asyncio
import json
import sys
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import ClientSession, ClientTimeout

from chat_aio import SetupError
from chat_aio.server.loop import LoopKind, run_on
from tests.conftest import Database
from tests.support.people import Tab
from tests.support.processes import serving

NO_UVLOOP = patch.dict(sys.modules, uvloop=None)
"""What an import then raises is an ImportError."""


async def loop_package() -> str:
    return type(asyncio.get_running_loop()).__module__.partition(".")[0]


@pytest.mark.parametrize(("kind", "expected"), [("auto", "uvloop"), ("asyncio", "asyncio")])
def test_uvloop_is_used_where_it_is_installed(kind: LoopKind, expected: str) -> None:
    assert run_on(kind, loop_package()) == expected


def test_without_uvloop() -> None:
    with NO_UVLOOP:
        assert run_on("auto", loop_package()) == "asyncio"
        with pytest.raises(SetupError, match="the extra uvloop"):
            run_on("uvloop", loop_package())


async def test_a_stream_on_asyncios_own_loop(mongo_url: str, database: Database) -> None:
    """Transports of uvloop, on which all other services of tests run, are not asyncio's."""
    options: dict[str, Any] = {"headers": {"X-User": "alice"}, "timeout": ClientTimeout(total=30)}
    async with (
        serving(mongo_url, database.name, "--loop", "asyncio") as base,
        ClientSession(**options) as session,
    ):
        async with session.post(f"{base}/conversations", json={"otherUserId": "bob"}) as response:
            conversation_id = json.loads(await response.read())["conversation"]["id"]
        async with session.get(f"{base}/stream") as response:
            tab = Tab(response)
            path = f"{base}/conversations/{conversation_id}/messages"
            for body in ("one", "two"):
                async with session.post(path, json={"body": body}) as sent:
                    assert sent.status == 201
            assert await tab.bodies(2) == ["one", "two"]
