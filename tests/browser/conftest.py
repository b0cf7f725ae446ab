"""The real demo in a real browser: a server for each test, a page for each person."""

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from playwright.async_api import Browser, Dialog, Page, async_playwright, expect
from pymongo import AsyncMongoClient

from chat_aio.demo.application import Samples
from chat_aio.demo.page import STATIC
from chat_aio.web import sse
from chat_aio.web.browser_files import BROWSER
from tests.browser.acting import begun
from tests.browser.drawing import Drawers
from tests.browser.fonts import Font, environment
from tests.browser.hosting import Host, hosting
from tests.browser.seats import Browsers, Seats
from tests.browser.serving import Cable, Complaints, Demo, Ports, Story, few_samples, keep
from tests.browser.speaking import Language
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
NO_CHROMIUM = "no chromium on PATH: apt-get install chromium-headless-shell"

expect.set_options(timeout=30_000)


def found_browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def pytest_runtest_setup() -> None:
    """Without a browser: one line for all of these tests, skipped here, failed under CI."""
    if found_browser() is None:
        if "CI" in os.environ:
            pytest.fail(NO_CHROMIUM, pytrace=False)
        pytest.skip(NO_CHROMIUM)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browsers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browsers]:
    folder = tmp_path_factory.mktemp("fonts")
    async with async_playwright() as playwright, AsyncExitStack() as running:

        async def launch(font: Font) -> Browser:
            launched = await playwright.chromium.launch(
                executable_path=found_browser(), args=ARGUMENTS, env={**environment(font, folder)}
            )
            running.push_async_callback(launched.close)
            return launched

        yield Browsers(launch)


@pytest.fixture
def font() -> Font:
    """The font of the test's pages; `BOTH_FONTS` tries both."""
    return "wide"


@pytest_asyncio.fixture(loop_scope="session")
async def seats(browsers: Browsers, font: Font) -> Seats:
    return await browsers.seats(font)


@pytest.fixture(scope="session")
def ports() -> Iterator[Ports]:
    held = Ports()
    yield held
    held.release()


Serve = Callable[..., AbstractAsyncContextManager[Demo]]


@pytest.fixture(scope="session")
def story() -> Story:
    return Story()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def drawers() -> AsyncIterator[Drawers]:
    made = Drawers()
    yield made
    await made.end()


@pytest_asyncio.fixture(loop_scope="session")
async def serve_demo(
    mongo_url: str,
    pool: Pool,
    ports: Ports,
    story: Story,
    drawers: Drawers,
    monkeypatch: pytest.MonkeyPatch,
) -> Serve:
    """Serve a demo over an empty database: `async with serve_demo(samples=...) as demo`. Those who
    share `samples` get the same rows, ids included."""
    drawers.work_for_all(monkeypatch)

    @asynccontextmanager
    async def serving(samples: Samples = few_samples) -> AsyncIterator[Demo]:
        async with ClientSession() as http, AsyncMongoClient[dict[str, Any]](mongo_url) as client:
            database = await pool.take(client)
            is_told = await story.store(samples, database)
            served = Demo(mongo_url, database.name, http, ports, samples=samples)
            await served.start()
            if not is_told:
                await story.learn(samples, database)
            # A stream that opens earlier may be refused, or hear of the samples.
            await served.caught_up()
            yield served
            await served.stop()
            pool.give_back(database)

    return serving


@pytest_asyncio.fixture(loop_scope="session")
async def demo(serve_demo: Serve) -> AsyncIterator[Demo]:
    async with serve_demo() as served:
        yield served


@pytest_asyncio.fixture(loop_scope="session")
async def host(
    mongo_url: str, pool: Pool, ports: Ports, drawers: Drawers, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Host]:
    """An app of somebody else's, with the chat in its pages."""
    drawers.work_for_all(monkeypatch)
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        database = await pool.take(client)
        async with hosting(mongo_url, database.name, ports, monkeypatch) as served:
            yield served
        pool.give_back(database)


@pytest.fixture
def quick_reconnects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Browsers reconnect after a moment, not after the seconds that the service asks for."""
    monkeypatch.setattr(sse, "RECONNECT_MS", (200, 400))


Visit = Callable[..., Awaitable[Page]]


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """No page may have complained when the test is over, but of what the test has excused."""
    found = Complaints()
    yield found
    assert found.unexcused == []


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(seats: Seats, complaints: Complaints) -> AsyncIterator[Visit]:
    """An empty page, whose complaints are heard: `open_page(color_scheme="dark")`."""

    async def leave(dialog: Dialog) -> None:
        await dialog.accept()

    async with AsyncExitStack() as taken:

        async def take(**options: Any) -> Page:
            page = await seats.take(**options)
            taken.callback(complaints.leave, page)
            taken.push_async_callback(seats.give_back, page, **options)
            complaints.listen_to(page)
            # A page that asks before it is left is left.
            page.on("dialog", leave)
            taken.callback(page.remove_listener, "dialog", leave)
            return page

        yield take


@pytest_asyncio.fixture(loop_scope="session")
async def cable(demo: Demo, ports: Ports) -> AsyncIterator[Cable]:
    """A way to the demo that can be cut: open a page with `port=cable.port`."""
    async with Cable(demo, ports.of("cable")) as laid:
        yield laid


@pytest_asyncio.fixture(loop_scope="session")
async def visit(demo: Demo, cable: Cable, open_page: Visit) -> Visit:
    """Open the page as a person, live, in a browser context of its own: `visit("ada")`."""
    # The demo and the cable are made first, so they are stopped last: after the pages have left.

    async def visited(
        user_id: str,
        conversation_id: str = "",
        *,
        port: int | None = None,
        language: Language | None = None,
        **options: Any,
    ) -> Page:
        page = await open_page(**options)
        place = f"{user_id}/{conversation_id}" if conversation_id else user_id
        path = language.path if language else ""
        await page.goto(f"http://127.0.0.1:{port or demo.port}/{path}#{place}")
        if user_id:
            await begun(page, conversation_id)
        return page

    return visited


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def modules_url() -> AsyncIterator[str]:
    """Where the page's modules are served, and an empty page."""
    app = web.Application()
    app.router.add_get("/", empty_page)
    app.router.add_static("/demo/static", STATIC)
    app.router.add_static("/browser", BROWSER)
    app.on_response_prepare.append(keep)
    async with TestServer(app) as server:
        yield str(server.make_url("/"))


async def empty_page(_: web.Request) -> web.Response:
    html = '<!doctype html><title>Modules</title><link rel="icon" href="data:,">'
    return web.Response(text=html, content_type="text/html")


@pytest_asyncio.fixture(loop_scope="session")
async def empty(open_page: Visit, modules_url: str) -> Page:
    """A page that has nothing but an origin from which it can import the demo's modules."""
    page = await open_page()
    await page.goto(modules_url)
    return page


@pytest_asyncio.fixture(loop_scope="session")
async def host_cable(host: Host, ports: Ports) -> AsyncIterator[Cable]:
    """A way to the host that can be cut."""
    async with Cable(host, ports.of("host cable")) as laid:
        yield laid
