"""The app that `chat-aio new` writes, run by its own command: two people talk in the browser."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from click.testing import CliRunner
from playwright.async_api import Page, expect

from chat_aio.admin.cli import main
from chat_aio.embedded import _end_with_parent, _free_port
from tests.browser.conftest import Visit

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROOT = Path(__file__).parents[2]
PATIENCE = 90


@pytest_asyncio.fixture(loop_scope="session")
async def origin(tmp_path: Path) -> AsyncIterator[str]:
    """Where the app runs, over a mongod of its own."""
    folder = tmp_path / "shop"
    made = await asyncio.to_thread(CliRunner().invoke, main, ["new", "shop", "--into", str(folder)])
    assert made.exit_code == 0, made.output
    port = _free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", "-m", "shop"),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PORT": str(port)},
        stdout=asyncio.subprocess.PIPE,
        preexec_fn=_end_with_parent,
    )
    assert process.stdout
    async with asyncio.timeout(PATIENCE):
        line = await process.stdout.readline()
    (said,) = re.findall(rb"http://127\.0\.0\.1:\d+", line)
    yield said.decode()
    process.terminate()
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    assert (folder / ".data").is_dir()


async def logged_in(page: Page, origin: str, name: str) -> Page:
    await page.goto(origin)
    await page.get_by_role("button", name=name).click()
    await expect(page.get_by_role("button", name="Log out")).to_be_visible()
    return page


async def test_two_people_talk(origin: str, open_page: Visit) -> None:
    ann = await logged_in(await open_page(), origin, "Ann")
    bob = await logged_in(await open_page(), origin, "Bob")
    await expect(bob.get_by_text("No conversations yet.")).to_be_visible()
    write_to = ann.get_by_role("navigation", name="Write to")
    await expect(write_to.get_by_role("button", name="Ann")).to_be_hidden()
    await write_to.get_by_role("button", name="Bob").click()
    await ann.get_by_label("Message", exact=True).fill("Hello Bob!")
    await ann.keyboard.press("Enter")

    row = bob.get_by_role("navigation", name="Conversations").get_by_role("link", name="Ann")
    await expect(row).to_contain_text("Hello Bob!")
    await expect(row).to_contain_text("1 unread")
    await row.click()
    await expect(bob.get_by_role("log")).to_contain_text("Hello Bob!")
    await bob.get_by_label("Message", exact=True).fill("Hello Ann!")
    await bob.keyboard.press("Enter")
    await expect(ann.get_by_role("log")).to_contain_text("Hello Ann!")

    await ann.get_by_role("button", name="Log out").click()
    await expect(ann.get_by_role("heading", name="Who are you?")).to_be_visible()
