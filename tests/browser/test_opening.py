"""Opening the page and a conversation: few requests, and where one has left off."""

import asyncio

import pytest
from playwright.async_api import Page, Request, expect

from tests.browser.acting import HURRY, main_list
from tests.browser.conftest import Visit
from tests.browser.serving import Demo
from tests.support.people import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="session")

MOST_REQUESTS = 9
# Itself, its messages and its drafts.
MOST_FOR_A_CONVERSATION = 3
MANY = 1_100
MOST_AT_FIRST = 200
MOST_ON_A_SCREEN = 60


async def test_the_page_comes_with_few_requests(visit: Visit, demo: Demo) -> None:
    """With fifty conversations in the list and their last messages; then with one of them open."""
    for number in range(48):
        await demo.send("linus", await demo.group("linus", name=f"Group {number}"), "hello")
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, "Is it you?")
    linus = await visit("linus")
    await expect(linus.locator(".row-preview", has_text="You: hello").first).to_be_visible()
    await linus.add_init_script(f"({HURRY})()")
    closed = await requests_of_reload(linus)
    assert len(closed) <= MOST_REQUESTS, closed
    await linus.get_by_role("link", name="Dennis").click()
    await expect(main_list(linus)).to_contain_text("Is it you?")
    asked = await requests_of_reload(linus)
    assert len(asked) <= len(closed) + MOST_FOR_A_CONVERSATION, asked
    assert not [url for url in asked if "limit=1&" in url]
    async with linus.expect_response("**/conversations?*") as answer:
        await linus.reload()
    assert await (await answer.value).header_value("content-encoding") == "gzip"


async def requests_of_reload(page: Page) -> set[str]:
    """The addresses that are asked for until the page is whole again, without the parts that the
    browser keeps.

    Each counts once: what was asked for before the stream was open is asked for again once it is.
    """
    async with page.expect_response("**/threads?*"):
        await page.reload()
    asked: set[str] = set()

    def note(request: Request) -> None:
        if "/bundle/" not in request.url:
            asked.add(request.url)

    page.on("request", note)
    # The threads are asked for last, when the stream has been open for a while.
    async with page.expect_response("**/threads?*"), page.expect_response("**/conversations?*"):
        await page.reload()
    await expect(page.locator(".row-preview", has_text="You: hello").first).to_be_visible()
    await expect(page.locator("#app")).to_have_attribute("data-status", "live")
    return asked


async def test_it_works_without_the_bundle(visit: Visit, demo: Demo) -> None:
    linus = await visit("linus")
    await linus.goto(f"http://127.0.0.1:{demo.port}/?modules#linus")
    await expect(linus.get_by_role("link", name="Engine room")).to_be_visible()


async def filled(demo: Demo, count: int) -> str:
    place = await demo.direct("linus", "dennis")
    await demo.fill(place, [("dennis", f"message {number}") for number in range(count)])
    return place


async def test_it_opens_at_the_first_unread_message(visit: Visit, demo: Demo) -> None:
    place = await filled(demo, 10)
    await demo.read_all("linus", place)
    await demo.fill(place, [("dennis", f"news {number}") for number in range(260)])
    linus = await visit("linus")
    line = linus.get_by_text("260 new messages")
    log = main_list(linus)
    # What is on the screen is read, and what one scrolls to; what is further down is not.
    await linus.get_by_role("link", name="Dennis").click()
    await expect(line).to_be_in_viewport()
    await expect(log.get_by_text("news 0", exact=True)).to_be_in_viewport()
    await expect(log.get_by_text("news 259", exact=True)).not_to_be_in_viewport()
    assert await unread_at_most(259, demo, place) > 230
    # Around the first unread message, half a page is loaded at first.
    await log.get_by_text("news 22", exact=True).scroll_into_view_if_needed()
    assert await unread_at_most(260 - 22, demo, place) > 200
    await expect(linus.get_by_role("button", name="to the newest message")).to_be_visible()

    await log.evaluate("(node) => node.scrollTo(0, 0)")
    await linus.get_by_role("button", name="Mark as read").click()
    await unread_at_most(0, demo, place)
    await expect(line).to_be_attached()  # Nobody is taken away from what they read.
    await expect(log.get_by_text("news 259", exact=True)).not_to_be_in_viewport()


async def unread_at_most(most: int, demo: Demo, place: str) -> int:
    """The number of unread messages, once there are no more: a page on a busy machine may mark them
    in several steps."""
    async with asyncio.timeout(PATIENCE):
        while (count := await demo.unread("linus", place)) > most:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return count


@pytest.mark.parametrize("read", [0, 30])
async def test_it_opens_there_however_many_follow(visit: Visit, demo: Demo, read: int) -> None:
    """Also if nothing was ever read; and what nobody has seen is not marked."""
    place = await demo.direct("linus", "dennis")
    if read:
        await demo.fill(place, [("dennis", f"message {number}") for number in range(read)])
        await demo.read_all("linus", place)
    await demo.fill(place, [("dennis", f"news {number}") for number in range(MANY)])
    linus = await visit("linus")
    asked: list[str] = []
    linus.on("request", lambda request: asked.append(request.url))
    log = main_list(linus)
    async with linus.expect_response("**/read?*"):
        await linus.get_by_role("link", name="Dennis").click()
        await expect(linus.get_by_text(f"{MANY:,} new messages")).to_be_in_viewport()
        await expect(log.get_by_text("news 0", exact=True)).to_be_in_viewport()
        await expect(log.get_by_text("news 4", exact=True)).to_be_in_viewport()
        assert await log.locator(".message").count() <= MOST_AT_FIRST
    first = next(url for url in asked if f"/{place}/messages?" in url)
    assert "around" in first
    assert await demo.unread("linus", place) > MANY - MOST_ON_A_SCREEN


async def test_the_last_read_one_may_be_in_a_thread(visit: Visit, demo: Demo) -> None:
    """Opened by a link that leads further down than the list is loaded, its place is unknown."""
    place = await demo.direct("linus", "dennis")
    root = await demo.write("dennis", place, "What do you think?")
    reply = await demo.write("dennis", place, "I like it", threadRootMessageId=root["id"])
    await demo.post("linus", f"/conversations/{place}/read", messageId=reply["id"])
    await demo.fill(place, [("dennis", f"news {number}") for number in range(MANY)])
    for number in range(51):
        await demo.group("linus", name=f"Group {number}")
    linus = await visit("linus", place)
    await expect(linus.get_by_text(f"{MANY:,} new messages")).to_be_in_viewport()
    await expect(main_list(linus).get_by_text("news 0", exact=True)).to_be_in_viewport()


async def test_with_few_it_opens_at_the_end(visit: Visit, demo: Demo) -> None:
    place = await filled(demo, 60)
    await demo.read_all("linus", place)
    await demo.send("dennis", place, "news 0", "news 1")
    linus = await visit("linus")
    await linus.get_by_role("link", name="Dennis").click()
    await expect(linus.get_by_text("2 new messages")).to_be_in_viewport()
    await expect(linus.get_by_text("news 1", exact=True).last).to_be_in_viewport()
    await unread_at_most(0, demo, place)


async def test_the_title_counts_what_is_further_down_too(visit: Visit, demo: Demo) -> None:
    place = await filled(demo, 7)
    for number in range(60):
        await demo.group("linus", name=f"Group {number}")
    linus = await visit("linus")
    await expect(linus.locator(".row")).to_have_count(50)
    # Three are in the sample conversation.
    await expect(linus).to_have_title("(10) Linus")
    await demo.read_all("linus", place)
    await expect(linus).to_have_title("(3) Linus")
