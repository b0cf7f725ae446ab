"""`chat-aio new`: the app that it writes is one, and what cannot be written leaves nothing."""

import json
import os
import re
import secrets
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from click.testing import CliRunner, Result
from cryptography.fernet import Fernet
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pymongo import AsyncMongoClient

from chat_aio.admin import new
from chat_aio.admin.cli import main
from tests.admin.running import Run
from tests.admin.test_processes import process
from tests.support.processes import Service

ROOT = Path(__file__).parents[2]
NAME = "a_shop_whose_customers_talk_to_us"


def make(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["new", *arguments])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def app(here: Path) -> Path:
    """A new app, with this environment as its own."""
    result = make(NAME)
    assert result.exit_code == 0, result.output
    (here / NAME / ".venv").symlink_to(sys.prefix)
    return here / NAME


async def run_in(folder: Path, *command: str) -> Run:
    """A command of the app's developers, in its folder."""
    return await process("env", "-C", str(folder), *command)


async def test_its_own_tests_pass(app: Path, mongo_url: str) -> None:
    """By its own command, as if all that it asks for were installed."""
    ran = await run_in(app, "make", "--assume-old", f".venv/.{NAME}-ready", "test")
    assert ran.code == 0, ran
    assert "15 passed" in ran.output


async def test_linters_like_it(app: Path) -> None:
    programs = ("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)
    for program, *arguments in programs:
        ran = await run_in(app, f".venv/bin/{program}", *arguments)
        assert ran.code == 0, ran


def test_it_says_what_it_made(here: Path) -> None:
    said = make("shop", "--into", "some_folder").output.splitlines()
    # Where the chat itself is installed from a folder, as here, a sentence stands behind.
    assert "on a server, replace it by a released version" in said.pop()
    made = {path.relative_to("some_folder") for path in Path("some_folder").rglob("*.*")}
    assert said[0] == "Made some_folder/:"
    assert {Path(line.strip()) for line in said[1:-3]} == {*made, Path("Makefile")}
    assert said[-3:-1] == ["Next:", "  cd some_folder"]
    assert len(Path("some_folder/shop/app.py").read_text().splitlines()) <= 40
    assert not [path for path in Path("some_folder").rglob("*.*") if "myapp" in path.read_text()]
    assert Path("some_folder").stat().st_mode & 0o777 == 0o777 & ~umask()
    assert os.listdir(here) == ["some_folder"]


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize(
    "name",
    [
        *("2shops", "my-shop", "my shop", "läden", "class", "_shop", "shop_", "../shop", ""),
        *("chat_aio", "Chat_Aio", "json", "tests", "aiohttp", "aiohttp_session"),
        *("admin", "local", "config", "Admin", "s" * 64),
    ],
)
def test_a_name_that_no_app_can_have(here: Path, name: str) -> None:
    result = make("--", name)
    assert result.exit_code == 2
    assert result.output.startswith("Error: ")
    assert len(result.output.splitlines()) == 1
    assert os.listdir(here) == []


def needed_by(requirement: str, seen: set[str]) -> Iterator[str]:
    """The distributions that a requirement brings along, as far as they are installed here."""
    asked = Requirement(requirement)
    if (name := canonicalize_name(asked.name)) in seen or not is_here(name):
        return
    seen.add(name)
    yield name
    for other in metadata.requires(name) or ():
        marker = Requirement(other).marker
        if not marker or any(marker.evaluate({"extra": extra}) for extra in (*asked.extras, "")):
            yield from needed_by(other, seen)


def is_here(distribution: str) -> bool:
    try:
        return bool(metadata.distribution(distribution))
    except metadata.PackageNotFoundError:
        return False


def test_what_the_app_needs_is_no_name_for_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where it is not installed."""
    lines = (new.TEMPLATES / "requirements.txt.template").read_text().splitlines()
    lines.remove("{chat-aio}")
    asked, seen = [*lines, "chat-aio", "pytest", "pytest-asyncio", "fiftyone-db"], set[str]()
    needed = {name for line in asked for name in needed_by(line, seen)}
    assert {"aiohttp-session", "cryptography", "pytest", "aiohttp"} <= needed
    monkeypatch.setattr(new, "_is_installed", lambda name: False)
    packages = {
        package
        for package, distributions in metadata.packages_distributions().items()
        if needed & {canonicalize_name(distribution) for distribution in distributions}
        and new.NAME.fullmatch(package)
    }
    assert {package for package in packages if make(package).exit_code != 2} == set()


def test_an_empty_folder_is_filled(here: Path) -> None:
    Path("shop").mkdir(mode=0o700)
    before = Path("shop").stat()
    assert make("shop").exit_code == 0
    assert Path("shop/Makefile").is_file()
    after = Path("shop").stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)


def test_the_folder_one_is_in_is_filled(here: Path) -> None:
    result = make("shop", "--into", ".")
    assert result.exit_code == 0, result.output
    assert Path("shop/app.py").is_file()
    assert "cd " not in result.output


def test_nothing_is_written_over(here: Path) -> None:
    Path("shop").mkdir()
    Path("shop/notes").write_text("mine")
    Path("file").write_text("mine")
    for arguments, said in (
        (["shop"], "shop is not empty"),
        (["shop", "--into", "file"], "file already exists, and is no folder"),
        (["shop", "--into", "no/where"], "there is no folder"),
        (["shop", "--into", "s" * 300], "cannot be written: File name too long"),
    ):
        result = make(*arguments)
        assert (result.exit_code, len(result.output.splitlines())) == (1, 1), result.output
        assert said in result.output
    assert sorted(os.listdir(here)) == ["file", "shop"]
    assert os.listdir("shop") == ["notes"]


def test_all_is_written_or_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full when half of it is there."""
    whole = new._files

    def half(name: str) -> Iterator[tuple[str, str]]:
        yield from list(whole(name))[:5]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(new, "_files", half)
    result = make("shop")
    assert (result.exit_code, result.output) == (
        1,
        "Error: shop cannot be written: No space left on device\n",
    )
    assert os.listdir(here) == []
    Path("shop").mkdir()
    assert make("shop").exit_code == 1
    assert os.listdir(here) == ["shop"]
    assert os.listdir("shop") == []


@pytest.mark.parametrize(
    ("origin", "requirement"),
    [
        (None, "chat-aio[a]>=0.1.0"),
        ({"url": "file:///src/chat"}, "chat-aio[a] @ file:///src/chat"),
        (
            {"url": "https://git.example/chat", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "chat-aio[a] @ git+https://git.example/chat@abc",
        ),
    ],
    ids=["index", "folder", "repository"],
)
def test_it_asks_for_the_chat_that_made_it(
    monkeypatch: pytest.MonkeyPatch, origin: Any, requirement: str
) -> None:
    class Installed:
        version = "0.1.0"

        def read_text(self, name: str) -> str | None:
            return None if origin is None else json.dumps(origin)

    monkeypatch.setattr(metadata, "distribution", lambda _: Installed())
    assert new._requirement("[a]") == requirement
    readme = dict(new._files("shop"))["README.md"]
    is_local = requirement.endswith("file:///src/chat")
    assert ("on a server, replace it by a released version" in readme) is is_local
    assert "{checkout}" not in readme


def test_its_mongodb_is_that_of_the_project(here: Path) -> None:
    """One node with a password, as the project itself runs it."""
    make("shop")
    own, ours = (
        re.split(r"\n\n|\nvolumes:", service_of(folder / "docker-compose.yml"))[0]
        for folder in (Path("shop"), ROOT)
    )
    assert own.replace("MONGO_PASSWORD:?", "CHAT_AIO_MONGO_PASSWORD:?") == ours


def service_of(compose: Path) -> str:
    return compose.read_text().partition("\n  mongo:\n")[2]


def test_its_pages_have_no_code_in_them(here: Path) -> None:
    """Its Content-Security-Policy forbids that."""
    make("shop")
    policy = Path("shop/shop/protection.py").read_text()
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    for page in Path("shop").rglob("*.html"):
        assert not re.search(r"<style|<script(?![^>]* src=)|\son\w+=|\sstyle=", page.read_text())


def test_its_readme_says_what_a_logout_leaves(here: Path) -> None:
    make("shop")
    assert "cannot revoke a copy of the cookie" in Path("shop/README.md").read_text()


def test_its_readme_says_how_to_make_a_key(here: Path) -> None:
    make("shop")
    readme = Path("shop/README.md").read_text()
    (program,) = re.findall(r'python -c "([^"]+)"', readme)
    said: list[Any] = []
    exec(program, {"print": said.append})
    assert Fernet(said[0])


async def test_its_readme_says_how_it_is_served(app: Path, mongo_url: str) -> None:
    """By the program that is installed, in the app's folder, with two workers."""
    (line,) = re.findall(r"^chat-aio (serve .+)$", (app / "README.md").read_text(), re.M)
    own = f"own_{secrets.token_hex(8)}"
    (app / NAME / "__main__.py").write_text(
        (app / NAME / "__main__.py").read_text().replace(f'client["{NAME}"]', f'client["{own}"]')
    )
    service = Service(
        mongo_url,
        own,
        *line.split()[1:-2],
        start=(str(app / ".venv/bin/chat-aio"),),
        cwd=app,
        environment={
            "MONGO_URL": mongo_url,
            "PYTHONPATH": str(ROOT),
            "SESSION_KEY": Fernet.generate_key().decode(),
            "ORIGINS": "https://shop.example",
        },
    )
    async with service.running(), ClientSession() as session:
        await service.has_served(2)
        async with session.get(service.origin) as response:
            assert "Who are you?" in await response.text()
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        await client.drop_database(own)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"MONGO_URL": "mongodb://127.0.0.1/"}, "Error: MONGO_URL is set, so SESSION_KEY must be"),
        ({"SESSION_KEY": "short"}, "Error: SESSION_KEY must be 32 bytes"),
        ({"ORIGINS": ""}, "Error: ORIGINS must be origins"),
        ({"ORIGINS": "https://shop.example/"}, "Error: ORIGINS must be origins"),
    ],
)
async def test_a_wrong_setting_is_one_line(app: Path, given: dict[str, str], said: str) -> None:
    serve = (".venv/bin/chat-aio", "serve", "--app", f"{NAME}.__main__:start", "--port", "0")
    for command in ((".venv/bin/python", "-m", NAME), serve):
        ran = await process("env", "-C", str(app), *command, **given)
        assert ran.code == 1, ran
        assert ran.errors.splitlines()[-1].startswith(said), ran
        assert "Traceback" not in ran.errors


async def test_without_a_mongod_it_says_so_in_a_line(app: Path) -> None:
    """The library's own message, and no traceback."""
    program = (
        "import runpy, sys\nfrom chat_aio import SetupError, embedded\n"
        "def find():\n    raise SetupError(embedded.NO_MONGOD)\n"
        f"embedded.find_mongod = find\nrunpy.run_module('{NAME}', run_name='__main__')\n"
    )
    ran = await run_in(app, sys.executable, "-c", program)
    assert ran.code == 1
    assert ran.errors.splitlines()[-1].startswith("Error: there is no mongod on PATH")
    assert "Traceback" not in ran.errors
