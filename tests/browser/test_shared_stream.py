"""Tabs of one browser share a stream: nothing is missed, doubled, or somebody else's."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route

from tests.browser.seats import Browsers
from tests.browser.serving import Cable, Ports
from tests.browser.tabs import QUICK_HEARTBEATS, Service, Tabs, crash, frozen, halted, serving
from tests.browser.tabs import heartbeat_ms as heartbeat_ms
from tests.browser.tabs import service as service
from tests.support.pool import Pool

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def tabs(browsers: Browsers, service: Service) -> AsyncIterator[Tabs]:
    """Of a browser that nobody is logged in to."""
    context = await (await browsers.seats("wide"))._browser.new_context()
    yield Tabs(context, service, service.port)
    await context.close()


async def has(page: Page, *bodies: str) -> None:
    """Wait until a tab has had these messages, in order, each once."""
    await page.wait_for_function("(count) => tab.bodies.length >= count", arg=len(bodies))
    assert await page.evaluate("tab.bodies") == [*bodies]


async def resets(page: Page) -> int:
    found: int = await page.evaluate("tab.resets")
    return found


async def test_eight_tabs_have_one_stream(tabs: Tabs, service: Service) -> None:
    """Over HTTP/1.1 a browser has six connections to a host."""
    await tabs.login("ada")
    pages = [await tabs.open("ada") for _ in range(8)]
    assert service.streams == {"ada": 1}
    await service.send("ada", "one", "two")
    for page in pages:
        await has(page, "one", "two")
        assert await page.evaluate("tab.chat.listConversations().then(() => true)")
    assert service.streams == {"ada": 1}
    await tabs.context.close()
    await service.until_streams()


ANSWERED = """async () => {
  let held = [];
  while (held.length === 0) ({ held } = await navigator.locks.query());
  const channel = new BroadcastChannel(held[0].name);
  const { promise, resolve } = Promise.withResolvers();
  channel.onmessage = ({ data }) => data.to && resolve();
  globalThis.answered = promise;
}"""


async def test_a_tab_that_comes_before_the_stream_is_open(tabs: Tabs, service: Service) -> None:
    """The leader's answer to it is the first message of the leader that it receives."""
    may_open = asyncio.Event()

    async def hold(route: Route) -> None:
        await may_open.wait()
        await route.continue_()

    await tabs.login("ada")
    await tabs.context.route("**/stream?*", hold)
    pages = [await tabs.new(), await tabs.new()]
    faults: list[Any] = []
    pages[1].on("pageerror", lambda error: faults.append(error))
    await pages[0].evaluate("begin({ userId: 'ada' })")
    await pages[1].evaluate(ANSWERED)
    await pages[1].evaluate("begin({ userId: 'ada' })")
    await pages[1].evaluate("answered")
    may_open.set()
    for page in pages:
        await page.wait_for_function("tab.opens.length > 0")
    await service.send("ada", "one")
    for page in pages:
        await has(page, "one")
    assert faults == []


class Sending:
    """Messages to Ada, one after another, until it is left; `bodies` have been sent. It pauses
    where it is too far ahead of the test: who has missed too many events has to refetch."""

    AHEAD = 20

    def __init__(self, service: Service) -> None:
        self.bodies: list[str] = []
        self._service = service
        self._changed = asyncio.Condition()
        self._wanted = 0
        self._is_over = False

    async def __aenter__(self) -> "Sending":
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        async with self._changed:
            self._is_over = True
            self._changed.notify_all()
        await self._task

    async def more(self, count: int = 3) -> None:
        """Wait for messages that are sent from now on."""
        async with self._changed:
            wanted = self._wanted = len(self.bodies) + count
            self._changed.notify_all()
            await self._changed.wait_for(lambda: len(self.bodies) >= wanted)

    def _may_go_on(self) -> bool:
        return self._is_over or len(self.bodies) < self._wanted + self.AHEAD

    async def _run(self) -> None:
        while not self._is_over:
            body = f"number {len(self.bodies)}"
            await self._service.send("ada", body)
            async with self._changed:
                self.bodies.append(body)
                self._changed.notify_all()
                await self._changed.wait_for(self._may_go_on)


async def test_leaders_are_closed(tabs: Tabs, service: Service) -> None:
    await tabs.login("ada")
    pages = [await tabs.open("ada") for _ in range(4)]
    async with Sending(service) as sending:
        for _ in range(3):
            await sending.more()
            leader = tabs.leader
            pages.remove(leader)
            await leader.close()
            await tabs.until_not_led_by(leader)
        await sending.more()
    (last,) = pages
    await has(last, *sending.bodies)
    assert await resets(last) == 0
    await service.until_streams(ada=1)


async def test_a_leader_that_crashes(tabs: Tabs, service: Service) -> None:
    await tabs.login("ada")
    pages = [await tabs.open("ada") for _ in range(3)]
    async with Sending(service) as sending:
        await sending.more()
        leader = tabs.leader
        await crash(leader)
        await tabs.until_not_led_by(leader)
        await sending.more()
    for page in set(pages) - tabs.crashed:
        await has(page, *sending.bodies)
        assert await resets(page) == 0
    await service.until_streams(ada=1)


WITHOUT_STEALING = """
    const { request } = LockManager.prototype;
    LockManager.prototype.request = function (name, options, held) {
      return options.steal ? new Promise(() => {}) : request.call(this, name, options, held);
    };
"""


@asynccontextmanager
async def impatient(pages: Iterable[Page]) -> AsyncIterator[None]:
    """Tabs do not wait for seconds for the answer of a leader that cannot answer."""
    for page in pages:
        await page.evaluate(
            """() => {
              globalThis.patient = setTimeout;
              globalThis.setTimeout = (work, ms) => patient(work, ms < 4_000 ? ms : 500);
            }"""
        )
    yield
    for page in pages:
        await page.evaluate("() => { globalThis.setTimeout = patient; }")


@QUICK_HEARTBEATS
@pytest.mark.parametrize("stopped", [frozen, halted])
async def test_a_leader_that_is_stopped(tabs: Tabs, service: Service, stopped: Any) -> None:
    """Frozen, it gives the lead away; halted, it cannot, and loses the lock. When it goes on it has
    missed something, and refetches."""
    if stopped is frozen:
        await tabs.context.add_init_script(WITHOUT_STEALING)
    await tabs.login("ada")
    leader, *others = [await tabs.open("ada") for _ in range(3)]
    async with Sending(service) as sending:
        await sending.more()
        async with stopped(leader):
            async with impatient(others):
                await tabs.until_not_led_by(leader)
            await sending.more()
        await leader.wait_for_function("tab.resets > 0")
        await sending.more()
    for page in others:
        await has(page, *sending.bodies)
        assert await resets(page) == 0
    await is_up_to_date(leader, sending)
    await service.until_streams(ada=1)


async def is_up_to_date(page: Page, sending: Sending) -> None:
    """It has refetched, has had the latest message, and none twice."""
    await page.wait_for_function("(last) => tab.bodies.at(-1) === last", arg=sending.bodies[-1])
    had = await page.evaluate("tab.bodies")
    assert had == sorted(set(had), key=sending.bodies.index)
    first, *later = await page.evaluate("tab.opens")
    assert (first, set(later)) == (False, {True})


DROPPING = """
    globalThis.isDropped = () => false;
    globalThis.BroadcastChannel = class extends BroadcastChannel {
      constructor(name) {
        super(name);
        this.addEventListener("message", (event) => {
          globalThis.term = event.data.term ?? globalThis.term;
          if (isDropped(event.data)) event.stopImmediatePropagation();
        });
      }
    };
"""


@QUICK_HEARTBEATS
@pytest.mark.parametrize("is_led_by_another", [False, True])
async def test_a_tab_that_has_missed_something_refetches(
    tabs: Tabs, service: Service, is_led_by_another: bool
) -> None:
    """Where a browser loses what a tab was told: the next message, or the next leader, shows it."""
    await tabs.context.add_init_script(DROPPING)
    await tabs.login("ada")
    leader, other, page = [await tabs.open("ada") for _ in range(3)]
    await page.evaluate("""() => {
        const { term } = globalThis;
        globalThis.isDropped = (message) => message.term === term;
    }""")
    await service.send("ada", "missed")
    await has(other, "missed")
    if is_led_by_another:
        await leader.close()
        await tabs.until_not_led_by(leader)
    else:
        await page.evaluate("() => { globalThis.isDropped = () => false; }")
    await page.wait_for_function("tab.resets === 1")
    await service.send("ada", "later")
    await has(other, "missed", "later")
    await has(page, "later")


async def test_a_tab_that_joins_has_all_from_then_on(tabs: Tabs, service: Service) -> None:
    await tabs.login("ada")
    await tabs.open("ada")
    await service.send("ada", "before")
    async with Sending(service) as sending:
        await sending.more()
        store = await tabs.store("ada")
        await sending.more()
        leader = tabs.leader
        await leader.close()
        await tabs.until_not_led_by(leader)
        await sending.more()
    expected = ["before", *sending.bodies]
    await store.wait_for_function("(count) => bodies().length >= count", arg=len(expected))
    shown = await store.evaluate("bodies()")
    assert shown == expected[-len(shown) :]
    await service.until_streams(ada=1)


async def test_a_tab_that_joins_knows_the_position(
    browsers: Browsers, mongo_url: str, pool: Pool, ports: Ports
) -> None:
    """Before any event, and before the next heartbeat."""
    context = await (await browsers.seats("wide"))._browser.new_context()
    async with serving(mongo_url, pool, ports, heartbeat_ms=60_000) as service:
        await service.send("ada", "before")
        tabs = Tabs(context, service, service.port)
        await tabs.login("ada")
        leader, page = [await tabs.open("ada") for _ in range(2)]
        await leader.close()
        await page.wait_for_function("tab.opens.length === 2")
        assert await resets(page) == 0
        assert service.asked[1].query["lastEventId"]
        await context.close()


async def test_two_users_in_two_tabs(tabs: Tabs, service: Service) -> None:
    ada = await tabs.open("ada", token="ada-1")
    grace = await tabs.open("grace", token="grace-1")
    assert service.streams == {"ada": 1, "grace": 1}
    await service.send("ada", "for Ada")
    await service.send("grace", "for Grace")
    await has(ada, "for Ada")
    await has(grace, "for Grace")


async def test_tabs_with_different_credentials_share_nothing(tabs: Tabs, service: Service) -> None:
    for token in ("ada-1", "ada-2", "ada-2"):
        await tabs.open("ada", token=token)
    assert service.streams == {"ada": 2}


EMPTY = "store.conversations().length === 0 && bodies().length === 0"


async def test_a_login_that_changes_in_one_tab(tabs: Tabs, service: Service) -> None:
    """Ada's tabs are emptied, read nothing of Grace's, and come back with Ada's login."""
    await tabs.context.add_init_script(WITHOUT_STEALING)
    await tabs.login("ada")
    await service.send("ada", "for Ada")
    ada = await tabs.store("ada")
    log = await tabs.open("ada")
    await ada.wait_for_function("bodies().join() === 'for Ada'")

    await tabs.login("grace")
    grace = await tabs.open("grace")
    await ada.wait_for_function(EMPTY)
    await log.wait_for_function("tab.signedOut > 0")
    assert await ada.evaluate("store.state().problemCode") == "UNAUTHENTICATED"
    # Ada's tabs ask again, and are given Grace's stream.
    fetched: list[str] = []
    ada.on("request", lambda request: fetched.append(request.url))
    asked = len(service.asked)
    await ada.evaluate("store.reconnect()")
    await service.until(lambda: len(service.asked) > asked)
    await service.send("grace", "for Grace")
    await service.send("ada", "for Ada alone")
    await has(grace, "for Grace")
    assert await log.evaluate("tab.bodies") == []
    assert await ada.evaluate(EMPTY)
    assert [url for url in fetched if "/conversations" in url] == []

    await tabs.login("ada")
    await ada.evaluate("store.reconnect()")
    await ada.wait_for_function("bodies().join() === 'for Ada,for Ada alone'")
    await log.wait_for_function("tab.opens.length === 2")
    assert await log.evaluate("tab.opens") == [False, False]


@pytest.mark.parametrize(
    "seen",
    ["tab.chat.signedOut()", "tab.chat.listConversations().catch(() => {})"],
    ids=["as the page says", "by a 401"],
)
async def test_a_logout_ends_the_stream_of_all_tabs(
    tabs: Tabs, service: Service, seen: str
) -> None:
    await tabs.login("ada")
    pages = [await tabs.open("ada") for _ in range(3)]
    await tabs.logout()
    await pages[2].evaluate(seen)
    for page in pages:
        await page.wait_for_function("tab.signedOut > 0")
    await service.until_streams()


async def test_what_was_not_sent_is_sent_when_its_user_is_back(
    tabs: Tabs, service: Service
) -> None:
    await tabs.login("ada")
    place = await service.place("ada")
    page = await tabs.store("ada")
    await page.context.route("**/messages", lambda route: route.abort())
    await page.evaluate("(place) => store.send(place, 'mine')", place)
    await page.wait_for_function("bodies().join() === 'mine'")
    await tabs.logout()
    await page.evaluate("chat.signedOut()")
    await page.wait_for_function(EMPTY)
    await page.context.unroute_all()
    await tabs.login("ada")
    await page.evaluate("store.reconnect()")
    await page.wait_for_function(
        "store.timeline(store.state().openId).messages[0]?.state === 'sent'"
    )
    found = await service.chat.api.list_messages("ada", place)
    assert [message.body for message in found.messages] == ["mine"]


async def test_a_token_that_was_replaced_is_no_logout(tabs: Tabs, service: Service) -> None:
    """Where a request is refused with the old one, the tabs go on with the new one."""
    await (await tabs.new()).evaluate("localStorage.setItem('token', 'ada-1')")
    pages = [await tabs.open("ada") for _ in range(3)]
    service.refused.add("ada-1")

    async def replace(route: Route) -> None:
        answer = await route.fetch()
        await pages[1].evaluate("localStorage.setItem('token', 'ada-2')")
        await route.fulfill(response=answer)

    await pages[1].route("**/conversations", replace)
    refused = "tab.chat.listConversations().catch(({ status }) => status)"
    assert await pages[1].evaluate(refused) == 401
    await service.until(lambda: len(service.asked) == 2)
    await service.until_streams(ada=1)
    assert [request.query["access_token"] for request in service.asked] == ["ada-1", "ada-2"]
    for page in pages:
        await page.wait_for_function("tab.opens.length === 2")
        assert await page.evaluate("[tab.opens, tab.signedOut]") == [[False, True], 0]
    await service.send("ada", "one")
    for page in pages:
        await has(page, "one")


@pytest_asyncio.fixture(loop_scope="session")
async def cable(service: Service, ports: Ports) -> AsyncIterator[Cable]:
    async with Cable(service, ports.of("tabs cable")) as laid:
        yield laid


@pytest_asyncio.fixture(loop_scope="session")
async def far_tabs(browsers: Browsers, service: Service, cable: Cable) -> AsyncIterator[Tabs]:
    """Behind the cable."""
    context = await (await browsers.seats("wide"))._browser.new_context()
    yield Tabs(context, service, cable.port)
    await context.close()


@QUICK_HEARTBEATS
async def test_a_computer_that_slept(far_tabs: Tabs, service: Service, cable: Cable) -> None:
    """All tabs stood still, and the connection is gone."""
    await far_tabs.login("ada")
    pages = [await far_tabs.store("ada") for _ in range(3)]
    await service.send("ada", "before")
    async with AsyncExitStack() as asleep:
        for page in pages:
            await asleep.enter_async_context(halted(page))
        await cable.cut()
        await service.send("ada", "meanwhile")
        await cable.mend()
    await service.send("ada", "after")
    for page in pages:
        # The last one may be told before the one that was missed has been fetched.
        await page.wait_for_function("bodies().join() === 'before,meanwhile,after'")
    await service.until_streams(ada=1)


async def test_a_connection_that_breaks(far_tabs: Tabs, service: Service, cable: Cable) -> None:
    """Each tab knows, and goes on where it was."""
    await far_tabs.login("ada")
    pages = [await far_tabs.open("ada") for _ in range(3)]
    await service.send("ada", "before")
    for page in pages:
        await has(page, "before")
    await cable.cut()
    for page in pages:
        await page.wait_for_function("tab.stream.status === 'reconnecting'")
    await service.send("ada", "meanwhile")
    await cable.mend()
    await pages[2].evaluate("tab.stream.reconnect()")
    await service.send("ada", "after")
    for page in pages:
        await has(page, "before", "meanwhile", "after")
        assert await page.evaluate("[tab.opens, tab.resets]") == [[False, True], 0]


@pytest.mark.usefixtures("quick_reconnects")
async def test_a_reconnect_from_any_tab(tabs: Tabs, service: Service) -> None:
    """Before the leader's pause is over."""
    await tabs.context.add_init_script("globalThis.setTimeout = () => 0")
    await tabs.login("ada")
    pages = [await tabs.open("ada") for _ in range(2)]
    service.status_of_streams = 503
    service.chat._live.hub.end_all()
    for page in pages:
        await page.wait_for_function("tab.refusals.length > 0")
    service.status_of_streams = None
    await pages[1].evaluate("tab.stream.reconnect()")
    for page in pages:
        await page.wait_for_function("tab.opens.length === 2")


@QUICK_HEARTBEATS
async def test_a_dead_line_of_a_leader_whose_timers_are_late(
    far_tabs: Tabs, service: Service, cable: Cable
) -> None:
    """As those of a tab in the background."""
    await far_tabs.login("ada")
    leader = await far_tabs.new()
    await leader.evaluate("globalThis.setTimeout = () => 0")
    await leader.evaluate("begin({ userId: 'ada' })")
    await leader.wait_for_function("tab.opens.length > 0")
    page = await far_tabs.open("ada")
    cable.is_mute = True
    asked = len(service.asked)
    await service.send("ada", "meanwhile")
    await service.until(lambda: len(service.asked) > asked)
    cable.is_mute = False
    await has(page, "meanwhile")


NAMED = """
    globalThis.channels = new Set();
    globalThis.BroadcastChannel = class extends BroadcastChannel {
      constructor(name) { super(name); channels.add(name); }
    };
"""
FORGED = """(message) => {
    const data = JSON.stringify({
      type: "message.created", message: { id: "forged", body: "forged" },
    });
    const event = { type: "event", name: "message.created", data, lastEventId: "" };
    const frames = [{ type: "open", from: null, isBlind: true }, event].slice(-message.frames);
    new BroadcastChannel([...channels][1]).postMessage({ term: 1e15, ...message, frames });
}"""


@pytest.mark.parametrize(
    ("message", "opens"),
    [
        pytest.param({"userId": "grace", "number": 1, "frames": 2}, 1, id="of another user"),
        pytest.param({"userId": "ada", "number": 7, "frames": 1}, 2, id="without those before"),
    ],
)
async def test_what_is_not_for_a_tab_is_dropped(
    tabs: Tabs, service: Service, message: dict[str, Any], opens: int
) -> None:
    await tabs.context.add_init_script(NAMED)
    await tabs.login("ada")
    pages = [await tabs.open("ada") for _ in range(2)]
    await pages[0].evaluate(FORGED, message)
    await pages[1].wait_for_function("(opens) => tab.opens.length === opens", arg=opens)
    await service.send("ada", "genuine")
    await has(pages[1], "genuine")


CLOSING = """async () => {
    const { Chat } = await import("/chat-aio/chat.js");
    await new Promise((onOpen) => {
      const close = () => {
        stream.close();
        globalThis.begun = [];
      };
      const onStatus = (status) => status === "reconnecting" && close();
      const stream = new Chat("/api/chat").stream({
        userId: "ada", onOpen, onReset: close, onStatus,
      });
    });
}"""
BEGUN = """
    for (const name of ["BroadcastChannel", "EventSource"]) {
      globalThis[name] = class extends globalThis[name] {
        constructor(...given) { super(...given); globalThis.begun?.push(name); }
      };
    }
    const { setTimeout } = globalThis;
    globalThis.setTimeout = (...given) => {
      globalThis.begun?.push("timer");
      return setTimeout(...given);
    };
"""
BACK = """() => {
    for (const type of ["pagehide", "pageshow"]) {
      dispatchEvent(new PageTransitionEvent(type, { persisted: true }));
    }
}"""
SILENT = """() => {
    const ask = { id: "another", isInStep: true, isSilent: true };
    new BroadcastChannel([...channels][1]).postMessage({ userId: "ada", ask });
}"""


@pytest.mark.parametrize("at", ["its return", "the end of a silent connection", "a reset"])
async def test_a_stream_that_a_listener_closes_begins_nothing(tabs: Tabs, at: str) -> None:
    await tabs.context.add_init_script(NAMED + BEGUN)
    await tabs.login("ada")
    page = await tabs.new()
    if at == "a reset":
        await tabs.open("ada")
    await page.evaluate(CLOSING)
    if at == "its return":
        await page.evaluate(BACK)
    elif at == "a reset":
        message = {"userId": "ada", "number": 7, "frames": 2}
        await tabs.leader.evaluate(FORGED, message)
    else:
        await (await tabs.open("ada")).evaluate(SILENT)
    await page.wait_for_function("globalThis.begun")
    # As long as it takes to join.
    for _ in range(3):
        await page.evaluate("crypto.subtle.digest('SHA-256', new Uint8Array())")
    assert await page.evaluate("begun") == []


@pytest.mark.parametrize(
    "missing",
    [
        "Object.defineProperty(navigator, 'locks', { value: undefined })",
        "Object.defineProperty(crypto, 'subtle', {}); crypto.randomUUID = undefined",
    ],
    ids=["no locks", "no HTTPS"],
)
async def test_a_browser_that_cannot_share(tabs: Tabs, service: Service, missing: str) -> None:
    await tabs.context.add_init_script(missing)
    await tabs.login("ada")
    pages = [await tabs.open("ada") for _ in range(2)]
    assert service.streams == {"ada": 2}
    await service.send("ada", "one")
    for page in pages:
        await has(page, "one")


async def test_an_origin_that_may_not_lock(tabs: Tabs, service: Service) -> None:
    refuse = "() => Promise.reject(new DOMException('', 'SecurityError'))"
    await tabs.context.add_init_script(f"LockManager.prototype.request = {refuse}")
    await tabs.login("ada")
    for _ in range(2):
        await tabs.open("ada")
    assert service.streams == {"ada": 2}


async def test_without_the_option_each_tab_has_a_stream(tabs: Tabs, service: Service) -> None:
    await tabs.login("ada")
    for _ in range(2):
        await tabs.open("ada", shareStream=False)
    assert service.streams == {"ada": 2}


async def test_a_page_that_one_comes_back_to(tabs: Tabs, service: Service) -> None:
    """As from the back-forward cache, where it held no lock: it refetches. A browser without
    windows has no such cache, and Firefox keeps no page that holds a lock or waits for one."""
    await tabs.login("ada")
    page, other = [await tabs.open("ada") for _ in range(2)]
    transition = "(type) => dispatchEvent(new PageTransitionEvent(type, { persisted: true }))"
    await page.evaluate(transition, "pagehide")
    await tabs.until_not_led_by(page)
    await service.until_streams(ada=1)
    await service.send("ada", "meanwhile")
    await has(other, "meanwhile")
    await page.evaluate(transition, "pageshow")
    await page.wait_for_function("tab.resets === 1 && tab.stream.status === 'live'")
    await service.send("ada", "after")
    await has(page, "after")
    await has(other, "meanwhile", "after")
    assert service.streams == {"ada": 1}
