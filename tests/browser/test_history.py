"""Reading upwards: older pages come when the reader goes there, and the place is kept."""

import pytest
from playwright.async_api import Locator, expect

from tests.browser.acting import act, main_list, message
from tests.browser.conftest import Visit
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_history_comes_page_by_page(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    said = [f"message {number}" for number in range(130)]
    await demo.fill(conversation_id, [("linus", body) for body in said])
    linus = await visit("linus", conversation_id)
    await expect(linus.locator(".message")).to_have_count(50)
    await expect(linus.get_by_text("message 129", exact=True)).to_be_in_viewport()

    first = linus.get_by_text("message 80", exact=True)
    await first.scroll_into_view_if_needed()
    await expect(linus.locator(".message")).to_have_count(100)
    await expect(first).to_be_in_viewport()
    await linus.get_by_text("message 30", exact=True).scroll_into_view_if_needed()
    await expect(linus.locator(".message")).to_have_count(130)
    await expect(linus.locator(".message .body")).to_have_text(said)
    await expect(linus.get_by_text("This is the beginning")).to_be_attached()


async def test_who_reads_above_stays_there(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    await demo.fill(conversation_id, [("dennis", f"message {number}") for number in range(60)])
    await demo.read_all("linus", conversation_id)
    linus = await visit("linus", conversation_id)
    above = linus.get_by_text("message 12", exact=True)
    await above.scroll_into_view_if_needed()
    await expect(linus.locator(".message")).to_have_count(60)
    await expect(above).to_be_in_viewport()

    # The count is asked for a moment later: behind that answer nothing else is going on.
    async with linus.expect_response(f"**/conversations/{conversation_id}?as=linus"):
        await demo.send("dennis", conversation_id, "news")

    to_newest = linus.get_by_role("button", name="1 new, to the newest message", exact=True)
    await expect(to_newest).to_be_visible()
    await expect(above).to_be_in_viewport()
    assert await demo.unread("linus", conversation_id) == 1
    async with linus.expect_response("**/read?*"):
        await to_newest.click()
    await expect(linus.get_by_text("news", exact=True).last).to_be_in_viewport()
    await expect(to_newest).to_be_hidden()
    assert await demo.unread("linus", conversation_id) == 0


async def below(log: Locator) -> int:
    """How much of it is below what is in view."""
    height = "node.scrollHeight - node.scrollTop - node.clientHeight"
    return int(await log.evaluate(f"(node) => {height}"))


async def talked(demo: Demo) -> str:
    """A conversation of texts that have more lines where there is less room."""
    conversation_id = await demo.direct("linus", "dennis")
    said = (("dennis", f"{number}: {'and so on ' * 20}") for number in range(30))
    await demo.fill(conversation_id, said)
    await demo.read_all("linus", conversation_id)
    return conversation_id


async def test_who_is_at_the_end_stays_there_with_less_room(visit: Visit, demo: Demo) -> None:
    conversation_id = await talked(demo)
    linus = await visit("linus", conversation_id)
    log = main_list(linus)
    last = message(log, "29: and")
    await expect(last).to_be_in_viewport()
    for beside in ("thread", "details"):
        if beside == "thread":
            await act(last, "Reply in thread")
        else:
            await linus.locator("#to-details").click()
        await expect(linus.locator("#app")).to_have_attribute("data-beside", beside)
        assert await below(log) < 5, beside
        await demo.send("dennis", conversation_id, f"news with {beside}")
        await expect(log.get_by_text(f"news with {beside}", exact=True)).to_be_in_viewport()
        await expect(linus.locator(".row", has_text="Dennis").locator(".badge")).to_be_hidden()
        assert await below(log) < 5, beside
        await linus.keyboard.press("Escape")
        await expect(linus.locator("#app")).not_to_have_attribute("data-beside", beside)
        assert await below(log) < 5, beside


async def test_who_reads_above_stays_there_with_less_room(visit: Visit, demo: Demo) -> None:
    conversation_id = await talked(demo)
    linus = await visit("linus", conversation_id)
    log = main_list(linus)
    await expect(message(log, "29: and")).to_be_in_viewport()
    await log.hover()
    await linus.mouse.wheel(0, -400)
    await expect(linus.get_by_role("button", name="to the newest message")).to_be_visible()
    await linus.locator("#to-details").click()
    await expect(linus.locator("#app")).to_have_attribute("data-beside", "details")
    await demo.send("dennis", conversation_id, "news")
    await expect(linus.locator(".row", has_text="Dennis").locator(".badge")).to_be_visible()
    assert await below(log) > 300


async def test_the_list_of_conversations_has_pages_too(visit: Visit, demo: Demo) -> None:
    for number in range(60):
        await demo.group("linus", name=f"Group {number}")
    linus = await visit("linus")
    await expect(linus.locator(".row")).to_have_count(50)

    await linus.get_by_role("link", name="Group 10").scroll_into_view_if_needed()

    await expect(linus.locator(".row")).to_have_count(61)
    await expect(linus.locator(".row-title").last).to_have_text("Engine room")


async def test_the_place_where_one_has_left_is_kept(visit: Visit, demo: Demo) -> None:
    linus = await visit("linus", await talked(demo))
    log = main_list(linus)
    await expect(message(log, "29: and")).to_be_in_viewport()
    await log.evaluate("(node) => node.scrollTo(0, 300)")
    await linus.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
    )
    top = "(node) => { const { top } = node.getBoundingClientRect(); return top; }"
    rows = log.locator(".message")
    seen = rows.filter(visible=True).nth(5)
    name = await seen.get_attribute("data-id")
    before = await log.locator(f"[data-id='{name}']").evaluate(top)
    await linus.get_by_role("link", name="Engine room").click()
    await expect(log).to_contain_text("Welcome to the engine room!")
    await linus.go_back()
    again = log.locator(f"[data-id='{name}']")
    await expect(again).to_be_attached()
    assert abs(await again.evaluate(top) - before) < 2
    # What has come since is new: it opens there.
    await linus.get_by_role("link", name="Engine room").click()
    await expect(log).to_contain_text("Welcome to the engine room!")
    await demo.send("dennis", await demo.direct("linus", "dennis"), "something new")
    await linus.get_by_role("link", name="Dennis").click()
    await expect(log.get_by_text("something new", exact=True)).to_be_in_viewport()
