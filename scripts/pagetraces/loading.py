"""How long pages take to load over a slow line: the demo's, and a page of a host."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from playwright.async_api import Browser, Page

from chat_aio.chat import Chat
from chat_aio.options import Options
from chat_aio.server.clients import Clients
from chat_aio.web.browser_files import add_browser_files

SLOW = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
"""400 ms and 400 kbit/s."""
REST_SECONDS = 6
HOST_PAGE = """<!doctype html><html lang="en"><title>Shop</title>
<script type="module" src="/chat-aio/element.js"></script>
<chat-aio base="/api/chat" user="{user}"{more}></chat-aio>"""
VISIBLE = """(selector) => new Promise((resolve) => {
  const look = () => {
    const root = document.querySelector("chat-aio")?.shadowRoot;
    if (root?.querySelector(selector)?.checkVisibility()) resolve(Math.round(performance.now()));
    else requestAnimationFrame(look);
  };
  look();
})"""
"""Milliseconds since the navigation."""


@asynccontextmanager
async def host_page(mongo_url: str, database: str, user_id: str) -> AsyncIterator[str]:
    """Serve a page with the element in it; `?conversation=ID` shows that one alone."""
    clients = Clients(mongo_url, database)
    app = web.Application()
    auth, options = (lambda _: {"id": user_id}), Options(gzip=True)
    Chat(clients.make(), database_factory=clients.make, auth=auth, options=options).mount(app)
    add_browser_files(app)

    async def page(request: web.Request) -> web.Response:
        open_id = request.query.get("conversation")
        more = f' conversation="{open_id}"' if open_id else ""
        text = HOST_PAGE.format(user=user_id, more=more)
        return web.Response(text=text, content_type="text/html")

    app.router.add_get("/", page)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    await runner.cleanup()
    await clients.close()


async def load(browser: Browser, url: str, wanted: str) -> dict[str, int]:
    """Milliseconds until the frame, and the `wanted` node, are visible; then with a warm cache."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("Network.enable")
    await session.send("Network.emulateNetworkConditions", SLOW)
    found: dict[str, int] = {}
    for name in ("cold", "warm"):
        await page.goto("about:blank")
        found |= {f"{name} {what}": ms for what, ms in (await _load(page, url, wanted)).items()}
        # The other parts come when there is time.
        await asyncio.sleep(REST_SECONDS)
    await context.close()
    return found


async def _load(page: Page, url: str, wanted: str) -> dict[str, int]:
    await page.goto(url, wait_until="commit")
    frame, content = await asyncio.gather(
        page.evaluate(VISIBLE, ".app"), page.evaluate(VISIBLE, wanted)
    )
    return {"frame": frame, "content": content}
