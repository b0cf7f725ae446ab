"""`chat_aio.testing` from outside: a host's tests, run as a host runs them."""

import asyncio
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pymongo import AsyncMongoClient

from chat_aio.testing import OURS, URL
from tests.examples.conftest import EXAMPLES

PATIENCE = 240
GUIDE = (EXAMPLES.parent / "docs/guides/testing.md").read_text()
(DOCUMENT,) = re.findall(r"```python\n((?:(?!```).)*?async def test_.*?)```", GUIDE, re.S)

WHERE = """
import os, pathlib, pytest

@pytest.mark.parametrize("number", range(2))
@pytest.mark.asyncio
async def test_where(chat_database, number):
    await chat_database["kept"].insert_one({})
    here = pathlib.Path(f"{os.environ.get('PYTEST_XDIST_WORKER')}-{number}.where")
    here.write_text(f"{os.environ['CHAT_AIO_TEST_MONGO_URL']} {chat_database.name}")
"""

FAILING_LOGIN = """
from aiohttp import web
import pytest
from chat_aio import Chat
from chat_aio.errors import InternalError

CALLS = []

def auth(request):
    CALLS.append(request.path)
    raise LookupError

@pytest.mark.asyncio
async def test_a_stream_with_a_login_that_fails(chat_database, chat_people):
    app = web.Application()
    Chat(chat_database, auth=auth).mount(app)
    ada = await (await chat_people(app, lambda user_id, origin: {}))("ada")
    with pytest.raises(InternalError):
        async with ada.stream():
            pass
    assert CALLS == ["/api/chat/stream"]
"""
"""The test fails at once, and does not wait for a stream that never opens."""


async def run_tests(
    folder: Path, *options: str, passed: int, **environment: str
) -> list[tuple[str, str]]:
    """A host's tests, which must all pass; where they found a mongod, and which databases."""
    shutil.copytree(EXAMPLES / "host_tests", folder, dirs_exist_ok=True)
    (folder / "test_where.py").write_text(WHERE)
    (folder / "test_document.py").write_text(DOCUMENT)
    (folder / "test_failing_login.py").write_text(FAILING_LOGIN)
    inherited = {name: value for name, value in os.environ.items() if name not in (URL, OURS)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        *("-W", "error", "-o", "asyncio_default_fixture_loop_scope=function"),
        *("-p", "pytest_asyncio.plugin", "-p", "xdist.plugin", "--asyncio-mode", "auto", *options),
        cwd=folder,
        env={**inherited, **environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, said.decode()
    assert f"{passed} passed" in said.decode()
    return places(folder)


def places(folder: Path) -> list[tuple[str, str]]:
    written = [path.read_text().split() for path in folder.glob("*.where")]
    return [(url, name) for url, name in written]


ALONE = ()
WORKERS = ("-n", "2", "--dist", "each", "test_where.py")


@pytest.mark.parametrize(
    ("options", "passed", "count"), [(ALONE, 6, 2), (WORKERS, 4, 4)], ids=["alone", "workers"]
)
async def test_a_mongod_of_their_own(
    tmp_path: Path, options: tuple[str, ...], passed: int, count: int
) -> None:
    """One for all, a database for each test, nothing left behind."""
    found = await run_tests(tmp_path, *options, passed=passed)
    (url,) = {url for url, _ in found}
    assert len({name for _, name in found}) == count
    place = urlsplit(url)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(place.hostname, place.port)


async def test_a_mongod_that_is_given(tmp_path: Path, mongo_url: str) -> None:
    """The databases are dropped."""
    found = await run_tests(tmp_path, "test_where.py", passed=2, **{URL: mongo_url})
    assert {url for url, _ in found} == {mongo_url}
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        assert not {name for _, name in found} & set(await client.list_database_names())
