"""One sees the others write, come and go: each on a server of their own, over one database."""

import json
import re
from functools import partial
from unittest.mock import patch

import pytest
from playwright.async_api import Locator, Page, Request, expect

from chat_aio.demo import application
from chat_aio.plugins import Presence, typing_indicator
from tests.browser.acting import CHAT, act, choose, details, main_list, message, stop_time, write
from tests.browser.conftest import Visit
from tests.browser.serving import Cable, Complaints, Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLACES = f"""() => [...{CHAT}.querySelectorAll('.message, #composer')]
    .map((node) => node.offsetTop)"""


def typing(page: Page) -> Locator:
    return page.locator("#typing")


def row(page: Page, title: str) -> Locator:
    """A conversation's row in the list."""
    return page.locator(".row").filter(has=page.locator(".row-title", has_text=title))


async def test_who_writes_is_seen_at_another_server(visit: Visit, demo: Demo) -> None:
    twin = await demo.twin()
    group_id = await demo.group("linus", "dennis", "grace", "margaret", name="Kernel")
    path = f"/conversations/{group_id}/typing"
    linus = await visit("linus", group_id, port=twin.port)
    dennis = await visit("dennis", group_id)
    await demo.send("grace", group_id, "hello")
    await expect(message(main_list(dennis), "hello")).to_be_visible()
    before = await dennis.evaluate(PLACES)
    await stop_time(dennis)

    await linus.get_by_label("Message", exact=True).press("a")
    await expect(typing(dennis)).to_have_text("Linus is typing…")
    assert await dennis.evaluate(PLACES) == before
    await twin.post("margaret", path)
    await expect(typing(dennis)).to_have_text("Linus and Margaret are typing…")
    await twin.post("grace", path)
    await expect(typing(dennis)).to_have_text("Several people are typing…")
    await twin.post("grace", path, isTyping=False)
    await expect(typing(dennis)).to_have_text("Linus and Margaret are typing…")
    await twin.send("margaret", group_id, "done")
    await expect(typing(dennis)).to_have_text("Linus is typing…")

    await linus.get_by_label("Message", exact=True).fill("")
    await expect(typing(dennis)).to_have_text("")
    await expect(typing(linus)).to_have_text("")


async def test_an_indicator_goes_by_itself(visit: Visit, demo: Demo) -> None:
    group_id = await demo.group("linus", "dennis", "margaret", name="Kernel")
    path = f"/conversations/{group_id}/typing"
    dennis = await visit("dennis", group_id)
    await stop_time(dennis)
    await demo.post("linus", path)
    await expect(typing(dennis)).to_have_text("Linus is typing…")
    await dennis.clock.run_for(4_000)
    # Time passes in the page only: for the service this ping comes at once after the first one.
    with patch.object(typing_indicator, "AGAIN_SECONDS", 0.0):
        await demo.post("linus", path)
    await demo.post("margaret", path)
    await expect(typing(dennis)).to_have_text("Linus and Margaret are typing…")
    await dennis.clock.run_for(4_900)
    await expect(typing(dennis)).to_have_text("Linus and Margaret are typing…")
    await dennis.clock.run_for(200)
    await expect(typing(dennis)).to_have_text("")


async def test_pings_are_few_and_end_with_the_message(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("linus", conversation_id, "one")
    linus = await visit("linus", conversation_id)
    await expect(main_list(linus)).to_contain_text("one")
    told: list[bool] = []

    def hear(request: Request) -> None:
        if "/typing" in request.url:
            told.append(json.loads(request.post_data or "")["isTyping"])

    linus.on("request", hear)
    await stop_time(linus)
    field = linus.get_by_label("Message", exact=True)
    await field.press("ArrowUp")
    await field.press("Backspace")
    await field.press("Enter")
    await expect(main_list(linus).get_by_text("edited")).to_be_visible()
    assert told == []
    async with linus.expect_response("**/typing?*"):
        await field.press_sequentially("hello")
    await linus.clock.run_for(3_000)
    async with linus.expect_response("**/typing?*"):
        await field.press_sequentially(" you")
    async with linus.expect_response("**/typing?*"):
        await field.press("Enter")
    assert told == [True, True, False]


async def test_pings_that_fail_are_not_in_the_way(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("500")
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", conversation_id)
    await linus.route("**/typing?*", lambda route: route.fulfill(status=500))
    async with linus.expect_response("**/typing?*"):
        await linus.get_by_label("Message", exact=True).fill("hello")
    await expect(linus.locator("#composer .problem")).to_be_empty()
    await linus.keyboard.press("Enter")
    await expect(linus.locator("[data-state=sent] .body")).to_have_text("hello")


@pytest.fixture
def short_absence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Users are offline a moment after they leave, not after the seconds that a reload may take."""
    monkeypatch.setattr(application, "Presence", partial(Presence, offline_delay_ms=500))


@pytest.mark.usefixtures("short_absence")
async def test_who_is_here_is_seen_at_another_server(visit: Visit, demo: Demo) -> None:
    twin = await demo.twin()
    conversation_id = await demo.direct("linus", "dennis")
    group_id = await demo.group("linus", "dennis", name="Kernel")
    dennis = await visit("dennis", conversation_id)
    subtitle, dot = dennis.locator("#subtitle"), row(dennis, "Linus").get_by_title("Online")
    await expect(subtitle).to_have_text("Direct message")
    await expect(dot).to_be_hidden()

    linus = await visit("linus", port=twin.port)
    await expect(subtitle).to_have_text("Online")
    await expect(dot).to_be_visible()
    await expect(dennis.get_by_role("link", name="Online Linus")).to_be_visible()
    beside = await visit("dennis", f"{group_id}/details", port=twin.port)
    members = details(beside).get_by_title("Online").filter(visible=True)
    await expect(members).to_have_count(2)

    await linus.context.close()
    await expect(subtitle).to_have_text(re.compile("^Last seen "))
    await expect(dot).to_be_hidden()
    await expect(members).to_have_count(1)
    await dennis.reload()
    await expect(subtitle).to_have_text(re.compile("^Last seen "))


@pytest.mark.usefixtures("quick_reconnects")
async def test_without_a_connection_nobody_is_said_to_be_here(
    visit: Visit, demo: Demo, cable: Cable, complaints: Complaints
) -> None:
    complaints.excuse_network()
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", await demo.direct("margaret", "dennis"), "Hello")
    await visit("linus")
    dennis = await visit("dennis", conversation_id, port=cable.port)
    dots = dennis.get_by_title("Online").filter(visible=True)
    await expect(dots).to_have_count(2)
    await cable.cut()
    await expect(dots).to_have_count(0)
    await expect(dennis.locator("#subtitle")).to_have_text("Direct message")
    await visit("margaret")
    await cable.mend()
    await expect(dots).to_have_count(3)


async def test_a_message_is_sent_delivered_read(visit: Visit, demo: Demo) -> None:
    twin = await demo.twin()
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", conversation_id)
    await write(linus, "one")
    await expect(linus.locator("[data-state=sent]")).to_have_count(1)
    ticks = main_list(linus).locator(".message").get_by_role("img")
    await expect(ticks).to_have_count(0)

    dennis = await visit("dennis", port=twin.port)
    await write(linus, "two")
    tick = message(main_list(linus), "two").get_by_role("img")
    await expect(tick).to_have_accessible_name("Delivered")
    await expect(ticks).to_have_count(1)
    await row(dennis, "Linus").click()
    await expect(main_list(dennis)).to_contain_text("two")
    for page in (linus, await visit("linus", conversation_id, port=twin.port)):
        read = main_list(page).get_by_role("img", name="Read", exact=True)
        await expect(read).to_have_count(2)
        await expect(read.first).to_have_attribute("title", "Read")
    await expect(main_list(dennis).get_by_role("img")).to_have_count(0)


async def test_what_was_read_is_known_after_reloading(visit: Visit, demo: Demo) -> None:
    """Also where what the other one has read last is not in the main list."""
    place = await demo.direct("linus", "dennis")
    root = await demo.write("linus", place, "one")
    reply = await demo.write("linus", place, "in the thread", threadRootMessageId=root["id"])
    await demo.write("linus", place, "two")
    await demo.post("dennis", f"/conversations/{place}/read", messageId=reply["id"])
    linus = await visit("linus", place)
    ticks = main_list(linus).locator(".ticks:visible")
    await expect(ticks).to_have_count(1)
    await expect(ticks).to_have_attribute("title", "Read")
    await linus.reload()
    await expect(ticks).to_have_attribute("title", "Read")


async def test_in_a_group_it_is_said_how_many_have_read(visit: Visit, demo: Demo) -> None:
    twin = await demo.twin()
    group_id = await demo.group("linus", "dennis", "grace", "margaret", name="Kernel")
    linus = await visit("linus", group_id)
    dennis = await visit("dennis", port=twin.port)
    await visit("grace")
    await write(linus, "to all")
    tick = message(main_list(linus), "to all").get_by_role("img")
    await expect(tick).to_have_accessible_name("Delivered to 2")
    await row(dennis, "Kernel").click()
    await expect(tick).to_have_accessible_name("Read by 1 of 3")
    await twin.read_all("margaret", group_id)
    await expect(tick).to_have_accessible_name("Read by 2 of 3")


async def test_what_is_read_in_one_window_is_read_in_the_other(visit: Visit, demo: Demo) -> None:
    twin = await demo.twin()
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", conversation_id, "none yet")
    beside = await visit("dennis", port=twin.port)
    await expect(row(beside, "Linus")).to_contain_text("You: none yet")
    await demo.send("linus", conversation_id, "one", "two")
    await expect(row(beside, "Linus").locator(".badge")).to_have_text("2 unread")
    await visit("dennis", conversation_id)
    await expect(row(beside, "Linus").locator(".badge")).to_be_hidden()
    await demo.send("margaret", await demo.direct("margaret", "dennis"), "Hello")
    await expect(row(beside, "Margaret")).to_be_visible()


async def test_who_has_read_a_message_is_said_by_name_and_live(visit: Visit, demo: Demo) -> None:
    twin = await demo.twin()
    group_id = await demo.group("linus", "dennis", "grace", "margaret", name="Kernel")
    await demo.send("dennis", group_id, "theirs")
    linus = await visit("linus", group_id)
    await visit("grace", port=twin.port)
    await write(linus, "to all")
    own = message(main_list(linus), "to all")
    await expect(own.get_by_role("img")).to_have_accessible_name("Delivered to 1")
    await choose(own, "Read by…")
    dialog = linus.get_by_role("dialog", name="Who has read it")
    part = {name: dialog.get_by_role("group", name=name) for name in ("Read", "Not yet")}
    await expect(dialog.get_by_role("status")).to_have_text("Read by 0 of 3")
    await expect(dialog.get_by_role("group", name="Delivered")).to_contain_text("Grace")
    await expect(part["Read"]).to_be_hidden()
    await expect(part["Not yet"].locator("li")).to_have_text([re.compile("Dennis$"), "MMargaret"])
    await twin.read_all("margaret", group_id)
    await expect(part["Read"].locator("li")).to_have_text([re.compile("Margaret$")])
    await twin.read_all("grace", group_id)
    await expect(dialog.get_by_role("status")).to_have_text("Read by 2 of 3")
    await expect(dialog.get_by_role("group", name="Delivered")).to_be_hidden()
    await linus.keyboard.press("Escape")
    await act(message(main_list(linus), "theirs"), "More actions")
    await expect(linus.get_by_role("menuitem", name="Read by…")).to_have_count(0)


async def test_between_two_people_the_mark_is_enough(visit: Visit, demo: Demo) -> None:
    linus = await visit("linus", await demo.direct("linus", "dennis"))
    await write(linus, "to you")
    await act(message(main_list(linus), "to you"), "More actions")
    await expect(linus.get_by_role("menuitem", name="Edit")).to_be_visible()
    await expect(linus.get_by_role("menuitem", name="Read by…")).to_have_count(0)
