"""Web Push from a service to a browser's worker: the chat sends to a push service at hand, whose
requests are read with the browser's keys, and delivered to the real worker by Chromium's DevTools.

A headless browser has no push service of its own, shows no notifications, and has no icon. What
stands for these keeps all in Cache Storage, which pages and workers share.
"""

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import CDPSession, Page
from pymongo.asynchronous.database import AsyncDatabase

from chat_aio import Chat, Hooks, Options, Profile, add_browser_files
from tests.plugins.notifications.pushing import Browser, PushService
from tests.plugins.notifications.telling import all_told, quick, ready
from tests.support.people import PATIENCE
from tests.support.processes import ROOT

GUIDE = (ROOT / "docs" / "guides" / "notifications.md").read_text()
PAGE, IMPORTING = re.findall(r"^```javascript\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
NAMES = {"ann": "Ann", "bob": "Bob", "carl": "Carl"}

STAND_INS = """
globalThis.standIn = {
  async keep(name, value) {
    const box = await caches.open("stand-ins");
    await box.put(`/${encodeURIComponent(name)}`, new Response(JSON.stringify(value)));
  },
  async find(name) {
    const box = await caches.open("stand-ins");
    return (await box.match(`/${encodeURIComponent(name)}`))?.json();
  },
  async remove(name) {
    await (await caches.open("stand-ins")).delete(`/${encodeURIComponent(name)}`);
  },
  async shown() {
    const box = await caches.open("stand-ins");
    const names = (await box.keys()).filter(({ url }) => url.includes("shown"));
    // One may have been closed in between.
    const shown = await Promise.all(names.map(async (name) => (await box.match(name))?.json()));
    return shown.filter(Boolean);
  },
};
if (globalThis.ServiceWorkerRegistration) {
  Object.assign(ServiceWorkerRegistration.prototype, {
    async showNotification(title, options) {
      const rung = (await standIn.find("rung")) ?? 0;
      await standIn.keep("rung", rung + 1);
      await standIn.keep(`shown ${options.tag}`, { title, ...options });
    },
    async getNotifications({ tag } = {}) {
      const found = (await standIn.shown()).filter((shown) => !tag || shown.tag === tag);
      return found.map((one) => ({ ...one, close: () => standIn.remove(`shown ${one.tag}`) }));
    },
  });
  Object.assign(PushManager.prototype, {
    async subscribe({ userVisibleOnly, applicationServerKey }) {
      if (await standIn.find("refuses")) throw new DOMException("no service", "AbortError");
      const all = (await navigator.serviceWorker?.getRegistrations()) ?? [registration];
      if (!all.some(({ active }) => active)) throw new DOMException("inactive", "AbortError");
      const known = await this.getSubscription();
      if (known) return known;
      const endpoint = `ENDPOINTS/${crypto.randomUUID()}`;
      await standIn.keep("subscription", { endpoint, userVisibleOnly, applicationServerKey });
      return this.getSubscription();
    },
    async getSubscription() {
      const kept = await standIn.find("subscription");
      if (!kept) return null;
      const unsubscribe = () => standIn.remove("subscription");
      return { ...kept, toJSON: () => ({ ...kept, keys: KEYS }), unsubscribe };
    },
  });
}
Object.assign(navigator, {
  setAppBadge: (number) => standIn.keep("badge", number),
  clearAppBadge: () => standIn.keep("badge", 0),
});
"""

IN_PAGES = """
const permission = { get: () => localStorage.permission ?? "granted" };
Object.defineProperty(Notification, "permission", permission);
Notification.requestPermission = async () => Notification.permission;
"""

IN_WORKER = """
Object.assign(WindowClient.prototype, {
  async focus() { await standIn.keep("focused", new URL(this.url).pathname); },
});
clients.openWindow = (url) => standIn.keep("opened", url);
const made = (type, given) => {
  const waits = [];
  const waitUntil = (wait) => waits.push(wait);
  self.dispatchEvent(Object.assign(new ExtendableEvent(type), given, { waitUntil }));
  return Promise.all(waits);
};
addEventListener("message", ({ data, ...event }) => {
  if (data.click) {
    const [notification] = [{ data: data.click, close: () => standIn.remove(`shown ${data.tag}`) }];
    made("notificationclick", { notification });
  }
  if (data.renew) made("pushsubscriptionchange", {});
});
"""
"""Only the system clicks, and only a push service replaces subscriptions."""


class Pushed:
    """A page in a browser to which the service pushes."""

    def __init__(self, page: Page, chat: Chat, service: PushService, browser: Browser) -> None:
        self.page = page
        self.chat = chat
        self.database: AsyncDatabase[dict[str, Any]] = chat._context.database.handle
        self.origin = ""
        self.is_installing = asyncio.Event()
        self.may_install = asyncio.Event()
        self._service = service
        self._browser = browser
        self._delivered = 0
        self._messages = 0
        self._devtools: CDPSession | None = None
        self._registered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        service.answer = self._answer

    async def _answer(self, path: str) -> int:
        """As a push service answers."""
        found = await self.find("subscription")
        return 201 if found and found["endpoint"].endswith(path) else 410

    async def find(self, name: str) -> Any:
        return await self.page.evaluate("(name) => standIn.find(name)", name)

    async def shown(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.page.evaluate("standIn.shown()")
        return sorted(found, key=lambda one: str(one["title"]))

    async def waits_for(self, condition: str, *given: Any) -> None:
        """Wait until a function of the page resolves to something true: Playwright's own waiting
        takes a promise itself for true."""
        script = """async (given) => {
          while (!(await (%s)(given))) await new Promise((next) => setTimeout(next, 10));
        }"""
        await asyncio.wait_for(self.page.evaluate(script % condition, [*given]), PATIENCE)

    async def log_in(self, user_id: str) -> None:
        await self.page.context.add_cookies(
            [{"name": "user", "value": user_id, "url": self.origin}]
        )
        await self.page.goto(f"{self.origin}/")
        await self.page.wait_for_function("globalThis.hasOpened")

    async def enable(self) -> None:
        async with self.page.expect_response(
            lambda answer: answer.request.method == "POST" and "devices" in answer.url
        ) as answered:
            await self.page.get_by_role("button", name="Notify").click()
        assert (await answered.value).status == 200
        await self.waits_for(
            "() => caches.open('chat-aio-push').then((kept) => kept.keys())"
            ".then((kept) => kept.length)"
        )

    async def send(self, sender: str, conversation_id: str, body: str) -> None:
        """Send a message, and push what the service sends for it."""
        await self.chat.api.send_message(sender, conversation_id, body)
        self._messages += 1
        await all_told(self.database, self._messages)
        for path, _, body_sent in self._service.requests[self._delivered :]:
            if await self._answer(path) == 201:
                await self.push(self._browser.read(body_sent).decode())
        self._delivered = len(self._service.requests)

    async def push(self, data: str) -> None:
        """Deliver to the worker, and wait until it has shown something or has decided not to."""
        before = await self.find("handled") or 0
        registration = await asyncio.wait_for(self._registered, PATIENCE)
        assert self._devtools is not None
        await self._devtools.send(
            "ServiceWorker.deliverPushMessage",
            {"origin": self.origin, "registrationId": registration, "data": data},
        )
        await self.waits_for(
            "async ([before]) => ((await standIn.find('handled')) ?? 0) > before", before
        )

    async def to_worker(self, message: dict[str, Any]) -> None:
        await self.page.evaluate(
            """async (message) => {
              const found = await navigator.serviceWorker.getRegistrations();
              found[0].active.postMessage(message);
            }""",
            message,
        )

    async def click(self, tag: str) -> None:
        (shown,) = [one for one in await self.shown() if one["tag"] == tag]
        await self.to_worker({"click": shown["data"], "tag": tag})

    async def stop_worker(self) -> None:
        assert self._devtools is not None
        await self._devtools.send("ServiceWorker.stopAllWorkers")

    async def watch(self) -> None:
        self._devtools = await self.page.context.new_cdp_session(self.page)

        def take(event: dict[str, Any]) -> None:
            for registration in event["registrations"]:
                # An earlier page of this browser may have left another one, at its own port.
                is_here = registration["scopeURL"].startswith(f"{self.origin}/")
                if is_here and not self._registered.done():
                    self._registered.set_result(registration["registrationId"])

        self._devtools.on("ServiceWorker.workerRegistrationUpdated", take)
        await self._devtools.send("ServiceWorker.enable")

    async def devices(self) -> list[tuple[str, str]]:
        """User and token of each device."""
        found = (
            await self.database["notification_devices"]
            .find()
            .sort({"userId": 1, "createdAt": 1})
            .to_list(None)
        )
        return [(row["userId"], row["token"]) for row in found]


HANDLED = """
addEventListener("push", (event) => {
  const { waitUntil } = event;
  event.waitUntil = (shown) => {
    const handled = shown.then(async () => {
      await standIn.keep("handled", ((await standIn.find("handled")) ?? 0) + 1);
    });
    waitUntil.call(event, handled);
  };
});
"""


@asynccontextmanager
async def pushing(
    page: Page, database: Any, service: PushService, **given: Any
) -> AsyncIterator[Pushed]:
    """The guide's page, over a chat with these plugins, by default with Web Push."""
    browser = service.browser("keys")
    stand_ins = STAND_INS.replace("ENDPOINTS", f"https://{service.place}").replace(
        "KEYS", json.dumps(browser.subscription["keys"])
    )

    async def markup(_: web.Request) -> web.Response:
        text = (
            '<!doctype html><title>Talk</title><link rel="icon" href="data:,">'
            '<button id="notify">Notify</button><button id="logout">Log out</button>'
            "<script>globalThis.shownHere = [];"
            "const openConversation = (id) => shownHere.push(id);</script>"
            f'<script type="module">{PAGE}\nObject.assign(globalThis, {{ chat, push }});\n'
            "globalThis.hasOpened = true;</script>"
        )
        return web.Response(text=text, content_type="text/html")

    async def other(_: web.Request) -> web.Response:
        text = '<!doctype html><title>Shop</title><link rel="icon" href="data:,">'
        return web.Response(text=text, content_type="text/html")

    async def own_worker(_: web.Request) -> web.Response:
        return web.Response(text=IMPORTING, content_type="text/javascript")

    async def slow_worker(_: web.Request) -> web.Response:
        text = 'addEventListener("install", (event) => event.waitUntil(fetch("/installing")));'
        return web.Response(text=text, content_type="text/javascript")

    async def installing(_: web.Request) -> web.Response:
        pushed.is_installing.set()
        await pushed.may_install.wait()
        return web.Response()

    @web.middleware
    async def with_stand_ins(request: web.Request, handler: Any) -> web.StreamResponse:
        answer = await handler(request)
        if request.path == "/chat-aio/push-worker.js" and answer.status == 200:
            text = (stand_ins + IN_WORKER + HANDLED).encode() + gzip.decompress(answer.body)
            headers = answer.headers.copy()
            del headers["Content-Encoding"]
            answer = web.Response(body=text, headers=headers)
        return answer  # type: ignore[no-any-return]

    plugins = [quick(channels=[service.push()], suppress_when="read", delay_seconds=0.05)]
    hooks = Hooks(
        profiles=lambda ids: {
            user_id: Profile(name=NAMES[user_id], avatar_url=f"/pictures/{user_id}.png")
            for user_id in ids
        }
    )
    chat = Chat(
        database,
        auth=lambda request: {"id": request.cookies["user"]} if "user" in request.cookies else None,
        **{
            "plugins": plugins,
            "hooks": hooks,
            "options": Options(inbox=True, extra_events=True),
            **given,
        },
    )
    app = web.Application(middlewares=[with_stand_ins])
    chat.mount(app, "/api/chat")
    add_browser_files(app, "/chat-aio")
    app.router.add_get("/", markup)
    app.router.add_get("/shop", other)
    app.router.add_get("/own-worker.js", own_worker)
    app.router.add_get("/slow-worker.js", slow_worker)
    app.router.add_get("/installing", installing)
    pushed = Pushed(page, chat, service, browser)
    async with TestServer(app) as server:
        pushed.origin = str(server.make_url("/")).rstrip("/")
        await page.add_init_script(stand_ins + IN_PAGES)
        await pushed.watch()
        if "plugins" not in given:
            await ready(pushed.database)
        yield pushed
        await page.goto("about:blank")
