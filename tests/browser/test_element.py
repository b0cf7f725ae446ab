"""<chat-aio> in a page of somebody else's, which forbids styles and scripts within it."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Visit
from tests.browser.hosting import Host

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_two_people_talk(host: Host, open_page: Visit) -> None:
    ada, grace = await open_page(), await open_page()
    await host.visit(ada, "ada")
    await host.visit(grace, "grace")
    await ada.get_by_role("button", name="Ask Grace").click()
    await ada.get_by_label("Message", exact=True).fill(
        "Do you ship to *Mars*? https://example.org/x."
    )
    await ada.keyboard.press("Enter")
    await expect(ada.locator(".message")).to_have_count(1)
    await expect(grace.locator("#unread")).to_have_text("1")
    await grace.get_by_role("button", name="Ada Lovelace").click()
    await grace.get_by_label("Message", exact=True).fill("We do")
    await grace.keyboard.press("Enter")
    await expect(ada.locator(".message")).to_have_count(2)
    await ada.locator(".message").last.hover()
    await expect(grace.locator("#unread")).to_have_text("0")
