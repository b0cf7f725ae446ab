"""One line of a message, or of what happens in a conversation, wherever it is shown in brief."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.acting import act, choose, main_list, message
from tests.browser.conftest import Visit
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

MARKED = "**Read** `this`:\n> a _quote_\n1. first\n- and more"
PLAIN = "Read this: a quote 1. first and more"


def row(page: Page, title: str) -> Locator:
    return page.locator("#conversations .row", has_text=title)


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
