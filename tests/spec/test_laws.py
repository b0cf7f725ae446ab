"""The house's laws that no tool checks. What may import what stands in pyproject.toml."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "chat_aio"
FILES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES = 600
MOST_LINES_OF_A_FUNCTION = 60

SHARED = {
    "__init__",
    "__pycache__",
    "attachments",
    "cli",
    "config",
    "consent",
    "files",
    "indexes",
    "moderation",
    "new",
    "new_app",
    "notifications",
    "options",
    "personal_data",
    "printing",
    "progress",
    "scanning",
    "session",
    "snapshot",
    "tables",
    "users",
    "webhooks",
}
"""The files that are no task of operators, or whose task belongs to another room."""

WAITING = {
    "drafting.py": "for its own event",
    "embedded.py": "for another process",
    "live/feed.py": "for its own event",
    "plugins/attachments/sweeping.py": "for its own event",
    "plugins/attachments/thumbnails.py": "for another process",
    "server/host.py": "for an answer over HTTP",
    "server/process.py": "for the end of the process, which may cancel anything",
    "server/supervisor.py": "for another process",
    "web/downloads.py": "for a client's socket",
    "web/request_body.py": "for a client's bytes",
    "web/sse.py": "for a client's socket",
    "web/uploads.py": "for a client's bytes",
}
"""Where a wait is cut short by cancelling it, and what for: never for a call of the driver."""


def place(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def names_of_asyncio(file: Path) -> Iterator[str]:
    """What a file uses of asyncio, as `asyncio.name` or imported from it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "asyncio":
                yield node.attr
        elif isinstance(node, ast.ImportFrom) and node.module == "asyncio":
            yield from (alias.name for alias in node.names)


def test_what_messages_quote_is_read_in_one_place() -> None:
    """An action that read quotes by itself would show what a host's `can_read` refuses."""
    found = [
        place(file)
        for file in FILES
        if place(file).startswith("actions/")
        and any(name in file.read_text() for name in ("find_parents(", "with_previews("))
    ]
    assert found == ["actions/reading.py"]


def private_names_of_others(file: Path) -> Iterator[str]:
    """The private names of other modules of the package that a file uses."""
    tree = ast.parse(file.read_text())
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chat_aio"):
            folder = PACKAGE.parent / (node.module or "").replace(".", "/")
            for name in node.names:
                if (folder / f"{name.name}.py").exists():
                    modules.add(name.asname or name.name)
                elif name.name.startswith("_"):
                    yield name.name
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in modules
            and node.attr.startswith("_")
        ):
            yield f"{node.value.id}.{node.attr}"


def test_modules_use_no_private_names_of_others() -> None:
    used = {place(file): sorted(private_names_of_others(file)) for file in FILES}
    assert {name: names for name, names in used.items() if names} == {}


def test_files_stay_small() -> None:
    lines = {place(file): file.read_text().count("\n") for file in FILES}
    assert len(lines) > 100
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_functions_stay_small() -> None:
    lines = {
        f"{place(file)}: {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(lines) > 500
    assert {name: count for name, count in lines.items() if count > MOST_LINES_OF_A_FUNCTION} == {}


def test_operators_tasks_have_one_name_on_each_floor() -> None:
    """Those of the table in CONTRIBUTING.md, which says where a task has no part."""
    guide = (PACKAGE.parent / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| `(\w+)`[^|]*\| (yes)? ?\| (yes)? ?\| (yes)? ?\|$", guide, re.M)
    floors = ("store/maintenance", "actions/maintenance", "admin")
    for place_in_row, floor in enumerate(floors, 1):
        files = {file.stem for file in (PACKAGE / floor).iterdir() if file.stem not in SHARED}
        assert {row[0] for row in rows if row[place_in_row]} == files, floor


def test_no_driver_call_is_cancelled() -> None:
    """`asyncio.timeout` and `wait_for` cancel what they surround, and a cancelled call can leave
    PyMongo's client locked for good. Calls are run by `store/calls.py`, bounded by their own
    timeouts."""
    cancelling = {"timeout", "timeout_at", "wait_for"}
    found = {place(file) for file in FILES if cancelling & set(names_of_asyncio(file))}
    assert found == set(WAITING)


def is_program(file: Path) -> bool:
    return file.is_file() and file.read_text().startswith("#!/usr/bin/env python3\n")


def test_loop_variables_have_the_name_of_what_they_are() -> None:
    """A message, never an `each`, in tests and scripts as well."""
    root = PACKAGE.parent
    folders = [root / name for name in ("chat_aio", "tests", "scripts", "examples")]
    programs = [file for file in (root / "scripts").iterdir() if is_program(file)]
    found = [
        f"{file.relative_to(root)}:{node.lineno}"
        for file in sorted(
            [*programs, *(file for folder in folders for file in folder.rglob("*.py"))]
        )
        for node in ast.walk(ast.parse(file.read_text()))
        if (isinstance(node, ast.Name) and node.id == "each")
        or (isinstance(node, ast.arg) and node.arg == "each")
    ]
    assert found == []
