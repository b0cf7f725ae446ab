"""A host's pages with the chat in them: examples/chat_in_pages.py, on a loopback port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientSession, web
from playwright.async_api import Page, Route

from chat_aio.client import ChatClient
from tests.browser.serving import Ports
from tests.examples.conftest import loaded
from tests.support.people import app_caught_up


class Host:
    """The running app. People log in by a link, as its pages say."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.origin = f"http://127.0.0.1:{port}"
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        app = await loaded("chat_in_pages").make_app()
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=5)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True).start()

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def caught_up(self) -> None:
        assert self._runner is not None
        await app_caught_up(self._runner.app)

    async def visit(self, page: Page, user_id: str, name: str = "plain.html") -> None:
        await page.context.clear_cookies()
        await page.goto(f"{self.origin}/login?name={user_id}")
        if name != "plain.html":
            await page.goto(f"{self.origin}/{name}")

    async def empty(self, page: Page, user_id: str, *, port: int | None = None) -> None:
        """A page that nothing is in, as somebody; it allows as little as the app's own."""
        origin = f"http://127.0.0.1:{port or self.port}"
        await page.context.clear_cookies()
        await page.route("**/empty", _answer_empty)
        await page.goto(f"{origin}/login?name={user_id}")
        await page.goto(f"{origin}/empty")

    @asynccontextmanager
    async def person(self, user_id: str) -> AsyncIterator[ChatClient]:
        """Somebody who talks without a page."""
        async with ClientSession(self.origin) as session:
            path = f"/login?name={user_id}"
            async with session.get(path, allow_redirects=False) as answer:
                cookie = answer.cookies["login"].value
        headers = {"Cookie": f"login={cookie}", "Origin": self.origin}
        async with ChatClient(f"{self.origin}/api/chat", headers=headers) as client:
            yield client


async def _answer_empty(route: Route) -> None:
    html = '<!doctype html><html lang="en"><title>Empty</title><link rel="icon" href="data:,">'
    # A test that waits for something has the page read what it waits for as a script.
    policy = loaded("chat_in_pages").STRICT.replace(
        "script-src 'self'", "script-src 'self' 'unsafe-eval'"
    )
    headers = {"Content-Security-Policy": policy.partition("; require-trusted-types")[0]}
    await route.fulfill(body=html, content_type="text/html", headers=headers)


@asynccontextmanager
async def hosting(
    mongo_url: str, database: str, ports: Ports, patch: pytest.MonkeyPatch
) -> AsyncIterator[Host]:
    host = Host(ports.of("host"))
    given = {
        "MONGO_URL": mongo_url.replace("/?", f"/{database}?"),
        "ORIGINS": f"{host.origin},http://127.0.0.1:{ports.of('host cable')}",
    }
    for name, value in given.items():
        patch.setenv(name, value)
    await host.start()
    # A stream that opens earlier may be refused.
    await host.caught_up()
    yield host
    await host.stop()
