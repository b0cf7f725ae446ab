"""The real demo in a real browser: a server for each test, a browser context for each person."""

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Browser, Page, async_playwright, expect
from pymongo import AsyncMongoClient

from tests.browser.serving import Cable, Complaints, Demo
from tests.support.pool import Pool

BROWSERS = ("chromium-headless-shell", "chromium")
"""By what they cost: a whole browser has a window with tabs and menus for each person."""
UNUSED = (
    *("WebUIOmniboxPopup", "WebUIOmniboxFullPopup", "WebUIOmniboxAimPopup"),
    "SpareRendererForSitePerProcess",
)
"""What starts a process more for each window."""
ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    f"--disable-features={','.join(UNUSED)}",
)
NO_CHROMIUM = "no chromium on PATH: apt-get install chromium"

expect.set_options(timeout=15_000)


def found_browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def pytest_runtest_setup() -> None:
    """Without a browser: one line for all of these tests, skipped here, failed under CI."""
    if found_browser() is None:
        if "CI" in os.environ:
            pytest.fail(NO_CHROMIUM, pytrace=False)
        pytest.skip(NO_CHROMIUM)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=found_browser(), args=ARGUMENTS)
        yield launched
        await launched.close()


@pytest_asyncio.fixture(loop_scope="session")
async def demo(mongo_url: str, pool: Pool, tmp_path: Path) -> AsyncIterator[Demo]:
    async with ClientSession() as http, AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        database = await pool.take(client)
        served = Demo(mongo_url, database.name, tmp_path, http)
        await served.start()
        yield served
        await served.stop()
        pool.give_back(database)


Visit = Callable[..., Awaitable[Page]]


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """No page may have complained when the test is over, but of what the test has excused."""
    found = Complaints()
    yield found
    assert found.unexcused == []


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, demo: Demo, complaints: Complaints) -> AsyncIterator[Visit]:
    """Open the page as a person, live, in a browser context of its own: `visit("ada")`."""

    async with AsyncExitStack() as contexts:

        async def open_page(
            user_id: str, conversation_id: str = "", *, port: int | None = None, **options: Any
        ) -> Page:
            context = await browser.new_context(**options)
            contexts.push_async_callback(context.close)
            page = await context.new_page()
            page.on("console", complaints.hear)
            page.on("pageerror", lambda error: complaints.heard.append(str(error)))
            place = f"{user_id}/{conversation_id}" if conversation_id else user_id
            await page.goto(f"http://127.0.0.1:{port or demo.port}/#{place}")
            if user_id:
                await expect(page.locator("#status")).to_have_text("Live")
            return page

        yield open_page


@pytest_asyncio.fixture(loop_scope="session")
async def cable(demo: Demo) -> AsyncIterator[Cable]:
    """A way to the demo that can be cut: open a page with `port=cable.port`."""
    laid = Cable(demo)
    await laid.mend()
    yield laid
    await laid.cut()
