"""One line of a message, or of what happens in a conversation, wherever it is shown in brief."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.acting import act, choose, main_list, message
from tests.browser.conftest import Visit
from tests.browser.serving import Demo
from tests.browser.test_sending_files import choose as choose_file
from tests.browser.test_sending_files import png

pytestmark = pytest.mark.asyncio(loop_scope="session")

MARKED = "**Read** `this`:\n> a _quote_\n1. first\n- and more"
PLAIN = "Read this: a quote 1. first and more"


def row(page: Page, title: str) -> Locator:
    named = page.locator(".row-title").get_by_text(title, exact=True)
    return page.locator("#conversations .row", has=named)


def preview(page: Page, title: str) -> Locator:
    return row(page, title).locator(".row-preview")


async def test_previews_are_without_markup(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, MARKED)
    linus = await visit("linus", place)
    await expect(preview(linus, "Dennis")).to_have_text(PLAIN)
    said = message(main_list(linus), "first")
    await act(said, "Reply")
    await expect(linus.locator("#composer .about-text")).to_have_text(PLAIN)
    await linus.get_by_label("Message", exact=True).fill("an answer")
    await linus.keyboard.press("Enter")
    await expect(main_list(linus).locator(".quote-text").last).to_have_text(PLAIN)
    await choose(said, "Forward")
    await expect(linus.get_by_role("dialog").locator(".excerpt")).to_have_text(PLAIN)
    await linus.keyboard.press("Escape")
    await linus.get_by_label("Search messages").fill("quote")
    await expect(linus.locator("#results .found-body").last).to_have_text(PLAIN)


async def test_the_list_shows_drafts_and_who_is_typing(visit: Visit, demo: Demo) -> None:
    place, other = await demo.direct("linus", "dennis"), await demo.direct("linus", "grace")
    await demo.send("dennis", place, "Are you there?")
    await demo.send("grace", other, "Hello")
    linus = await visit("linus", place)
    box = linus.get_by_label("Message", exact=True)
    await box.fill("an **unfinished** thought")
    await expect(preview(linus, "Dennis")).to_have_text("Are you there?")
    await row(linus, "Grace").click()
    await expect(preview(linus, "Dennis")).to_have_text("Draft: an unfinished thought")
    await linus.reload()
    await expect(preview(linus, "Dennis")).to_have_text("Draft: an unfinished thought")

    # It is that of all tabs.
    tab = await linus.context.new_page()
    await tab.goto(linus.url)
    await row(tab, "Dennis").click()
    await expect(tab.get_by_role("heading", name="Dennis")).to_be_visible()
    await tab.get_by_label("Message", exact=True).fill("another one")
    await demo.post("dennis", f"/conversations/{place}/typing")
    await expect(preview(linus, "Dennis")).to_have_text("Dennis is typing…")
    await demo.send("dennis", place, "Well?")
    await expect(preview(linus, "Dennis")).to_have_text("Draft: another one")
    await tab.close()
    await row(linus, "Dennis").click()
    await expect(preview(linus, "Dennis")).to_have_text("Well?")
    await expect(box).to_have_value("another one")


async def test_files_without_words_are_shown_alone(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    linus, dennis = await visit("linus", place), await visit("dennis", place)
    await choose_file(linus, "moth.png", "image/png", png(60, 30))
    await expect(linus.locator("#composer .files li")).to_have_attribute("data-state", "ready")
    await linus.get_by_label("Message", exact=True).press("Enter")
    log = main_list(dennis)
    await expect(log.get_by_role("img", name="moth.png")).to_be_visible()
    await expect(log.locator(".body")).to_be_hidden()
    await expect(preview(dennis, "Linus")).to_have_text("Photo")
    await choose_file(linus, "moth.png", "image/png", png(60, 30))
    await choose_file(linus, "one.txt", "text/plain", b"one")
    await expect(linus.locator("#composer .files [data-state=ready]")).to_have_count(2)
    await linus.get_by_label("Message", exact=True).fill("Look")
    await linus.keyboard.press("Enter")
    await expect(message(log, "Look").locator(".body")).to_be_visible()
    await expect(preview(dennis, "Linus")).to_have_text("Look")


async def test_a_look_at_a_person_is_not_seen_by_them(visit: Visit, demo: Demo) -> None:
    """The conversation is in their list with its first message."""
    linus, margaret = await visit("linus"), await visit("margaret")
    await linus.get_by_role("button", name="New message").click()
    await linus.get_by_role("dialog").get_by_role("button", name="Margaret").click()
    await expect(row(linus, "Margaret")).to_be_visible()
    # What is seen later than the conversation has been.
    await demo.send("grace", await demo.direct("margaret", "grace"), "hello")
    await expect(row(margaret, "Grace")).to_be_visible()
    await expect(row(margaret, "Linus")).to_have_count(0)
    await margaret.reload()
    await expect(row(margaret, "Grace")).to_be_visible()
    await expect(row(margaret, "Linus")).to_have_count(0)
    await linus.get_by_label("Message", exact=True).fill("Do you have a minute?")
    await linus.keyboard.press("Enter")
    await expect(row(margaret, "Linus")).to_contain_text("Do you have a minute?")
