"""Two people talk: what one does, the other sees without doing anything."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.acting import become, stop_time, write
from tests.browser.conftest import Visit
from tests.browser.places import visit as visit
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


def badge_of(page: Page, title: str) -> Locator:
    rows = page.locator(".row").filter(has=page.locator(".row-title", has_text=title))
    return rows.locator(".badge")


async def test_messages_cross_both_ways(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", conversation_id)
    dennis = await visit("dennis", conversation_id)

    await write(linus, "Is it you?")
    await expect(dennis.get_by_role("log")).to_contain_text("Is it you?")
    await write(dennis, "It is me.")
    await expect(linus.get_by_role("log")).to_contain_text("It is me.")

    for page in (linus, dennis):
        await expect(page.locator(".message .body")).to_have_text(["Is it you?", "It is me."])
    await expect(linus.locator("[data-state=sent]")).to_have_count(2)
    assert await demo.bodies("linus", conversation_id) == ["Is it you?", "It is me."]


async def test_enter_sends_and_shift_enter_begins_a_line(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", conversation_id)
    await linus.get_by_label("Message", exact=True).click()
    await linus.keyboard.type("one")
    await linus.keyboard.press("Shift+Enter")
    await linus.keyboard.type("two")
    await expect(linus.locator(".message")).to_have_count(0)
    await linus.keyboard.press("Enter")

    await expect(linus.locator("[data-state=sent] .body")).to_have_text("one\ntwo")
    await linus.keyboard.press("Enter")
    assert await demo.bodies("linus", conversation_id) == ["one\ntwo"]


async def test_markup_is_text(visit: Visit, demo: Demo) -> None:
    evil = "<img src=x onerror=\"document.title='owned'\"><b>bold</b>"
    conversation_id = await demo.group("linus", "dennis", name=evil)
    await demo.send("linus", conversation_id, evil)
    dennis = await visit("dennis", conversation_id)

    await expect(dennis.locator(".message .body")).to_have_text(evil)
    await expect(dennis.locator("#title")).to_have_text(evil)
    await expect(dennis.locator(".row-title").first).to_have_text(evil)
    await expect(dennis.locator(".row-preview").first).to_have_text(f"Linus: {evil}")
    await expect(dennis.locator("img:not(.avatar img), b")).to_have_count(0)


async def test_unread_messages_are_counted_until_they_are_read(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("linus", conversation_id, "one")
    dennis = await visit("dennis")
    badge = badge_of(dennis, "Linus")
    await expect(badge).to_have_text("1 unread")

    await demo.send("linus", conversation_id, "two", "three")
    await expect(badge).to_have_text("3 unread")

    # This one is answered before the next is awaited.
    async with dennis.expect_response("**/read?*"):
        await dennis.get_by_role("link", name="Linus").click()
    await expect(dennis.get_by_role("log")).to_contain_text("three")
    await expect(badge).to_be_hidden()
    await expect(dennis.get_by_role("separator", name="New")).to_be_visible()

    async with dennis.expect_response("**/read?*") as response:
        await demo.send("linus", conversation_id, "four")
    assert (await response.value).ok
    await expect(dennis.get_by_role("log")).to_contain_text("four")
    assert await demo.unread("dennis", conversation_id) == 0


async def test_another_conversation_stays_unread(visit: Visit, demo: Demo) -> None:
    open_id = await demo.direct("linus", "dennis")
    other_id = await demo.direct("margaret", "dennis")
    await demo.send("linus", open_id, "here")
    await demo.send("margaret", other_id, "there")
    dennis = await visit("dennis", open_id)
    await expect(dennis.locator(".row-title")).to_have_text(["Margaret", "Linus", "Engine room"])

    await demo.send("linus", open_id, "here again")
    await expect(dennis.locator(".row-title")).to_have_text(["Linus", "Margaret", "Engine room"])
    await expect(badge_of(dennis, "Linus")).to_be_hidden()
    await expect(badge_of(dennis, "Margaret")).to_have_text("1 unread")


async def test_a_window_that_is_not_looked_at_reads_nothing(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    dennis = await visit("dennis", conversation_id)
    await become(dennis, "hidden")
    await demo.send("linus", conversation_id, "are you there?")
    await expect(badge_of(dennis, "Linus")).to_have_text("1 unread")
    assert await demo.unread("dennis", conversation_id) == 1

    async with dennis.expect_response("**/read?*"):
        await become(dennis, "visible")
    await expect(badge_of(dennis, "Linus")).to_be_hidden()
    assert await demo.unread("dennis", conversation_id) == 0


async def test_reading_begins_at_the_first_unread_message(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    await demo.fill(conversation_id, [("linus", f"known {number}") for number in range(30)])
    await demo.read_all("dennis", conversation_id)
    dennis = await visit("dennis")
    await demo.send("linus", conversation_id, *(f"new {number}" for number in range(30)))
    await expect(badge_of(dennis, "Linus")).to_have_text("30 unread")

    # What is in view for a second is read.
    await stop_time(dennis)
    await dennis.get_by_role("link", name="Linus").first.click()

    await expect(dennis.get_by_role("separator", name="New")).to_be_in_viewport()
    await expect(dennis.get_by_text("new 0", exact=True)).to_be_in_viewport()
    await expect(dennis.get_by_text("known 29", exact=True)).not_to_be_in_viewport()
    await expect(badge_of(dennis, "Linus")).to_have_text("30 unread")
    await dennis.get_by_role("button", name="30 new, to the newest message").click()
    await expect(badge_of(dennis, "Linus")).to_be_hidden()


async def test_keys_for_bold_and_italics(visit: Visit, demo: Demo) -> None:
    linus = await visit("linus", await demo.direct("linus", "dennis"))
    box = linus.get_by_label("Message", exact=True)
    await box.fill("make it so")
    await box.evaluate("node => node.setSelectionRange(5, 7)")
    for key, text in (
        *(("b", "make **it** so"), ("i", "make ***it*** so")),
        *(("b", "make *it* so"), ("i", "make it so")),
    ):
        await linus.keyboard.press(f"Control+{key}")
        await expect(box).to_have_value(text)
    await linus.keyboard.press("Control+b")
    await linus.keyboard.press("Enter")
    await expect(linus.get_by_role("log").locator(".body strong")).to_have_text("it")
