"""Threads and mentions of all conversations, and who asks to be let in."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.acting import hurry, main_list
from tests.browser.conftest import Visit
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_threads_tell_of_new_replies_until_they_are_seen(visit: Visit, demo: Demo) -> None:
    place = await demo.group("linus", "dennis", name="Kernel")
    root = await demo.write("linus", place, "Who takes the scheduler?")
    linus = await visit("linus")
    # Replies in quick succession lead to one request for the threads.
    await hurry(linus)
    threads = linus.get_by_role("link", name="Threads")
    await expect(threads).to_have_accessible_name("Threads")
    about = {"threadRootMessageId": root["id"]}
    await demo.write("dennis", place, "I do", **about)
    await demo.write("dennis", place, "tomorrow", **about)
    await expect(threads).to_have_accessible_name("Threads 1 unread")

    # Reading the conversation is not reading its thread.
    await linus.get_by_role("link", name="Kernel").click()
    await expect(main_list(linus).get_by_text("2 replies")).to_be_visible()
    await expect(linus.locator(".row", has_text="Kernel").locator(".badge")).to_be_hidden()
    await expect(threads).to_have_accessible_name("Threads 1 unread")

    await threads.click()
    item = linus.locator("#threads").get_by_role("button", name="Who takes the scheduler?")
    await expect(item).to_contain_text("2 new")
    await expect(item).to_contain_text("Kernel")
    await item.click()
    await expect(linus.locator("#thread").get_by_text("tomorrow")).to_be_visible()
    await expect(threads).to_have_accessible_name("Threads")

    await threads.click()
    await expect(item).not_to_contain_text("new")
    await linus.get_by_role("button", name="Unfollow the thread in Kernel").click()
    await expect(item).to_have_count(0)
    await expect(linus.get_by_text("No threads yet")).to_be_visible()


async def test_mentions_of_all_conversations(visit: Visit, demo: Demo) -> None:
    kernel = await demo.group("dennis", "linus", name="Kernel")
    said = await demo.write("dennis", kernel, "@Linus, look", mentions=["linus"])
    await demo.write("dennis", kernel, "nothing else")
    linus = await visit("linus")
    await hurry(linus)
    mentions = linus.get_by_role("link", name="Mentions")
    await expect(mentions).to_have_accessible_name("Mentions 1 unread")
    await mentions.click()
    item = linus.locator("#mentions").get_by_role("button", name="@Linus, look")
    await expect(item).to_contain_text("Kernel")
    await expect(item).to_contain_text("1 new")
    await item.click()
    await expect(linus.locator(f".message[data-id='{said['id']}']")).to_be_in_viewport()
    await expect(mentions).to_have_accessible_name("Mentions")
    await mentions.click()
    await expect(item).not_to_contain_text("new")
    await demo.write("dennis", kernel, "@Linus again", mentions=["linus"])
    await expect(linus.locator("#mentions li").first).to_contain_text("@Linus again")


async def test_admins_see_at_once_who_asks(visit: Visit, demo: Demo) -> None:
    """Also those who asked before the page was opened; no longer when all are answered."""
    made = {"userIds": [], "name": "Compilers", "visibility": "public", "joinPolicy": "approval"}
    answer = await demo.post("linus", "/conversations/group", **made)
    place = answer["conversation"]["id"]
    await demo.post("grace", f"/conversations/{place}/join")
    linus = await visit("linus")
    row = linus.locator(".row", has_text="Compilers")
    await expect(row.get_by_text("1 person asks to join")).to_be_attached()
    await demo.post("dennis", f"/conversations/{place}/join")
    await expect(row.get_by_text("2 people ask to join")).to_be_attached()
    await row.click()
    await linus.get_by_role("link", name="Details · 2 people ask to join").click()
    requests = linus.locator("#details .requests li")
    await expect(requests).to_have_count(2)
    await linus.get_by_role("button", name="Approve Grace").click()
    await expect(requests).to_have_count(1)
    await linus.get_by_role("button", name="Approve Dennis").click()
    await expect(requests).to_have_count(0)
    await expect(linus.get_by_role("link", name="Details", exact=True)).to_be_visible()
    await expect(row.locator(".waiting-mark")).to_be_hidden()
    await expect(linus.locator("#details").get_by_text("3 people")).to_be_visible()


async def test_ctrl_k_leads_to_people_conversations_and_messages(visit: Visit, demo: Demo) -> None:
    kernel = await demo.group("linus", "dennis", name="Kernel work")
    said = await demo.write("dennis", kernel, "the scheduler is fair now")
    linus = await visit("linus")
    heading = linus.get_by_role("heading", level=1)
    field = linus.get_by_role("combobox", name="Go to")
    found = linus.get_by_role("listbox", name="Found").get_by_role("option")

    async def go(text: str, expected: str) -> None:
        await linus.keyboard.press("Control+k")
        await expect(field).to_be_focused()
        await field.fill(text)
        await expect(found.first).to_contain_text(expected)
        await linus.keyboard.press("Enter")
        await expect(field).to_be_hidden()

    await go("kern", "Kernel work")
    await expect(heading.get_by_text("Kernel work")).to_be_visible()
    await go("margar", "Begin a conversation")
    await expect(heading.get_by_text("Margaret")).to_be_visible()
    await go("scheduler", "the scheduler is fair now")
    message = linus.locator(f".message[data-id='{said['id']}']")
    await expect(message).to_have_attribute("data-pointed", "")

    await linus.keyboard.press("Control+k")
    await field.fill("e")
    await expect(found.nth(1)).to_be_visible()
    await linus.keyboard.press("ArrowDown")
    await expect(found.nth(1)).to_have_attribute("aria-selected", "true")
    await field.fill("nothing like that")
    await expect(linus.get_by_text("Nothing was found.")).to_be_visible()
    await linus.keyboard.press("Escape")
    await expect(field).to_be_hidden()


async def test_ctrl_k_means_what_is_typed_however_quickly(visit: Visit, demo: Demo) -> None:
    for other in ("dennis", "grace"):
        await demo.send(other, await demo.direct("linus", other), "Hello")
    linus = await visit("linus")
    await expect(linus.get_by_role("link", name="Grace")).to_be_visible()
    await linus.keyboard.press("Control+k")
    await expect(linus.locator("#palette-found li").first).to_contain_text("Grace")
    # Without a pause, as the keys of a hand that knows where it goes.
    await linus.evaluate(
        """() => {
          const field = document.querySelector("chat-aio").shadowRoot
            .querySelector(".palette-dialog input");
          field.value = "dennis";
          field.dispatchEvent(new Event("input", { bubbles: true }));
          field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
        }"""
    )
    await expect(linus.get_by_role("heading", name="Dennis", exact=True)).to_be_visible()


async def test_threads_are_asked_for_again_while_replies_do_not_end(empty: Page) -> None:
    script = """async () => {
        const { Inbox } = await import("/browser/inbox.js");
        const asked = [];
        const chat = {
          inbox: { listThreads: async () => { asked.push(1); return { threads: [] }; } },
        };
        const paused = new Map();
        let count = 0;
        globalThis.setTimeout = (work) => { paused.set(++count, work); return count; };
        globalThis.clearTimeout = (id) => paused.delete(id);
        const inbox = new Inbox(chat, { userId: "ada", changed() {} }, { know() {} });
        inbox.receive({ threadRootMessageId: "m1" });
        const first = [...paused.values()];
        inbox.receive({ threadRootMessageId: "m1" });
        const stays = [...paused.values()].includes(first[0]);
        for (const work of paused.values()) work();
        return [stays, paused.size, asked.length];
    }"""
    assert await empty.evaluate(script) == [True, 1, 1]
