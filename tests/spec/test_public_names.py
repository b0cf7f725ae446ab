"""What documents and examples import is public, as docs/project/stability.md lists it."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMPORT = re.compile(r"^\s*from (chat_aio[\w.]*) import (\([^)]*\)|[^\n#']+)", re.MULTILINE)
INLINE = re.compile(r"'from (chat_aio[\w.]*) import ([^;]+);")


def public_modules() -> frozenset[str]:
    text = (ROOT / "docs/project/stability.md").read_text()
    _, _, table = text.partition("### Python modules")
    first = re.findall(r"^\| (chat_aio[^|]*) \|", table.partition("## ")[0], re.MULTILINE)
    return frozenset(name for cell in first for name in cell.split(", "))


def imported() -> list[tuple[str, str, str]]:
    """(file, module, name) for each import of the package that a reader sees."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.py")]
    found = [
        (page.relative_to(ROOT).as_posix(), module, name.strip())
        for page in pages
        for pattern in (IMPORT, INLINE)
        for module, names in pattern.findall(page.read_text())
        for name in re.sub(r"#[^\n]*", "", names).strip("()\n ").split(",")
        if name.strip()
    ]
    assert len({module for _, module, _ in found}) > 8
    return found


def test_only_public_modules_are_imported() -> None:
    public = public_modules()
    assert "chat_aio.testing" in public
    others = [found for found in imported() if found[1] not in public]
    assert others == []


def names_of(module: str) -> set[str]:
    """The names that a module lists in `__all__`, or defines."""
    loaded = importlib.import_module(module)
    if hasattr(loaded, "__all__"):
        return set(loaded.__all__)
    body = ast.parse(inspect.getsource(loaded)).body
    assigned = {
        target.id
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return assigned | {node.name for node in body if isinstance(node, kinds)}


@pytest.mark.parametrize("module", sorted(public_modules()))
def test_imported_names_are_public(module: str) -> None:
    public = names_of(module)
    assert public
    hidden = [(page, name) for page, named, name in imported() if named == module]
    assert [(page, name) for page, name in hidden if name.split(" as ")[0] not in public] == []
