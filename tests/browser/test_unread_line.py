"""A log that opens at the line of unread messages stays there, however near its end is."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.acting import choose, main_list, message, write
from tests.browser.conftest import Visit
from tests.browser.fonts import BOTH_FONTS
from tests.browser.places import visit as visit
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

UNREAD = 30
WIDTH = 1280
BELOW_PX = pytest.mark.parametrize(
    ("visit", "below", "font"),
    [
        ("page", 2, "wide"),
        ("element", 58, "wide"),
        pytest.param("page", 30, "narrow", marks=pytest.mark.long),
        pytest.param("page", 58, "wide", marks=pytest.mark.long),
        pytest.param("element", 2, "wide", marks=pytest.mark.long),
        pytest.param("element", 30, "narrow", marks=pytest.mark.long),
    ],
    indirect=["visit"],
)
"""How much of the unread messages does not fit: less than what counts as near the end."""
HEIGHT_OF_UNREAD = """
    (log) => {
      const line = log.querySelector(".unread-mark");
      const margin = parseFloat(getComputedStyle(line).scrollMarginTop);
      return [log.scrollHeight - line.offsetTop + margin, innerHeight - log.clientHeight];
    }
"""
"""The unread messages, and what the window has besides the log."""
DISTANCE = "(log) => log.scrollHeight - log.scrollTop - log.clientHeight"


async def changed(page: Page) -> None:
    """Two frames later: the page has taken up what it has been sent, and scrolled."""
    await page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


@BELOW_PX
async def test_it_stays_in_view(visit: Visit, demo: Demo, below: int) -> None:
    place = await demo.group("dennis", "linus", "grace", name="Ship")
    await demo.fill(place, [("dennis", f"message {number}") for number in range(40)])
    for reader in ("linus", "grace"):
        await demo.read_all(reader, place)
    await demo.fill(place, [("dennis", f"news {number}") for number in range(UNREAD)])
    linus = await visit("linus", place)
    await expect(linus.get_by_text(f"{UNREAD} new messages")).to_be_in_viewport()
    size = await main_list(linus).evaluate(HEIGHT_OF_UNREAD)
    grace = await visit("grace")
    await grace.set_viewport_size({"width": WIDTH, "height": round(sum(size)) - below})
    await grace.get_by_role("link", name="Ship").click()
    await stays_at_its_line(grace, main_list(grace), grace.get_by_text(f"{UNREAD} new messages"))

    await demo.send("dennis", place, "one more")
    await expect(grace.get_by_role("button", name="to the newest message")).to_be_visible()
    await expect(main_list(grace).get_by_text("one more", exact=True)).to_be_attached()
    await stays_at_its_line(grace, main_list(grace), grace.get_by_text(f"{UNREAD} new messages"))

    # Until the reader goes to the end: then it follows again.
    await write(grace, "an answer")
    await expect(main_list(grace).get_by_text("an answer", exact=True)).to_be_in_viewport()
    await demo.send("dennis", place, "the end")
    await expect(main_list(grace).get_by_text("the end", exact=True)).to_be_in_viewport(ratio=1)


async def stays_at_its_line(page: Page, log: Locator, line: Locator) -> None:
    await expect(line).to_be_in_viewport()
    assert await log.evaluate(DISTANCE) > 0
    await changed(page)
    await expect(line).to_be_in_viewport()


@BOTH_FONTS
async def test_while_the_log_changes_its_size(visit: Visit, demo: Demo) -> None:
    """As with a phone's keyboard that opens and closes; what comes then is no reader's doing."""
    place = await demo.group("dennis", "linus", name="Ship")
    await demo.fill(place, [("dennis", f"message {number}") for number in range(40)])
    await demo.read_all("linus", place)
    await demo.fill(place, [("dennis", f"news {number}") for number in range(UNREAD)])
    linus = await visit("linus", place, viewport={"width": WIDTH, "height": 720})
    log, line = main_list(linus), linus.get_by_text(f"{UNREAD} new messages")
    await expect(line).to_be_in_viewport()
    height = round(sum(await log.evaluate(HEIGHT_OF_UNREAD)))
    for now in (height - 30, height + 80, height - 30, 400):
        await linus.set_viewport_size({"width": WIDTH, "height": now})
        await changed(linus)
        await demo.post("dennis", f"/conversations/{place}/typing")
        await expect(linus.locator("#typing")).to_contain_text("Dennis")
        await expect(line).to_be_in_viewport()


async def test_a_message_is_marked_as_unread(visit: Visit, demo: Demo) -> None:
    """It stays so, also when more comes, until the conversation is opened again."""
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, "one", "two", "three")
    await demo.read_all("linus", place)
    linus = await visit("linus", place)
    badge = linus.locator("#conversations .row", has_text="Dennis").locator(".badge")
    log = main_list(linus)
    await choose(message(log, "two"), "Mark as unread")
    await expect(badge).to_have_text("2 unread")
    await expect(log.locator(".unread-mark + .message")).to_contain_text("two")
    await demo.send("dennis", place, "four")
    await expect(badge).to_have_text("3 unread")
    assert await demo.unread("linus", place) == 3
    await linus.get_by_role("link", name="Engine room").click()
    await expect(badge).to_have_text("3 unread")
    await linus.get_by_role("link", name="Dennis").click()
    await expect(log.get_by_text("3 new messages")).to_be_visible()
    await expect(badge).to_be_hidden()
