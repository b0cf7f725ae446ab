"""chat_aio/browser as an npm package: it is found by its names, typed, and of one version."""

import asyncio
import json
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from chat_aio.web.browser_files import BROWSER
from tests.support.node import NODE, needs_node

ROOT = Path(__file__).parents[2]
TYPED = ROOT / "tests" / "typing" / "browser"
PACKAGE = json.loads((BROWSER / "package.json").read_text())
REACT_TYPES = Path("/usr/share/nodejs/@types")
TSC = shutil.which("tsc", path=f"/usr/bin:{os.environ.get('PATH', '')}")
OPTIONS = (
    *("--noEmit", "--strict", "--noUncheckedIndexedAccess", "false"),
    *("--target", "es2022", "--lib", "es2022,dom"),
    *("--module", "node16", "--moduleResolution", "node16"),
)

needs_tsc = pytest.mark.skipif(
    (None in (TSC, NODE) or not REACT_TYPES.is_dir()) and "CI" not in os.environ,
    reason="no tsc: apt-get install --no-install-recommends node-typescript node-react",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a host's package has this one installed."""
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "chat-aio").symlink_to(BROWSER)
    return tmp_path


async def run(*command: Any, cwd: Path = ROOT) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        cwd=cwd,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 120)
    return process.returncode, output.decode()


def test_it_has_the_version_of_the_python_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    # npm writes a release candidate as 1.0.0-rc.1, Python as 1.0.0rc1.
    assert PACKAGE["version"].replace("-rc.", "rc") == project["version"]
    assert PACKAGE["license"] == project["license"]


def test_what_it_exports_is_there() -> None:
    places = {place for export in PACKAGE["exports"].values() for place in _places(export)}
    assert {place for place in places if not (BROWSER / place).is_file()} == set()
    assert {f"./{path.name}" for path in BROWSER.glob("*.d.ts")} <= places


def _places(export: str | dict[str, str]) -> list[str]:
    return [export] if isinstance(export, str) else [*export.values()]


def test_what_is_imported_is_in_its_files() -> None:
    """`files` says what `npm pack` takes along."""
    packed = {path for pattern in PACKAGE["files"] for path in BROWSER.glob(pattern)}
    modules = {*BROWSER.rglob("*.js")}
    assert modules <= packed
    imported = re.compile(r'^import .* from "(\..*)";$', re.MULTILINE)
    found = {
        (module.parent / place).resolve()
        for module in modules
        for place in imported.findall(module.read_text())
    }
    assert found <= {module.resolve() for module in modules}


@needs_tsc
async def test_types_are_as_the_comments_say() -> None:
    code, said = await run(sys.executable, ROOT / "scripts" / "browser-types", "--check")
    assert (code, said) == (0, "")


@needs_tsc
async def test_a_typed_host_is_accepted(folder: Path) -> None:
    shutil.copy(TYPED / "host.ts", folder)
    code, said = await run(TSC, *OPTIONS, "host.ts", cwd=folder)
    assert (code, said) == (0, "")


@needs_tsc
async def test_a_typed_host_with_react_is_accepted(folder: Path) -> None:
    (folder / "node_modules" / "@types").symlink_to(REACT_TYPES)
    shutil.copy(TYPED / "react.tsx", folder)
    # Debian's types of React name others that it does not have.
    options = (*OPTIONS, "--jsx", "react-jsx", "--skipLibCheck", "--preserveSymlinks")
    code, said = await run(TSC, *options, "react.tsx", cwd=folder)
    assert (code, said) == (0, "")


@needs_node
async def test_types_name_what_is_there(folder: Path) -> None:
    """The sample names all of the types' methods, as tsc has checked; here they are the code's."""
    script = """
        import { Chat } from "chat-aio";
        import { ChatStore } from "chat-aio/store";
        const namesOf = (made) => {
          const inherited = Object.getOwnPropertyNames(Object.getPrototypeOf(made));
          return [...Object.keys(made), ...inherited].filter((name) => name !== "constructor");
        };
        const chat = new Chat("http://chat/");
        const { conversations, rooms, inbox, drafts, notifications, attachments } = chat;
        const { moderation, moderationTools } = chat;
        const parts = { conversations, rooms, inbox, drafts, notifications, attachments };
        const found = Object.entries({ ...parts, moderation, moderationTools }).map(
          ([name, part]) => [name, Object.keys(part)],
        );
        const store = new ChatStore(chat, { userId: "ada" });
        const made = [["Chat", namesOf(chat)], ["ChatStore", namesOf(store)], ...found];
        console.log(JSON.stringify(Object.fromEntries(made)));
    """
    code, said = await run(NODE, "--input-type=module", "--eval", script, cwd=folder)
    assert code == 0, said
    sample = (TYPED / "host.ts").read_text()
    typed = {
        about: sorted(re.findall(r"(\w+): true", names))
        for about, names in re.findall(
            r"^  (\w+): \{\n(.*?)^  \},", sample, re.DOTALL | re.MULTILINE
        )
    }
    assert typed == {about: sorted({*names}) for about, names in json.loads(said).items()}
