"""Tabs of one browser: a service with logins, and pages that follow its stream."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from playwright.async_api import BrowserContext, Page, Request
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options, add_browser_files
from tests.browser.serving import Ports
from tests.support.pool import Pool

QUICK_HEARTBEATS = pytest.mark.parametrize("heartbeat_ms", [500])
"""For tests in which a silence has to be noticed."""
PATIENCE = 60
PAGE = """<!doctype html><html lang="en"><title>Tab</title><link rel="icon" href="data:,">
<script type="module">
  import { Chat } from "/chat-aio/chat.js";
  import { ChatStore } from "/chat-aio/chat-store.js";
  const token = () => localStorage.getItem("token");
  globalThis.begin = ({ userId, ...options }) => {
    const chat = new Chat("/api/chat", { token, ...options });
    const tab = { chat, bodies: [], opens: [], refusals: [], signedOut: 0, resets: 0 };
    globalThis.tab = tab;
    tab.stream = chat.stream({
      userId,
      onEvent: ({ type, message }) => type === "message.created" && tab.bodies.push(message.body),
      onOpen: ({ isResumed }) => tab.opens.push(isResumed),
      onReset: () => { tab.resets += 1; },
      onSignedOut: () => { tab.signedOut += 1; },
      onRefused: ({ status }) => tab.refusals.push(status ?? null),
    });
  };
  globalThis.beginStore = ({ userId, openId, ...options }) => {
    const chat = new Chat("/api/chat", { token, ...options });
    globalThis.store = new ChatStore(chat, { userId });
    globalThis.chat = chat;
    globalThis.bodies = () => store.timeline(openId).messages.map(({ body }) => body);
    store.start();
    store.open(openId);
  };
  globalThis.isReady = true;
</script>"""


class Service:
    """An app with a login by cookie, or by a token such as `ada-1`; its users talk with Linus."""

    def __init__(self, database: Any, port: int, heartbeat_ms: int) -> None:
        self.port = port
        self.origin = f"http://127.0.0.1:{port}"
        self.refused: set[str] = set()
        """Tokens that are no longer valid."""
        self.status_of_streams: int | None = None
        self.asked: list[web.Request] = []
        """Requests of streams."""
        self.chat = Chat(
            database,
            auth=self._user,
            options=Options(extra_events=True, heartbeat_interval_ms=heartbeat_ms),
        )
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        app = web.Application(middlewares=[self._streams])
        self.chat.mount(app)
        add_browser_files(app)
        for path, handler in {"/": _page, "/login": _login, "/logout": _logout}.items():
            app.router.add_get(path, handler)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=5)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True).start()

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def streams(self) -> Counter[str]:
        """How many streams each user has open."""
        return Counter(user.user_id for user in self.chat._live.hub._everyone())

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def until_streams(self, **expected: int) -> None:
        await self.until(lambda: self.streams == expected)

    async def place(self, user_id: str) -> str:
        return (await self.chat.api.get_or_create_conversation(user_id, "linus")).id

    async def send(self, user_id: str, *bodies: str) -> None:
        """To a user, from Linus."""
        place = await self.place(user_id)
        for body in bodies:
            await self.chat.api.send_message("linus", place, body)

    async def _user(self, request: web.Request) -> dict[str, str] | None:
        header = request.headers.get("Authorization", "").removeprefix("Bearer ")
        token = header or request.query.get("access_token", "")
        user_id = token.partition("-")[0] or request.cookies.get("login")
        return {"id": user_id} if user_id and token not in self.refused else None

    @web.middleware
    async def _streams(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if request.path.endswith("/stream"):
            self.asked.append(request)
            if self.status_of_streams is not None:
                return web.Response(status=self.status_of_streams)
        response: web.StreamResponse = await handler(request)
        return response


@asynccontextmanager
async def serving(
    mongo_url: str, pool: Any, ports: Ports, *, heartbeat_ms: int
) -> AsyncIterator[Service]:
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        database = await pool.take(client)
        service = Service(database, ports.of("tabs"), heartbeat_ms)
        await service.start()
        yield service
        await service.stop()
        pool.give_back(database)


@pytest.fixture
def heartbeat_ms() -> int:
    """So long that no tab takes a busy machine for a lost connection."""
    return 20_000


@pytest_asyncio.fixture(loop_scope="session")
async def service(
    mongo_url: str, pool: Pool, ports: Ports, heartbeat_ms: int
) -> AsyncIterator[Service]:
    async with serving(mongo_url, pool, ports, heartbeat_ms=heartbeat_ms) as served:
        yield served


class Tabs:
    """The pages of one browser context; `leaders` are those that have opened streams, in order."""

    def __init__(self, context: BrowserContext, service: Service, port: int) -> None:
        self.context = context
        self.leaders: list[Page] = []
        self.crashed: set[Page] = set()
        self._opened = asyncio.Event()
        self._service = service
        self.origin = f"http://127.0.0.1:{port}"
        context.on("request", self._note)

    async def login(self, user_id: str) -> None:
        await self.context.request.get(f"{self.origin}/login?name={user_id}")

    async def logout(self) -> None:
        await self.context.request.get(f"{self.origin}/logout")

    async def new(self) -> Page:
        page = await self.context.new_page()
        page.on("crash", lambda _: self.crashed.add(page))
        await page.goto(f"{self.origin}/")
        await page.wait_for_function("isReady")
        return page

    async def open(self, user_id: str, **options: Any) -> Page:
        """A tab with a stream that is open."""
        page = await self.new()
        await page.evaluate("(given) => begin(given)", {"userId": user_id, **options})
        await page.wait_for_function("tab.opens.length > 0")
        return page

    async def store(self, user_id: str, **options: Any) -> Page:
        """A tab with a store that is live."""
        page = await self.new()
        openId = await self._service.place(user_id)
        given = {"userId": user_id, "openId": openId, **options}
        await page.evaluate("(given) => beginStore(given)", given)
        await page.wait_for_function("store.state().isListed && store.state().status === 'live'")
        return page

    @property
    def leader(self) -> Page:
        return self.leaders[-1]

    async def until_not_led_by(self, page: Page) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.leader is page:
                self._opened.clear()
                await self._opened.wait()

    def _note(self, request: Request) -> None:
        if "/stream?" in request.url:
            self.leaders.append(request.frame.page)
            self._opened.set()


@asynccontextmanager
async def halted(page: Page) -> AsyncIterator[None]:
    """Stop a page's scripts where they are, without a word to it, as a process is stopped."""
    session = await page.context.new_cdp_session(page)
    await session.send("Debugger.enable")
    paused = asyncio.get_running_loop().create_future()
    session.once("Debugger.paused", lambda _: paused.set_result(None))
    await session.send("Debugger.pause")
    running = asyncio.create_task(page.evaluate("1"))
    await paused
    yield
    await session.send("Debugger.resume")
    await session.send("Debugger.disable")
    await running
    await session.detach()


@asynccontextmanager
async def frozen(page: Page) -> AsyncIterator[None]:
    """Stop a page as browsers stop tabs in the background, which hear of it. A browser without
    windows freezes none."""
    await page.evaluate("document.dispatchEvent(new Event('freeze'))")
    async with halted(page):
        yield
    await page.evaluate("document.dispatchEvent(new Event('resume'))")


async def crash(page: Page) -> None:
    """End the process of a page."""
    session = await page.context.new_cdp_session(page)
    async with page.expect_event("crash"):
        crashing = asyncio.ensure_future(session.send("Page.crash"))
    crashing.cancel()


async def _page(_: web.Request) -> web.Response:
    return web.Response(text=PAGE, content_type="text/html")


async def _login(request: web.Request) -> web.Response:
    response = web.Response()
    response.set_cookie("login", request.query["name"])
    return response


async def _logout(_: web.Request) -> web.Response:
    response = web.Response()
    response.del_cookie("login")
    return response
