"""The page and the service worker of the guide of notifications, in a browser."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Page
from pymongo import AsyncMongoClient

from chat_aio import Chat, add_browser_files
from chat_aio.plugins import Notifications
from tests.browser.conftest import Visit
from tests.plugins.notifications.pushing import Browser, make_push
from tests.support.people import PATIENCE
from tests.support.pool import Pool
from tests.support.processes import ROOT

pytestmark = pytest.mark.asyncio(loop_scope="session")

GUIDE = (ROOT / "docs" / "guides" / "notifications.md").read_text()
PAGE, WORKER = re.findall(r"^```javascript\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)

PUSH_SERVICE = """
if (navigator.serviceWorker) {
  Notification.requestPermission = async () => "granted";
  PushManager.prototype.subscribe = async (options) => {
    globalThis.options = options;
    return { toJSON: () => (%s) };
  };
  navigator.serviceWorker.addEventListener("message", ({ data }) => globalThis.shown = data);
}
"""
SYSTEM = """
self.registration.showNotification = async (title, options) => {
  const [page] = await self.clients.matchAll({ includeUncontrolled: true });
  page.postMessage([title, options]);
};
"""
"""What stands for the system and the push service, which a headless browser has none of."""


@pytest_asyncio.fixture(loop_scope="session")
async def page(open_page: Visit, mongo_url: str, pool: Pool) -> AsyncIterator[Page]:
    """Ann's page, over a chat with Web Push."""
    push = make_push()

    async def markup(_: web.Request) -> web.Response:
        text = (
            '<!doctype html><link rel="icon" href="data:,"><button id="notify">Notify</button>'
            f'<script type="module">{PAGE}</script>'
        )
        return web.Response(text=text, content_type="text/html")

    async def worker(_: web.Request) -> web.Response:
        return web.Response(text=SYSTEM + WORKER, content_type="text/javascript")

    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        database = await pool.take(client)
        app = web.Application()
        chat = Chat(
            database,
            auth=lambda request: {"id": "ann"},
            plugins=[Notifications(channels=[push])],
        )
        chat.mount(app, "/api/chat")
        add_browser_files(app, "/chat-aio")
        app.router.add_get("/", markup)
        app.router.add_get("/push-worker.js", worker)
        async with TestServer(app) as server:
            page = await open_page(service_workers="allow")  # Nobody else has its scripts.
            subscription = Browser("https://push.example/1").subscription
            await page.add_init_script(PUSH_SERVICE % json.dumps(subscription))
            await page.goto(str(server.make_url("/")))
            yield page
            await page.goto("about:blank")
        pool.give_back(database)


async def has_worker(page: Page) -> None:
    """Unlike `evaluate`, this ends after a while without one."""
    await page.wait_for_function("navigator.serviceWorker.ready.then(() => true)")


async def test_a_page_subscribes_its_browser(page: Page) -> None:
    async with page.expect_response(
        lambda response: response.request.method == "POST" and "subscriptions" in response.url
    ) as answered:
        await has_worker(page)
        await page.get_by_role("button", name="Notify").click()
    answer = await answered.value
    assert (await answer.json())["subscription"]["host"] == "push.example"
    options = await page.evaluate("options")
    assert options == {"userVisibleOnly": True, "applicationServerKey": make_push().public_key}


async def test_a_worker_shows_what_is_pushed(page: Page) -> None:
    devtools = await page.context.new_cdp_session(page)
    registered: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    origin = await page.evaluate("location.origin")

    def take(event: dict[str, Any]) -> None:
        for registration in event["registrations"]:
            # An earlier page of this browser may have left another one, at its own port.
            if registration["scopeURL"] == f"{origin}/" and not registered.done():
                registered.set_result(registration["registrationId"])

    devtools.on("ServiceWorker.workerRegistrationUpdated", take)
    await devtools.send("ServiceWorker.enable")
    await has_worker(page)
    brief = {
        "conversationId": "c",
        "conversationName": None,
        "senderId": "grace",
        "excerpt": "Found a moth",
        "count": 2,
    }
    await devtools.send(
        "ServiceWorker.deliverPushMessage",
        {
            "origin": origin,
            "registrationId": await asyncio.wait_for(registered, PATIENCE),
            "data": json.dumps(brief),
        },
    )
    await page.wait_for_function("globalThis.shown")
    assert await page.evaluate("shown") == [
        "grace",
        {"body": "Found a moth (2 messages)", "tag": "c", "data": {"conversationId": "c"}},
    ]
