"""How it looks and is operated: on a phone, in the dark, with the keyboard."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
SHOWN_WITH = {"ink": "surface", "muted": "paper", "accent": "surface", "danger": "surface"}
READABLE = 4.5


async def fits(page: Page) -> bool:
    """Whether nothing is wider than the screen."""
    return bool(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


async def test_on_a_phone_there_are_two_screens(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", conversation_id, "unbreakable" * 30)
    linus = await visit("linus", **PHONE)
    conversations = linus.get_by_role("navigation", name="Conversations")
    await expect(conversations).to_be_visible()
    await expect(linus.get_by_role("log")).to_be_hidden()
    assert await fits(linus)

    await linus.get_by_role("link", name="Dennis").tap()
    await expect(linus.get_by_role("log")).to_contain_text("unbreakable")
    await expect(conversations).to_be_hidden()
    await expect(linus.get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)
    assert await fits(linus)

    await linus.get_by_role("link", name="Back to the conversations").tap()
    await expect(conversations).to_be_visible()
    await expect(linus.get_by_role("log")).to_be_hidden()


async def test_a_person_is_picked_first(visit: Visit) -> None:
    page = await visit("")
    await expect(page.get_by_role("heading", name="Who are you today?")).to_be_visible()
    await page.get_by_role("link", name="Grace").click()
    await expect(page.locator("#my-name")).to_have_text("Grace")
    await expect(page).to_have_url(re.compile(r"#grace$"))

    await page.get_by_role("link", name="Switch to someone else").click()
    await expect(page.get_by_role("heading", name="Who are you today?")).to_be_visible()


async def test_the_keyboard_is_enough(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", conversation_id, "hello")
    linus = await visit("linus")
    await linus.get_by_role("link", name="Dennis").focus()
    await linus.keyboard.press("Enter")
    await expect(linus.get_by_label("Message", exact=True)).to_be_focused()
    await linus.keyboard.type("hello to you")
    await linus.keyboard.press("Enter")
    await expect(linus.locator("[data-state=sent]").last).to_contain_text("hello to you")
    await expect(linus.get_by_label("Message", exact=True)).to_be_focused()
    await linus.keyboard.press("Shift+Tab")
    await expect(linus.get_by_role("log")).to_be_focused()

    await linus.get_by_role("button", name="New group").press("Enter")
    await expect(linus.get_by_role("dialog", name="New group")).to_be_visible()
    await linus.keyboard.press("Escape")
    await expect(linus.get_by_role("dialog")).to_be_hidden()
    await expect(linus.get_by_role("button", name="New group")).to_be_focused()


async def test_a_draft_waits_in_its_conversation(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", conversation_id)
    await linus.get_by_label("Message", exact=True).fill("not yet")
    await linus.get_by_role("link", name="Engine room").click()
    await expect(linus.get_by_role("heading", name="Engine room")).to_be_visible()
    await expect(linus.get_by_label("Message", exact=True)).to_have_value("")

    await linus.go_back()
    await expect(linus.get_by_label("Message", exact=True)).to_have_value("not yet")


async def test_a_conversation_of_others_is_not_shown(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    conversation_id = await demo.direct("ada", "grace")
    linus = await visit("linus", conversation_id)
    await expect(linus.locator("#notice")).to_have_text("That conversation is not open to you.")
    await expect(linus).to_have_url(re.compile(r"#linus$"))


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
async def test_text_can_be_read(visit: Visit, color_scheme: str) -> None:
    linus = await visit("linus", color_scheme=color_scheme)
    for text, ground in (*SHOWN_WITH.items(), ("on-accent", "accent"), ("ink", "own")):
        ratio = contrast(await color_of(linus, text), await color_of(linus, ground))
        assert ratio >= READABLE, f"{text} on {ground} is {ratio:.2f}"


async def color_of(page: Page, name: str) -> list[int]:
    """The red, green and blue of a custom property, as the page resolves it."""
    await page.evaluate("name => { document.body.style.color = `var(--${name})`; }", name)
    text = await page.evaluate("getComputedStyle(document.body).color")
    return [int(each) for each in re.findall(r"\d+", text)]


def contrast(first: list[int], second: list[int]) -> float:
    """As WCAG defines it: from 1 to 21."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: list[int]) -> float:
    parts = [each / 255 for each in color]
    linear = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
