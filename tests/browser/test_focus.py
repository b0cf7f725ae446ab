"""The focus stays near when what has it goes, keys of input methods are theirs, days end."""

from datetime import datetime

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.browser.acting import main_list, message, write
from tests.browser.conftest import Visit
from tests.browser.failing import Failing, keeps_its_focus
from tests.browser.serving import Complaints, Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def press(page: Page, button: Locator) -> None:
    await button.focus()
    await expect(button).to_be_focused()
    await page.keyboard.press("Enter")


async def test_after_an_unsent_message_is_discarded(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    place = await demo.direct("linus", "dennis")
    linus = await visit("linus", place)

    async def answer(route: Route) -> None:
        error = {"code": "FORBIDDEN_BY_HOST", "message": "Not now."}
        if route.request.method == "POST":
            await route.fulfill(status=403, json={"error": error})
        else:
            await route.continue_()

    await linus.route("**/conversations/*/messages*", answer)
    await write(linus, "one")
    row = message(main_list(linus), "one")
    await press(linus, row.get_by_role("button", name="Discard"))
    await expect(row).to_have_count(0)
    await expect(main_list(linus)).to_be_focused()


async def test_after_a_reaction_is_taken_back(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    sent = await demo.write("dennis", place, "Hello!")
    await demo.post("linus", f"/messages/{sent['id']}/reactions", emoji="👍")
    linus = await visit("linus", place)
    row = message(main_list(linus), "Hello!")
    await press(linus, row.locator(".chip"))
    await expect(row.locator(".chip")).to_have_count(0)
    await expect(row).to_be_focused()


async def test_while_messages_are_loaded_again(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    """The button keeps the focus until they are there, however often they fail."""
    complaints.excuse("500")
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, "Hello!")
    linus = await visit("linus")
    requests = Failing()
    await linus.route(f"**/conversations/{place}/messages?*", requests.answer)
    await linus.get_by_role("link", name="Dennis").click()
    await keeps_its_focus(linus, main_list(linus), requests)
    await expect(message(main_list(linus), "Hello!")).to_be_visible()
    await expect(main_list(linus)).to_be_focused()


async def test_after_one_has_gone_to_the_newest_message(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    await demo.fill(place, [("dennis", f"message {number}") for number in range(40)])
    await demo.read_all("linus", place)
    linus = await visit("linus", place)
    log = main_list(linus)
    await expect(message(log, "message 39")).to_be_in_viewport()
    await log.evaluate("log => { log.scrollTop = 0; }")
    button = linus.locator("#to-newest")
    await expect(button).to_be_visible()
    await button.focus()
    await linus.keyboard.press("Enter")
    await expect(button).to_be_hidden()
    await expect(log).to_be_focused()


async def test_after_more_of_what_was_found_is_asked_for(visit: Visit, demo: Demo) -> None:
    """The button stays until it is known that there is no more."""
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, *(f"lunar {number}" for number in range(21)))
    linus = await visit("linus", place)
    held: list[Route] = []

    async def hold(route: Route) -> None:
        held.append(route)

    await linus.route("**/search/messages?*cursor=*", hold)
    await linus.get_by_label("Search messages").fill("lunar")
    button = linus.get_by_role("button", name="Load more")
    async with linus.expect_request("**/search/messages?*cursor=*"):
        await press(linus, button)
    await expect(button).to_be_focused()
    await expect(button).to_have_attribute("aria-disabled", "true")
    await held[0].continue_()
    await expect(button).to_be_hidden()
    found = linus.get_by_role("region", name="Search results").get_by_role("button")
    await expect(found.filter(has_text="lunar")).to_have_count(21)
    await expect(found.filter(has_text="lunar").last).to_be_focused()


async def test_enter_at_the_end_of_a_composed_word_sends_nothing(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    linus = await visit("linus", place)
    field = linus.get_by_label("Message", exact=True)
    await field.fill("にほん")
    press_enter = """(field, keyCode) => field.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", keyCode, bubbles: true, cancelable: true })
    )"""
    assert await field.evaluate(press_enter, 229), "it is the browser's"
    await expect(field).to_have_value("にほん")
    assert not await field.evaluate(press_enter, 13)
    await expect(field).to_have_value("")
    await expect(main_list(linus).locator(".message")).to_have_count(1)


async def test_at_midnight_what_was_today_is_yesterday(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    root = await demo.write("dennis", place, "Which engine?")
    reply = await demo.write("dennis", place, "The first?", threadRootMessageId=root["id"])
    at = datetime.fromisoformat(reply["createdAt"]).astimezone()
    await demo.read_all("linus", place)
    linus = await visit("linus")
    await linus.clock.install(time=at.replace(hour=23, minute=59, second=40))
    await linus.goto(f"http://127.0.0.1:{demo.port}/#linus/{place}")
    # It asks for them last of all: then nothing has it show anything anew.
    async with linus.expect_response("**/api/chat/threads?*") as answer:
        await linus.reload()
    await (await answer.value).finished()
    day = main_list(linus).locator(".day[role=separator]")
    time = linus.locator(f"#conversations li[data-id='{place}'] time")
    await expect(day).to_have_text("Today")
    await expect(linus.locator("#status")).to_have_text("Live")
    await linus.clock.fast_forward(21_000)
    await expect(day).to_have_text("Yesterday")
    await expect(time).to_have_text(f"{at:%a}")
    link = message(main_list(linus), "Which engine?").locator(".thread-link")
    await expect(link).to_contain_text(f"{at:%a}")


async def test_one_message_at_a_time_shows_its_buttons(visit: Visit, demo: Demo) -> None:
    """That of the keyboard, until the mouse moves."""
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, "one", "two", "three")
    linus = await visit("linus", place)
    log = main_list(linus)
    shown = log.locator(".toolbar:visible")
    await message(log, "one").hover()
    await expect(shown).to_have_count(1)
    await log.focus()
    await linus.keyboard.press("ArrowUp")
    await expect(message(log, "three").locator(".toolbar")).to_be_visible()
    await expect(shown).to_have_count(1)
    await message(log, "two").hover()
    await expect(message(log, "two").locator(".toolbar")).to_be_visible()
    await expect(shown).to_have_count(1)


async def test_a_message_has_a_context_menu(visit: Visit, demo: Demo) -> None:
    """Links, and selected text, have the browser's."""
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, "see https://example.org today", "two")
    linus = await visit("linus", place)
    row = message(main_list(linus), "see")
    menu = linus.get_by_role("menu", name="More actions")
    await row.get_by_role("link").click(button="right")
    await expect(menu).to_be_hidden()
    body = message(main_list(linus), "two").locator(".body")
    await body.dblclick()
    await body.click(button="right")
    await expect(menu).to_be_hidden()
    await linus.evaluate("getSelection().empty()")
    await body.dispatch_event("contextmenu")
    await expect(menu).to_be_visible()
    await menu.get_by_role("menuitem", name="Copy link").click()
    await expect(menu).to_be_hidden()
