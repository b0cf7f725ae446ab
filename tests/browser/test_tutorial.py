"""The tutorial, followed literally: its commands, files and changes, and two people in browsers."""

import asyncio
import os
import re
import signal
import sys
import sysconfig
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import ClientError, ClientSession
from playwright.async_api import Page, expect

from chat_aio.embedded import _end_with_parent, _free_port
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "start" / "tutorial.md").read_text()
BLOCK = re.compile(r'^```(\w+)(?: title="(.*?)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
PATIENCE = 300
PORT = "8000"


@dataclass
class Reader:
    """A person who follows the tutorial: their folder, their terminals, what runs in them.

    What pip would fetch is there already: the environment of the tests.
    """

    folder: Path
    port: str = field(default_factory=lambda: str(_free_port()))
    terminals: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": sysconfig.get_path("purelib"),
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # Which pip reads as yes.
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PYTHONUNBUFFERED": "1",
            "PORT": self.port,
        }

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def follow(self, heading: str) -> None:
        """All blocks of the part with this heading, in their order."""
        (part,) = re.findall(rf"^## \d\. {heading}\n(.*?)(?=^## )", TUTORIAL, re.S | re.M)
        for language, title, text in BLOCK.findall(part):
            match language, title:
                case "console", "":
                    await self._run(text)
                case "console", _:
                    await self._keep_running(title, text)
                case "diff", _:
                    self._change(self.folder / title, text)
                case _:
                    (self.folder / title).write_text(text)

    async def _run(self, block: str) -> None:
        """Commands that end; the folder into which they change is that of the next ones."""
        process = await self._shell(f"{self._commands(block)}\npwd > '{self.folder}/.left'")
        output, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert process.returncode == 0, output.decode()
        left = self.folder / ".left"
        folder = Path(left.read_text().strip())
        left.unlink()
        self.folder = folder

    async def _keep_running(self, terminal: str, block: str) -> None:
        """Commands in a terminal of their own, after Ctrl+C for the ones before."""
        await self.interrupt(terminal)
        process = await self._shell(self._commands(block))
        self.terminals[terminal] = process
        if terminal == "The server":
            await self._is_served(process)
            return
        assert process.stdout
        line = (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode()
        ((name, value),) = re.findall(r"^export (\w+)='(.*)'$", line, re.M)
        self.environment[name] = value

    async def _is_served(self, process: asyncio.subprocess.Process) -> None:
        async with ClientSession() as session, asyncio.timeout(PATIENCE):
            while process.returncode is None:
                with suppress(ClientError):
                    async with session.get(self.origin) as response:
                        assert response.status == 200
                        return
                await asyncio.sleep(0.1)
        assert process.stdout
        pytest.fail((await process.stdout.read()).decode())

    async def interrupt(self, terminal: str) -> None:
        process = self.terminals.pop(terminal, None)
        if process is not None:
            os.killpg(process.pid, signal.SIGINT)
            await asyncio.wait_for(process.communicate(), PATIENCE)

    def _commands(self, block: str) -> str:
        lines = block.splitlines()
        assert all(line.startswith("$ ") for line in lines), block
        return "\n".join(line[2:] for line in lines).replace(PORT, self.port)

    async def _shell(self, commands: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *("bash", "-euo", "pipefail", "-c", commands),
            cwd=self.folder,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_as_at_a_terminal,
        )

    def _change(self, file: Path, change: str) -> None:
        """Lines with a minus are replaced by those with a plus; the text must be there once."""
        lines = change.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        after = "".join(line[1:] for line in lines if line[0] in " +")
        text = file.read_text()
        assert text.count(before) == 1, f"{file.name} lacks\n{before}"
        file.write_text(text.replace(before, after))


def _as_at_a_terminal() -> None:
    """Ctrl+C works, also where the tests run in a shell's background, which ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _end_with_parent()


@pytest_asyncio.fixture(loop_scope="session")
async def reader(tmp_path: Path) -> AsyncIterator[Reader]:
    (tmp_path / "chat_aio").symlink_to(ROOT)
    (tmp_path / "empty").mkdir()
    follows = Reader(tmp_path / "empty")
    yield follows
    # The database last: without it, the server would wait for its time limit.
    for terminal in reversed([*follows.terminals]):
        await follows.interrupt(terminal)


async def logged_in(page: Page, origin: str, name: str) -> Page:
    await page.goto(origin)
    await page.get_by_role("button", name=name).click()
    await expect(page.get_by_role("button", name="Log out")).to_be_visible()
    return page


async def press(page: Page, name: str) -> None:
    await page.get_by_role("navigation", name="Write to").get_by_role("button", name=name).click()
    await expect(page.get_by_role("region", name=name)).to_be_visible()


async def write(page: Page, text: str) -> None:
    await page.get_by_label("Message", exact=True).fill(text)
    await page.keyboard.press("Enter")


@pytest.mark.long
async def test_from_nothing_to_two_browsers(
    reader: Reader, open_page: Visit, complaints: Complaints
) -> None:
    # While the server restarts, with another key.
    complaints.excuse_network()
    complaints.excuse("401")
    await reader.follow("Install it")
    ann = await logged_in(await open_page(), reader.origin, "Ann")
    bob = await logged_in(await open_page(), reader.origin, "Bob")
    await press(ann, "Bob")
    await write(ann, "Hello Bob!")
    row = bob.get_by_role("navigation", name="Conversations").get_by_role("link", name="Ann")
    await expect(row).to_contain_text("1 unread")
    await row.click()
    await write(bob, "Hello Ann!")
    await expect(ann.get_by_role("log")).to_contain_text("Hello Ann!")

    await reader.follow("Show the names of your users")
    await reader.follow("Add a bot")
    await reader.follow("Show unread messages in the title")
    # The cookies of before are of another key: the login is the first page again.
    await logged_in(ann, reader.origin, "Ann Archer")
    await logged_in(bob, reader.origin, "Bob Baker")
    await press(ann, "Helper")
    await write(ann, "Where is my order?")
    await expect(ann.get_by_role("log")).to_contain_text("Your order is on its way.")
    await press(bob, "Cleo Clark")
    await press(ann, "Bob Baker")
    await write(ann, "Are you there?")
    await expect(bob).to_have_title("(1) shop")

    await reader.follow("Write a test")

    await reader.follow("Run it in two processes")
    await logged_in(ann, reader.origin, "Ann Archer")
    await logged_in(bob, reader.origin, "Bob Baker")
    await press(ann, "Bob Baker")
    await write(ann, "Over two workers")
    await press(bob, "Ann Archer")
    await expect(bob.get_by_role("log")).to_contain_text("Over two workers")
