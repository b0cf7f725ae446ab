"""What the examples need: a database in their address, and a way to be loaded."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.conftest import Database

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def database_url(mongo_url: str, database: Database) -> str:
    """The address of the test's own database."""
    return mongo_url.replace("/?", f"/{database.name}?")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, database_url: str) -> dict[str, str]:
    """What the examples read; they are run with it, here and in processes of their own."""
    given = {"MONGO_URL": database_url, "TOKEN_KEY": "0123456789abcdef" * 4}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    return given


@pytest.fixture
async def serve_example(environment: Any, aiohttp_server: Any) -> Callable[[str], Any]:
    """Serve the app that an example makes; gives its origin."""

    async def serve(name: str) -> str:
        server = await aiohttp_server(await loaded(name).make_app())
        return str(server.make_url("")).rstrip("/")

    return serve


def loaded(name: str) -> ModuleType:
    """An example as a module, as new."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
