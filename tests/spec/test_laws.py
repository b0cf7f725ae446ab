"""The house's laws: who may import what, and how large things may grow."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "chat_aio"
FILES = sorted(PACKAGE.rglob("*.py"))
MAKE_CLIENTS = {"embedded.py", "cli.py", "served.py", "demo/application.py", "testing.py"}
SPEAK_HTTP = ("web/", "demo/", "client/", "chat.py", "cli.py", "served.py", "testing.py")


def imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def place(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("file", FILES, ids=place)
def test_mongodb_is_spoken_in_the_store_alone(file: Path) -> None:
    roots = {name.split(".")[0] for name in imports(file)}
    if not place(file).startswith("store/") and place(file) not in MAKE_CLIENTS:
        assert not roots & {"pymongo", "bson", "motor"}


@pytest.mark.parametrize("file", FILES, ids=place)
def test_http_is_spoken_in_web_alone(file: Path) -> None:
    roots = {name.split(".")[0] for name in imports(file)}
    if not place(file).startswith(SPEAK_HTTP):
        assert not roots & {"aiohttp", "aiohttp_sse"}


@pytest.mark.parametrize("file", FILES, ids=place)
def test_the_import_law(file: Path) -> None:
    above = {
        "actions": ("chat_aio.web", "chat_aio.live", "chat_aio.actions.api", "chat_aio.chat"),
        "store": ("chat_aio.web", "chat_aio.live", "chat_aio.actions.api", "chat_aio.actions"),
        "live": ("chat_aio.web", "chat_aio.actions.api", "chat_aio.actions"),
        "web": ("chat_aio.chat",),
    }
    folder = place(file).split("/")[0]
    assert not [name for name in imports(file) if name.startswith(above.get(folder, ("-",)))]


def test_what_messages_quote_is_read_in_one_place() -> None:
    """An action that read quotes by itself would show what a host's `can_read` refuses."""
    reading = [each for each in FILES if place(each).startswith("actions/")]
    found = [
        place(each)
        for each in reading
        if any(name in each.read_text() for name in ("find_parents(", "with_previews("))
    ]
    assert found == ["actions/reading.py"]


@pytest.mark.parametrize("file", FILES, ids=place)
def test_files_and_functions_stay_small(file: Path) -> None:
    text = file.read_text()
    assert text.count("\n") <= 300
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= 40, f"{node.name} has {length} lines"


@pytest.mark.parametrize("file", FILES, ids=place)
def test_every_module_says_what_lives_there(file: Path) -> None:
    assert ast.get_docstring(ast.parse(file.read_text()))


WAITING = {
    "live/feed.py": "for its own event",
    "web/bodies.py": "for a client's bytes",
    "web/serving.py": "for the end of the process, which may cancel anything",
    "web/stream.py": "for a client's socket",
    "workers.py": "for another process",
    "embedded.py": "for another process",
}
"""Where a wait is cut short by cancelling it, and what for: never for a call of the driver."""


@pytest.mark.parametrize("file", FILES, ids=place)
def test_no_driver_call_is_cancelled(file: Path) -> None:
    """`asyncio.timeout` and `wait_for` cancel what they surround, and a cancelled call can leave
    PyMongo's client locked for good. Calls are run by `store/calls.py`, bounded by their own
    timeouts."""
    names = {"timeout", "timeout_at", "wait_for"}
    used = {
        node.attr
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "asyncio"
    }
    imported = {
        alias.name
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "asyncio"
        for alias in node.names
    }
    if place(file) not in WAITING:
        assert not (used | imported) & names
