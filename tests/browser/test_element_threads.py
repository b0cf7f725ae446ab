"""<chat-aio>: threads beside the conversation, or over it."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from chat_aio.client import ChatClient
from tests.browser.acting import act, hurry
from tests.browser.conftest import Visit
from tests.browser.embedding import MADE, composer, messages, say
from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host
from tests.browser.looking import Looking, fits
from tests.browser.serving import Demo
from tests.support.people import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="session")

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
WIDE = {"viewport": {"width": 1200, "height": 800}}

MADE_IN_DEMO = """async ([as, id]) => {
  const { Chat } = await import("/browser/chat.js");
  await import("/browser/element.js");
  const made = document.createElement("chat-aio");
  made.chat = new Chat("/api/chat", { query: { as } });
  made.setAttribute("features", "inbox");
  made.setAttribute("user", as);
  made.setAttribute("conversation", id);
  document.body.append(made);
}"""
NARROWED = """() => {
  document.querySelector("chat-aio").style.inlineSize = "50rem";
  // All of it is shown anew before the browser says that there is less room.
  document.dispatchEvent(new Event("visibilitychange"));
}"""
LIVE = "document.querySelector('chat-aio').store.state().status === 'live'"


def thread(page: Page) -> Locator:
    return page.get_by_role("region", name="Thread")


def replies(page: Page) -> Locator:
    """The root is the first of them."""
    return page.get_by_role("log", name="Thread messages").locator(".message")


def reply_field(page: Page) -> Locator:
    return page.get_by_label("Message in the thread", exact=True)


async def embed(page: Page, conversation_id: str) -> None:
    await page.evaluate(MADE, [{"user": "ada", "conversation": conversation_id}, {}])
    await page.wait_for_function("heard.some(([, { status }]) => status === 'live')")


async def begin_thread(row: Locator) -> None:
    await act(row, "Reply in thread")


async def answer(person: ChatClient, root: Any, body: str) -> Any:
    return await person.send_message(root.conversation_id, body, thread_root_message_id=root.id)


async def test_each_thread_has_a_draft_and_the_focus_goes_back(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        for body in ("one", "two"):
            await answer(grace, await grace.send_message(direct.id, body), f"about {body}")
        await embed(ada, direct.id)
        await composer(ada).fill("to all")
        links = [messages(ada).nth(at).locator(".thread-link") for at in (0, 1)]
        await links[0].click()
        await expect(replies(ada).last.locator(".body")).to_have_text("about one")
        await reply_field(ada).fill("begun")
        await ada.keyboard.press("Escape")
        await expect(thread(ada)).to_be_hidden()
        await expect(links[0]).to_be_focused()
        await links[1].click()
        await expect(replies(ada).last.locator(".body")).to_have_text("about two")
        await expect(reply_field(ada)).to_have_value("")
        await ada.get_by_role("link", name="Close the thread").click()
        await expect(links[1]).to_be_focused()
        await links[0].click()
        await expect(reply_field(ada)).to_have_value("begun")
        await ada.get_by_role("link", name="Close the thread").click()
        await expect(composer(ada)).to_have_value("to all")
        await begin_thread(messages(ada).first)
        await ada.get_by_role("link", name="Close the thread").click()
        await expect(messages(ada).first).to_be_focused()


async def test_where_it_is_narrow_the_thread_is_all_one_sees(host: Host, open_page: Visit) -> None:
    """And the conversation behind it is not read meanwhile."""
    page = await open_page(**PHONE)
    async with host.person("grace") as grace, host.person("ada") as herself:
        direct = await grace.get_or_create_conversation("ada")
        root = await grace.send_message(direct.id, "Which engine?")
        await host.empty(page, "ada")
        async with page.expect_response("**/read"):
            await embed(page, direct.id)
        await answer(grace, root, "The first?")
        looking = Looking(is_phone=True)
        await messages(page).first.locator(".thread-link").tap()
        await expect(replies(page)).to_have_count(2)
        await expect(composer(page)).to_be_hidden()
        await expect(messages(page).first).to_be_hidden()
        assert await fits(page)
        await looking.at(page, "thread")
        await grace.send_message(direct.id, "something else")
        await page.wait_for_function("heard.at(-1)[1].total === 1")
        assert (await herself.get_conversation(direct.id)).unread_count == 1
        await page.get_by_role("link", name="Close the thread").tap()
        await expect(composer(page)).to_be_visible()
        await page.wait_for_function("heard.at(-1)[1].total === 0")
        assert [fault for fault in looking.faults if "chat-aio" in fault] == []


async def test_where_there_is_room_it_stands_beside(host: Host, open_page: Visit) -> None:
    page = await open_page(**WIDE)
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await answer(grace, await grace.send_message(direct.id, "Which engine?"), "The first?")
        await host.empty(page, "ada")
        await embed(page, direct.id)
        await messages(page).first.locator(".thread-link").click()
        await expect(replies(page)).to_have_count(2)
        await expect(composer(page)).to_be_visible()
        await say(page, "to all")
        await expect(messages(page)).to_have_count(2)
        # What is on its way is not edited.
        await expect(messages(page).last).to_have_attribute("data-state", "sent")
        await expect(replies(page)).to_have_count(2)
        looking = Looking(is_phone=False)
        await replies(page).last.hover()
        await looking.at(page, "thread")
        await composer(page).press("ArrowUp")
        await expect(page.get_by_text("Editing your message")).to_be_visible()
        await looking.at(page, "edit")
        assert [fault for fault in looking.faults if "chat-aio" in fault] == []


async def test_who_is_at_the_end_stays_there_with_less_room(host: Host, open_page: Visit) -> None:
    page = await open_page(**WIDE)
    async with host.person("grace") as grace, host.person("ada") as herself:
        direct = await herself.get_or_create_conversation("grace")
        for number in range(20):
            await herself.send_message(direct.id, f"{number}: {'and so on ' * 30}")
        await host.empty(page, "ada")
        await embed(page, direct.id)
        await expect(messages(page).last).to_be_in_viewport()
        await page.evaluate(NARROWED)
        await begin_thread(messages(page).last)
        await expect(reply_field(page)).to_be_focused()
        await grace.send_message(direct.id, "just now")
        await expect(messages(page).get_by_text("just now", exact=True)).to_be_in_viewport()


async def test_another_conversation_closes_it(host: Host, open_page: Visit) -> None:
    page = await open_page(**WIDE)
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await answer(grace, await grace.send_message(direct.id, "Which engine?"), "The first?")
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
        await host.empty(page, "ada")
        await page.evaluate(MADE, [{"user": "ada"}, {}])
        await page.get_by_role("link", name="Grace Hopper").click()
        await messages(page).first.locator(".thread-link").click()
        await expect(replies(page)).to_have_count(2)
        await page.get_by_role("link", name="Engines").click()
        await expect(thread(page)).to_be_hidden()
        await expect(page.locator("#title")).to_have_text("Engines")
        await page.get_by_role("link", name="Grace Hopper").click()
        await expect(messages(page)).to_have_count(1)
        await expect(thread(page)).to_be_hidden()
        assert group.id != direct.id


async def test_what_is_read_in_a_thread_is_kept_for_itself(demo: Demo, open_page: Visit) -> None:
    """The demo's service has the inbox: the conversation is read, and the thread is not until it is
    looked at."""
    page = await open_page(**WIDE)
    place = await demo.direct("linus", "dennis")
    root = (await demo.write("linus", place, "Which engine?"))["id"]
    await page.goto(f"http://127.0.0.1:{demo.port}/people")
    await page.evaluate(MADE_IN_DEMO, ["linus", place])
    await page.wait_for_function(LIVE)
    # Who has looked at a thread for a moment has read it.
    await hurry(page)
    await demo.write("dennis", place, "The first?", threadRootMessageId=root)
    await expect(messages(page).first.locator(".thread-link")).to_contain_text("1 reply")

    async def come_to(unread: int, in_thread: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while True:
                if await counts() == (unread, in_thread):
                    return
                await asyncio.sleep(0.05)

    async def counts() -> tuple[int, int]:
        (shown,) = (await demo.get("linus", "/threads"))["threads"]
        return await demo.unread("linus", place), shown["unreadReplyCount"]

    await demo.write("dennis", place, "Or the second?")
    await come_to(0, 1)
    await messages(page).first.locator(".thread-link").click()
    await come_to(0, 0)
    path = f"/threads/{root}/read"
    long = "Or the third?\n" * 60
    await demo.write("dennis", place, long, threadRootMessageId=root)
    await come_to(0, 0)
    await page.get_by_role("log", name="Thread messages").evaluate("log => { log.scrollTop = 0; }")
    await expect(thread(page).locator(".to-newest")).to_be_visible()
    told: list[str] = []
    page.on("request", lambda request: told.append(request.url) if path in request.url else None)
    await page.clock.install()
    await demo.write("dennis", place, "Or the fourth?", threadRootMessageId=root)
    await expect(replies(page)).to_have_count(4)
    await page.clock.run_for(5_000)
    assert await page.evaluate("document.readyState") == "complete"
    assert told == []
    await come_to(0, 1)


async def test_where_one_cannot_write_it_is_closed_by_the_keyboard(
    demo: Demo, open_page: Visit
) -> None:
    """Also when that ends while it is open. In the demo's service conversations are frozen."""
    page = await open_page(**WIDE)
    group = await demo.group("linus", "dennis", name="Kernel")
    root = (await demo.write("linus", group, "Which engine?"))["id"]
    await demo.write("linus", group, "The first?", threadRootMessageId=root)
    await page.goto(f"http://127.0.0.1:{demo.port}/people")
    await page.evaluate(MADE_IN_DEMO, ["dennis", group])
    await page.wait_for_function(LIVE)
    link = messages(page).first.locator(".thread-link")
    await link.click()
    await expect(reply_field(page)).to_be_focused()
    await demo.patch("linus", f"/conversations/{group}", frozen=True)
    await expect(reply_field(page)).not_to_be_editable()
    await page.keyboard.press("Escape")
    await expect(thread(page)).to_be_hidden()
    await link.click()
    await expect(thread(page)).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(thread(page)).to_be_hidden()
