"""The package's service worker, and the guide's page that registers it, in Chromium."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page
from pymongo import AsyncMongoClient

from chat_aio import Options
from chat_aio.plugins.notifications import DeviceChannel, Notifications
from tests.browser.conftest import Visit
from tests.browser.pushing import Pushed, pushing
from tests.browser.serving import Complaints
from tests.plugins.notifications.pushing import PushService, make_push, push_service
from tests.plugins.notifications.telling import eventually
from tests.support.people import PATIENCE
from tests.support.pool import Pool

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def database(mongo_url: str, pool: Pool) -> AsyncIterator[Any]:
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        taken = await pool.take(client)
        yield taken
        pool.give_back(taken)


@pytest_asyncio.fixture(loop_scope="session")
async def service(tmp_path: Path) -> AsyncIterator[PushService]:
    async with push_service(tmp_path) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def tab(open_page: Visit) -> Page:
    return await open_page(service_workers="allow")  # Nobody else has its scripts.


@pytest_asyncio.fixture(loop_scope="session")
async def pushed(tab: Page, database: Any, service: PushService) -> AsyncIterator[Pushed]:
    """Ann's page, with push enabled."""
    async with pushing(tab, database, service) as opened:
        await opened.log_in("ann")
        await opened.enable()
        yield opened


async def test_one_call_registers_the_browser(pushed: Pushed) -> None:
    subscription = await pushed.find("subscription")
    assert await pushed.devices() == [("ann", subscription["endpoint"])]
    assert subscription["userVisibleOnly"]
    assert subscription["applicationServerKey"] == make_push().public_key
    found = "navigator.serviceWorker.getRegistrations().then((all) => all.map((one) => one.scope))"
    assert await pushed.page.evaluate(found) == [f"{pushed.origin}/chat-aio/"]
    again = await pushed.page.evaluate("chat.notifications.enablePush({ ...push, ask: false })")
    listed = await pushed.page.evaluate("chat.notifications.listDevices()")
    assert listed["devices"] == [again]
    assert await pushed.devices() == [("ann", subscription["endpoint"])]


async def test_messages_of_a_conversation_are_one_notification(pushed: Pushed) -> None:
    api = pushed.chat.api
    group = await api.create_group_conversation("bob", user_ids=["ann"], name="Crew")
    direct = await api.get_or_create_conversation("carl", "ann")
    await pushed.send("bob", group.id, "first")
    (shown,) = await pushed.shown()
    assert (shown["title"], shown["body"], shown["tag"]) == ("Crew", "Bob: first", group.id)
    assert shown["icon"] == "/pictures/bob.png"
    assert await pushed.find("badge") == 1
    await pushed.send("bob", group.id, "second")
    await pushed.send("carl", direct.id, "hello")
    assert [(one["title"], one["body"], one["renotify"]) for one in await pushed.shown()] == [
        ("Carl", "hello", True),
        ("Crew (2)", "Bob: second", True),
    ]
    assert await pushed.find("badge") == 3


async def test_a_repeated_push_neither_counts_nor_rings(pushed: Pushed) -> None:
    brief = {"conversationId": "c", "messageId": "m", "senderId": "bob", "excerpt": "hi", "seq": 2}
    for seq in (2, 2, 1):
        await pushed.push(json.dumps({**brief, "seq": seq}))
    assert [one["title"] for one in await pushed.shown()] == ["bob"]
    assert await pushed.find("rung") == 1


async def test_a_push_that_cannot_be_read_shows_something(pushed: Pushed) -> None:
    for count, data in enumerate(["", "no JSON", "null", "[]", '{"conversationId": 5}'], 1):
        await pushed.push(data)
        assert [one["title"] for one in await pushed.shown()] == ["Talk"], data
        assert await pushed.find("rung") == count, data


async def test_a_click_opens_the_conversation_in_the_tab(pushed: Pushed) -> None:
    direct = await pushed.chat.api.get_or_create_conversation("bob", "ann")
    await pushed.send("bob", direct.id, "hello")
    await pushed.click(direct.id)
    await pushed.waits_for("([id]) => shownHere[0] === id", direct.id)
    await pushed.waits_for("() => standIn.find('focused')")
    assert (await pushed.find("focused"), await pushed.find("opened")) == ("/", None)
    assert await pushed.shown() == []


@pytest.mark.parametrize("page", ["of the shop", "without onOpen"])
async def test_a_click_opens_a_tab_if_none_shows_the_chat(pushed: Pushed, page: str) -> None:
    """By a worker that was stopped since."""
    direct = await pushed.chat.api.get_or_create_conversation("bob", "ann")
    if page == "of the shop":
        await pushed.page.goto(f"{pushed.origin}/shop")
    else:
        await pushed.page.evaluate("chat.notifications.enablePush({ url: push.url })")
    await pushed.send("bob", direct.id, "hello")
    await pushed.stop_worker()
    await pushed.click(direct.id)
    await pushed.waits_for("() => standIn.find('opened')")
    assert await pushed.find("opened") == f"/chat?conversation={direct.id}"
    assert await pushed.find("focused") is None


async def test_what_was_read_is_closed_and_the_number_cleared(pushed: Pushed) -> None:
    api = pushed.chat.api
    group = await api.create_group_conversation("bob", user_ids=["ann"], name="Crew")
    direct = await api.get_or_create_conversation("carl", "ann")
    await pushed.send("bob", group.id, "first")
    await pushed.send("carl", direct.id, "hello")
    opening = "new Promise((onOpen) => globalThis.stream = chat.stream({ onOpen }))"
    await pushed.page.evaluate(opening)
    for conversation_id, left in ((group.id, 1), (direct.id, 0)):
        (message,) = (await api.list_messages("ann", conversation_id)).messages
        await api.mark_read("ann", conversation_id, message.id)
        await pushed.waits_for(
            "async ([left]) => (await standIn.shown()).length === left"
            " && (await standIn.find('badge')) === left",
            left,
        )
    await pushed.page.evaluate("stream.close()")


async def test_another_user_of_the_browser_gets_another_subscription(pushed: Pushed) -> None:
    ((_, former),) = await pushed.devices()
    await pushed.log_in("bob")
    current = (await pushed.find("subscription"))["endpoint"]
    assert current != former
    assert await pushed.devices() == [("ann", former), ("bob", current)]
    await pushed.send("carl", (await _direct(pushed, "ann")), "for ann")
    assert await pushed.shown() == []
    assert await pushed.devices() == [("bob", current)]
    await pushed.send("carl", (await _direct(pushed, "bob")), "for bob")
    assert [one["body"] for one in await pushed.shown()] == ["for bob"]


async def test_a_new_scope_replaces_the_former_one(pushed: Pushed) -> None:
    """As after a release of the app: the user has enabled push, and keeps it."""
    ((_, former),) = await pushed.devices()
    await pushed.send("carl", await _direct(pushed, "ann"), "hello")
    enabling = "chat.notifications.enablePush({ ...push, ask: false, scope: '/' })"
    assert (await pushed.page.evaluate(enabling))["kind"] == "web"
    current = (await pushed.find("subscription"))["endpoint"]
    assert await pushed.devices() == [("ann", former), ("ann", current)]
    scopes = """caches.open("chat-aio-push").then((kept) => kept.keys())
      .then((kept) => kept.map(({ url }) => url))"""
    assert await pushed.page.evaluate(scopes) == [f"{pushed.origin}/"]
    # The former worker's end with its subscription.
    assert await pushed.shown() == []


async def test_tabs_that_open_at_once_make_one_subscription(pushed: Pushed) -> None:
    await pushed.page.context.add_cookies([{"name": "user", "value": "bob", "url": pushed.origin}])
    enabling = "chat.notifications.enablePush({ ...push, ask: false })"
    await pushed.page.evaluate(f"Promise.all([{enabling}, {enabling}])")
    current = (await pushed.find("subscription"))["endpoint"]
    assert [token for user, token in await pushed.devices() if user == "bob"] == [current]


async def _direct(pushed: Pushed, user_id: str) -> str:
    return (await pushed.chat.api.get_or_create_conversation("carl", user_id)).id


async def test_a_logout_ends_it(pushed: Pushed) -> None:
    await pushed.send("carl", await _direct(pushed, "ann"), "hello")
    await pushed.page.get_by_role("button", name="Log out").click()

    async def is_removed() -> bool:
        return await pushed.devices() == []

    await eventually(is_removed)
    assert (await pushed.shown(), await pushed.find("subscription")) == ([], None)
    assert await pushed.find("badge") == 0
    await pushed.log_in("bob")
    assert (await pushed.devices(), await pushed.find("subscription")) == ([], None)


async def test_a_logout_right_after_the_page_opened_ends_it(pushed: Pushed) -> None:
    """The page enables it again when it opens: the number at the icon is not set after that."""
    await pushed.send("carl", await _direct(pushed, "ann"), "hello")
    enabling = "chat.notifications.enablePush({ ...push, ask: false })"
    disabling = "chat.notifications.disablePush()"
    await pushed.page.evaluate(f"Promise.all([{enabling}, {disabling}])")
    await pushed.page.evaluate("chat.inbox.countUnread()")
    assert await pushed.find("badge") == 0
    assert (await pushed.devices(), await pushed.find("subscription")) == ([], None)


async def test_a_logout_while_the_service_is_away_ends_it_in_the_browser(
    pushed: Pushed, complaints: Complaints
) -> None:
    complaints.excuse("/api/chat/notifications/devices")
    await pushed.page.context.clear_cookies()
    failing = "chat.notifications.disablePush().catch((error) => error.code)"
    assert await pushed.page.evaluate(failing) == "UNAUTHENTICATED"
    assert await pushed.find("subscription") is None
    assert len(await pushed.devices()) == 1


async def test_a_replaced_subscription_is_registered(pushed: Pushed) -> None:
    """By the worker, also after it was stopped."""
    ((_, former),) = await pushed.devices()
    await pushed.page.evaluate("standIn.remove('subscription')")
    await pushed.stop_worker()
    await pushed.to_worker({"renew": True})

    async def is_registered() -> bool:
        return len(await pushed.devices()) == 2

    await eventually(is_registered)
    current = (await pushed.find("subscription"))["endpoint"]
    assert {token for _, token in await pushed.devices()} == {former, current}
    await pushed.waits_for(
        "([token]) => caches.match(`${location.origin}/chat-aio/`)"
        ".then((kept) => kept.json()).then(({ endpoint }) => endpoint === token)",
        current,
    )
    await pushed.log_in("ann")
    assert (await pushed.find("subscription"))["endpoint"] == current


async def test_a_subscription_that_is_not_the_known_one_is_made_again(pushed: Pushed) -> None:
    """By the page: the service has removed the device or has another key, or the worker could not
    register what has replaced it."""
    ((_, former),) = await pushed.devices()
    for name in ("deviceId", "endpoint", "publicKey"):
        await pushed.page.evaluate(
            """async (name) => {
              const settings = await caches.open("chat-aio-push");
              const place = `${location.origin}/chat-aio/`;
              const kept = await (await settings.match(place)).json();
              const changed = { ...kept, [name]: "another" };
              await settings.put(place, new Response(JSON.stringify(changed)));
            }""",
            name,
        )
        await pushed.log_in("ann")
        current = (await pushed.find("subscription"))["endpoint"]
        assert current != former, name
        assert ("ann", current) in await pushed.devices(), name
        former = current


async def test_a_logout_leaves_other_workers_alone(pushed: Pushed) -> None:
    """The host's own one is found where the chat's is no longer there."""
    await pushed.page.evaluate(
        """async () => {
          const [found] = await navigator.serviceWorker.getRegistrations();
          await found.unregister();
          await navigator.serviceWorker.register("/own-worker.js");
          await chat.notifications.disablePush();
        }"""
    )
    assert await pushed.find("subscription") is not None
    assert await pushed.devices() == []


async def test_clicks_on_notifications_of_the_host_are_left_to_it(pushed: Pushed) -> None:
    direct = await _direct(pushed, "ann")
    await pushed.page.evaluate("standIn.keep('shown own', { title: 'Own', tag: 'own', data: {} })")
    await pushed.send("carl", direct, "hello")
    await pushed.click("own")
    await pushed.click(direct)
    await pushed.waits_for("([id]) => shownHere[0] === id", direct)
    assert [one["tag"] for one in await pushed.shown()] == ["own"]
    assert await pushed.find("opened") is None


FAILING = "(given) => chat.notifications.enablePush(given).catch((error) => error.code)"


async def test_why_it_is_not_enabled(
    tab: Page, database: Any, service: PushService, complaints: Complaints
) -> None:
    async with pushing(tab, database, service) as pushed:
        await pushed.log_in("ann")
        await tab.evaluate("localStorage.permission = 'denied'")
        assert await tab.evaluate(FAILING, {}) == "PUSH_DENIED"
        await tab.evaluate("localStorage.permission = 'granted'")
        assert await tab.evaluate(FAILING, {"ask": False}) is None
        complaints.excuse("received when fetching the script")
        assert await tab.evaluate(FAILING, {"worker": "/nothing.js"}) == "PUSH_FAILED"
        await tab.evaluate("standIn.keep('refuses', true)")
        assert await tab.evaluate(FAILING, {}) == "PUSH_FAILED"
        # The number is the app's own, if it has one.
        await tab.evaluate("chat.inbox.countUnread()")
        assert await pushed.find("badge") is None
        # As in a page without HTTPS.
        await tab.evaluate("Object.defineProperty(globalThis, 'caches', { value: undefined })")
        assert await tab.evaluate(FAILING, {}) == "PUSH_UNAVAILABLE"
        assert await tab.evaluate(FAILING, {"ask": False}) is None
        await tab.evaluate("chat.notifications.disablePush()")
        assert await pushed.devices() == []


class Phones(DeviceChannel):
    kind = "phone"

    async def send_to(self, *_: Any) -> None:
        return


@pytest.mark.parametrize("plugins", [[], [Notifications()], [Notifications(channels=[Phones()])]])
async def test_services_without_web_push(
    tab: Page, database: Any, service: PushService, complaints: Complaints, plugins: Any
) -> None:
    complaints.excuse("/notifications/devices")
    async with pushing(tab, database, service, plugins=plugins, options=Options()) as pushed:
        await pushed.log_in("ann")
        assert await tab.evaluate(FAILING, {}) == "PUSH_UNSUPPORTED"


async def test_a_worker_is_waited_for_until_it_is_active(
    tab: Page, database: Any, service: PushService
) -> None:
    async with pushing(tab, database, service) as pushed:
        await pushed.log_in("ann")
        given = {"worker": "/slow-worker.js"}
        enabling = asyncio.create_task(tab.evaluate(FAILING, given))
        await asyncio.wait_for(pushed.is_installing.wait(), PATIENCE)
        pushed.may_install.set()
        assert (await enabling)["kind"] == "web"


@pytest.mark.parametrize("given", [{"scope": "/"}, {"worker": "/own-worker.js"}])
async def test_an_app_has_the_worker_in_its_own_scope(
    tab: Page, database: Any, service: PushService, given: dict[str, str]
) -> None:
    """As a worker with a wider scope, or imported by the app's own worker."""
    async with pushing(tab, database, service) as pushed:
        await pushed.log_in("ann")
        await tab.evaluate("(given) => chat.notifications.enablePush(given)", given)
        await pushed.send("carl", await _direct(pushed, "ann"), "hello")
        assert [one["body"] for one in await pushed.shown()] == ["hello"]
        scopes = "navigator.serviceWorker.getRegistrations().then(([{ scope }]) => scope)"
        assert await tab.evaluate(scopes) == f"{pushed.origin}/"
