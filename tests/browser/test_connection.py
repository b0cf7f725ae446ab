"""The connection breaks, and nothing is lost or doubled."""

from dataclasses import replace

import pytest
from playwright.async_api import Page, Route, expect

from chat_aio.demo import application
from tests.browser.acting import hurry, main_list, message, stop_time, write
from tests.browser.conftest import Visit
from tests.browser.serving import Cable, Complaints, Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOO_LATE = "AbortSignal.timeout = () => AbortSignal.abort(new DOMException('late', 'TimeoutError'))"
TRIES = 3
"""As often a message is sent before its sender is told that it failed."""


async def is_back(page: Page) -> None:
    await expect(page.locator("#status")).to_have_text("Live")


@pytest.mark.usefixtures("quick_reconnects")
async def test_what_is_sent_meanwhile_arrives(
    visit: Visit, demo: Demo, cable: Cable, complaints: Complaints
) -> None:
    complaints.excuse_network()
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", conversation_id)
    dennis = await visit("dennis", conversation_id, port=cable.port)
    await write(linus, "before")
    await expect(dennis.get_by_role("log")).to_contain_text("before")

    await cable.cut()
    await expect(dennis.locator("#status")).to_have_text("Reconnecting…")
    await write(linus, "meanwhile")
    group_id = await demo.group("margaret", "dennis", name="Meanwhile")
    await demo.send("margaret", group_id, "welcome")
    await cable.mend()
    await is_back(dennis)
    await write(linus, "after")

    bodies = dennis.locator(".message .body")
    await expect(bodies).to_have_text(["before", "meanwhile", "after"])
    row = dennis.get_by_role("link", name="Meanwhile")
    await expect(row).to_contain_text("Margaret: welcome")
    await expect(row.locator(".badge")).to_have_text("1 unread")


@pytest.mark.usefixtures("quick_reconnects")
async def test_what_could_not_be_sent_is_sent_later_and_once(
    visit: Visit, demo: Demo, cable: Cable, complaints: Complaints
) -> None:
    complaints.excuse_network()
    conversation_id = await demo.direct("linus", "dennis")
    dennis = await visit("dennis", conversation_id, port=cable.port)
    await expect(dennis.get_by_text("This is the beginning")).to_be_attached()
    await hurry(dennis)
    await cable.cut()
    await write(dennis, "one")
    await write(dennis, "two")
    await write(dennis, "never mind")
    await expect(dennis.locator("[data-state=waiting]")).to_have_count(3)
    await dennis.get_by_role("button", name="Discard").last.click()
    await cable.mend()

    await is_back(dennis)
    await expect(dennis.locator("[data-state=sent] .body")).to_have_text(["one", "two"])
    await expect(dennis.locator(".message")).to_have_count(2)
    assert await demo.bodies("linus", conversation_id) == ["one", "two"]


async def test_an_answer_that_was_lost_does_not_double_the_message(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse_network()
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", conversation_id)
    # The stream would tell that it was sent: without it only the answer can.
    await linus.route("**/stream?*", lambda route: route.abort())
    await linus.reload()
    await expect(linus.get_by_role("log")).to_contain_text("This is the beginning")

    async def lose_answer(route: Route) -> None:
        await route.fetch()
        await route.abort()

    await hurry(linus)
    await linus.route("**/messages?as=linus", lose_answer, times=TRIES)
    await write(linus, "only once")
    await expect(linus.locator("[data-state=waiting]")).to_be_visible()
    await linus.get_by_role("button", name="Try now").click()

    await expect(linus.locator("[data-state=sent] .body")).to_have_text("only once")
    await expect(linus.locator(".message")).to_have_count(1)
    assert await demo.bodies("dennis", conversation_id) == ["only once"]


@pytest.mark.usefixtures("quick_reconnects")
async def test_a_server_that_starts_again_is_found_again(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse_network()
    conversation_id = await demo.direct("linus", "dennis")
    dennis = await visit("dennis", conversation_id)
    await demo.send("linus", conversation_id, "before")
    await expect(dennis.get_by_role("log")).to_contain_text("before")

    await demo.stop()
    await expect(dennis.locator("#status")).to_have_text("Reconnecting…")
    await demo.start()
    await demo.send("linus", conversation_id, "meanwhile")

    await is_back(dennis)
    await expect(dennis.locator(".message .body")).to_have_text(["before", "meanwhile"])


async def test_a_stream_that_is_refused_is_tried_again(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("429")
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", conversation_id)
    await linus.route("**/stream?*", lambda route: route.fulfill(status=429), times=1)
    await linus.reload()

    await is_back(linus)
    await demo.send("dennis", conversation_id, "hello")
    await expect(linus.get_by_role("log")).to_contain_text("hello")


@pytest.fixture
def frequent_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    options = replace(application.OPTIONS, heartbeat_interval_ms=500)
    monkeypatch.setattr(application, "OPTIONS", options)


async def test_a_line_that_says_nothing_any_more_is_noticed(
    frequent_heartbeats: None, visit: Visit, demo: Demo, cable: Cable, complaints: Complaints
) -> None:
    """Nobody has closed it, and TCP knows nothing of it."""
    complaints.excuse_network()
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", conversation_id, port=cable.port)
    await expect(linus.get_by_text("This is the beginning")).to_be_attached()
    async with linus.expect_request("**/stream?*"):
        cable.is_mute = True
        await demo.send("dennis", conversation_id, "meanwhile")
    cable.is_mute = False
    await expect(linus.get_by_role("log")).to_contain_text("meanwhile")
    await is_back(linus)


@pytest.mark.usefixtures("quick_reconnects")
async def test_a_lost_connection_is_said_and_can_be_tried_at_once(
    visit: Visit, demo: Demo, cable: Cable, complaints: Complaints
) -> None:
    complaints.excuse_network()
    complaints.excuse("429")
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", conversation_id, port=cable.port)
    banner = linus.get_by_text("Connection lost. Trying again…")
    await expect(linus.get_by_text("This is the beginning")).to_be_attached()
    await stop_time(linus)
    await linus.route("**/stream?*", lambda route: route.fulfill(status=429))
    async with linus.expect_response("**/stream?*"):
        await cable.cut()
        await cable.mend()
    await expect(linus.locator("#status")).to_have_text("Reconnecting…")
    await expect(banner).to_be_hidden()
    async with linus.expect_response("**/stream?*"):
        await linus.clock.run_for(1_900)
    await expect(banner).to_be_hidden()
    await linus.clock.run_for(200)
    await expect(banner).to_be_visible()
    await expect(linus.get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)

    await linus.unroute_all()
    await linus.get_by_role("button", name="Try now").press("Enter")
    await is_back(linus)
    await expect(banner).to_be_hidden()
    await expect(linus.get_by_label("Message", exact=True)).to_be_focused()


async def test_what_waits_is_not_called_unsent(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    """The page knows at once that its browser is offline; a stream that outlasts that is no
    reason to leave anything unsent."""
    complaints.excuse_network()
    place = await demo.direct("linus", "dennis")
    linus = await visit("linus", place)
    # What one writes in is loaded by then.
    await expect(linus.get_by_text("This is the beginning")).to_be_attached()
    await linus.context.set_offline(True)
    await expect(linus.locator("#app")).to_have_attribute("data-status", "reconnecting")
    await write(linus, "hello")
    said = message(main_list(linus), "hello")
    await expect(said).to_contain_text("Waiting for the connection…")
    await expect(said).not_to_contain_text("Not sent")
    await expect(said.get_by_role("button", name="Retry")).to_be_hidden()
    await linus.context.set_offline(False)
    await expect(said).to_have_attribute("data-state", "sent")
    await expect(linus.locator("#app")).to_have_attribute("data-status", "live")
    assert await demo.bodies("linus", place) == ["hello"]


async def test_what_takes_too_long_says_so_and_is_tried_again(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    """While the stream lives, as where too many windows share a browser's connections."""
    complaints.excuse_network()
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, "hello")
    linus = await visit("linus")
    await linus.evaluate(TOO_LATE)
    await linus.get_by_role("link", name="Dennis").click()
    late = "These messages did not load. The chat took too long to answer."
    await expect(main_list(linus)).to_contain_text(late)
    await linus.evaluate("AbortSignal.timeout = () => new AbortController().signal")
    await expect(main_list(linus)).to_contain_text("hello")


async def test_a_list_that_fails_is_not_requested_for_every_change(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    """Although its end is visible, where the next page would be requested."""
    complaints.excuse("503")
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, "hello")
    linus = await visit("linus")
    row = linus.get_by_role("link", name="Dennis")
    await expect(row).to_be_visible()
    await stop_time(linus)  # No pause ends.
    requests: list[str] = []

    async def refuse(route: Route) -> None:
        requests.append(route.request.url)
        await route.fulfill(status=503)

    await linus.route("**/conversations?*", refuse)
    await linus.evaluate("dispatchEvent(new Event('online'))")
    await expect(linus.get_by_text("The conversations did not load.")).to_be_visible()
    for body in ("one", "two", "three"):
        await demo.send("dennis", place, body)
        await expect(row).to_contain_text(body)
    assert len(requests) == 1
