"""<chat-aio>: one's own messages are edited and deleted, others' are not."""

import asyncio

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.acting import act
from tests.browser.embedding import MADE, composer, messages, say
from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host
from tests.browser.looking import Looking
from tests.browser.serving import Complaints

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def embed(page: Page, conversation_id: str, **attributes: str) -> None:
    await page.evaluate(MADE, [{"user": "ada", "conversation": conversation_id, **attributes}, {}])


async def test_what_one_has_written_is_edited(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "Hello!")
        await embed(ada, direct.id)
        await say(ada, "I am fime")
        row = messages(ada).last
        await expect(row).to_have_attribute("data-state", "sent")
        await composer(ada).fill("something begun")
        await act(row, "Edit")
        await expect(composer(ada)).to_have_value("I am fime")
        await expect(composer(ada)).to_be_focused()
        await expect(ada.get_by_text("Editing your message")).to_be_visible()
        await composer(ada).fill("I am fine")
        await ada.get_by_role("button", name="Save").click()
        await expect(row.locator(".body")).to_have_text("I am fine")
        await expect(row.locator(".edited")).to_be_visible()
        await expect(composer(ada)).to_have_value("something begun")
        await expect(ada.get_by_text("Editing your message")).to_be_hidden()
        assert (await grace.list_messages(direct.id)).messages[0].body == "I am fine"


async def test_it_does_without_what_a_policy_forbids(host: Host, ada: Page) -> None:
    """In the page of the example, which wants trusted types: a thread, an edit, a deletion."""
    async with host.person("grace") as grace, host.person("ada") as herself:
        direct = await grace.get_or_create_conversation("ada")
        await herself.send_message(direct.id, "mine")
        await host.visit(ada, "ada")
        await ada.get_by_role("button", name="Grace Hopper").click()
        await act(messages(ada).first, "Reply in thread")
        await ada.get_by_label("Message in the thread").fill("a reply")
        await ada.keyboard.press("Enter")
        await expect(ada.get_by_role("log", name="Replies").locator(".message")).to_have_count(2)
        await ada.get_by_role("button", name="Close the thread").click()
        await expect(messages(ada).first.get_by_role("button", name="1 reply")).to_be_visible()
        await composer(ada).press("ArrowUp")
        await composer(ada).fill("changed")
        await ada.keyboard.press("Enter")
        await expect(messages(ada).first.locator(".body")).to_have_text("changed")
        await act(messages(ada).first, "Delete")
        await ada.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(messages(ada).first.locator(".body")).to_have_text("This message was deleted.")


async def test_the_last_one_is_edited_by_arrow_up(host: Host, ada: Page) -> None:
    """From an empty text; Escape ends it, and what was written then is not sent."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await embed(ada, direct.id)
        await say(ada, "mine")
        await say(ada, "gone")
        await expect(messages(ada)).to_have_count(2)
        await act(messages(ada).last, "Delete")
        await ada.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(ada.get_by_role("dialog")).to_be_hidden()
        await grace.send_message(direct.id, "hers")
        await expect(messages(ada)).to_have_count(3)
        await composer(ada).press("x")
        await composer(ada).press("ArrowUp")
        await expect(composer(ada)).to_have_value("x")
        await composer(ada).fill("")
        await composer(ada).press("ArrowUp")
        await expect(composer(ada)).to_have_value("mine")
        await composer(ada).press("!")
        await composer(ada).press("Escape")
        await expect(composer(ada)).to_have_value("")
        await expect(messages(ada).first.locator(".body")).to_have_text("mine")


async def test_others_messages_have_neither(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "hers")
        await embed(ada, direct.id)
        await messages(ada).first.hover()
        await expect(messages(ada).first.get_by_role("button", name="Reply in")).to_be_visible()
        for name in ("Edit", "Delete"):
            button = messages(ada).first.get_by_role("button", name=name, exact=True)
            await expect(button).to_have_count(0)
        await composer(ada).press("ArrowUp")
        await expect(composer(ada)).to_have_value("")


async def test_deleting_is_asked_for_once(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await embed(ada, direct.id)
        await say(ada, "a mistake")
        row = messages(ada).first
        await expect(row).to_have_attribute("data-state", "sent")
        dialog = ada.get_by_role("dialog", name="Delete this message?")
        await act(row, "Delete")
        await expect(dialog).to_be_visible()
        await ada.keyboard.press("Escape")
        await expect(dialog).to_be_hidden()
        await expect(row.locator(".body")).to_have_text("a mistake")
        await act(row, "Delete")
        looking = Looking(is_phone=False)
        await looking.at(ada, "dialog")
        assert [fault for fault in looking.faults if "chat-aio" in fault] == []
        await dialog.get_by_role("button", name="Delete").click()
        await expect(dialog).to_be_hidden()
        await expect(row.locator(".body")).to_have_text("This message was deleted.")
        await expect(row).to_be_focused()
        assert (await grace.list_messages(direct.id)).messages[0].deleted_at is not None


async def test_an_edit_that_is_refused_says_why(
    host: Host, ada: Page, complaints: Complaints
) -> None:
    """What was written stays to be written anew."""
    complaints.excuse("403")
    async with host.person("grace") as grace, host.person("ada") as herself:
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
        await herself.send_message(group.id, "mine")
        await embed(ada, group.id)
        row = messages(ada).first
        await expect(row).to_be_visible()
        await refuse(ada, "NOT_MESSAGE_SENDER")
        await act(row, "Edit")
        await composer(ada).fill("changed")
        await ada.keyboard.press("Enter")
        problem = ada.get_by_role("alert").filter(has_text="You can only change your own")
        await expect(problem).to_be_visible()
        await expect(composer(ada)).to_have_value("changed")
        await composer(ada).press("Escape")
        await expect(problem).to_be_hidden()
        await act(row, "Delete")
        dialog = ada.get_by_role("dialog")
        await dialog.get_by_role("button", name="Delete").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("You can only change your own")
        await expect(row.locator(".body")).to_have_text("mine")


async def refuse(page: Page, code: str) -> None:
    """As the service would after its rules have changed."""

    async def answer(route: object) -> None:
        if route.request.method in ("PATCH", "DELETE"):  # type: ignore[attr-defined]
            error = {"code": code, "message": "as the service says it"}
            await route.fulfill(status=403, json={"error": error})  # type: ignore[attr-defined]
        else:
            await route.continue_()  # type: ignore[attr-defined]

    await page.route("**/api/chat/messages/*", answer)


async def test_what_is_edited_is_deleted_meanwhile(host: Host, ada: Page) -> None:
    """In another window; what was begun before comes back."""
    async with host.person("grace") as grace, host.person("ada") as herself:
        direct = await grace.get_or_create_conversation("ada")
        sent = await herself.send_message(direct.id, "mine")
        await embed(ada, direct.id)
        await act(messages(ada).first, "Edit")
        await composer(ada).fill("too late")
        await ada.wait_for_function("heard.some(([, { status }]) => status === 'live')")
        await herself.delete_message(sent.id)
        await expect(ada.get_by_role("alert")).to_have_text("This message was deleted.")
        await expect(composer(ada)).to_have_value("")


async def test_an_edit_keeps_whom_it_mentions(host: Host, ada: Page) -> None:
    """Who is named no more is mentioned no more; who never was by name still is."""
    async with host.person("grace") as grace, host.person("ada") as herself:
        direct = await grace.get_or_create_conversation("ada")
        body = "@Grace Hopper, see this"
        await herself.send_message(direct.id, body, mentions=["grace", "ada"])
        await embed(ada, direct.id)
        await expect(messages(ada).locator(".mention")).to_have_text("@Grace Hopper")
        await composer(ada).press("ArrowUp")
        await composer(ada).fill("see this")
        await ada.keyboard.press("Enter")
        await expect(messages(ada).first.locator(".body")).to_have_text("see this")
        assert (await grace.list_messages(direct.id)).messages[0].mentions == ("ada",)


async def test_a_reply_waits_while_one_edits(host: Host, ada: Page) -> None:
    """With what it answers, whether the edit is saved or not, and however often one begins."""
    async with host.person("grace") as grace, host.person("ada") as herself:
        direct = await grace.get_or_create_conversation("ada")
        asked = await grace.send_message(direct.id, "How long is it?")
        await herself.send_message(direct.id, "mine")
        await herself.send_message(direct.id, "mine as well")
        await embed(ada, direct.id)
        await act(messages(ada).first, "Reply")
        await composer(ada).fill("So long")
        await act(messages(ada).nth(1), "Edit")
        await composer(ada).hover()
        await act(messages(ada).nth(2), "Edit")
        await composer(ada).press("Escape")
        await expect(composer(ada)).to_have_value("So long")
        await expect(ada.get_by_text("Replying to Grace Hopper")).to_be_visible()
        await composer(ada).hover()
        await act(messages(ada).nth(1), "Edit")
        await composer(ada).fill("changed")
        await composer(ada).press("Enter")
        await expect(composer(ada)).to_have_value("So long")
        await composer(ada).press("Enter")
        await expect(messages(ada)).to_have_count(4)
        await expect(messages(ada).last).to_have_attribute("data-state", "sent")
        sent = (await grace.list_messages(direct.id)).messages[0]
        assert (sent.body, sent.reply_to_message_id) == ("So long", asked.id)


async def test_a_slow_deletion_leaves_the_next_dialog_open(host: Host, ada: Page) -> None:
    """Which can be used at once, and the focus is not taken away from it."""
    async with host.person("grace") as grace, host.person("ada") as herself:
        direct = await grace.get_or_create_conversation("ada")
        await herself.send_message(direct.id, "the first")
        await herself.send_message(direct.id, "the second")
        await embed(ada, direct.id)
        held: asyncio.Queue[Route] = asyncio.Queue()
        await ada.route("**/api/chat/messages/*", held.put)
        dialog = ada.get_by_role("dialog")
        await act(messages(ada).first, "Delete")
        await dialog.get_by_role("button", name="Delete").click()
        async with asyncio.timeout(15):
            asked = await held.get()
        await ada.keyboard.press("Escape")
        await act(messages(ada).last, "Delete")
        await ada.unroute("**/api/chat/messages/*")
        await asked.continue_()
        gone = "This message was deleted."
        await expect(messages(ada).first.locator(".body")).to_have_text(gone)
        await ada.evaluate("fetch('/api/chat/conversations')")
        await expect(dialog).to_be_visible()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(messages(ada).last.locator(".body")).to_have_text(gone)
        await expect(dialog).to_be_hidden()


async def test_an_edit_that_is_refused_while_one_writes_something_else(
    host: Host, ada: Page, complaints: Complaints
) -> None:
    complaints.excuse("403")
    async with host.person("grace") as grace, host.person("ada") as herself:
        direct = await grace.get_or_create_conversation("ada")
        await herself.send_message(direct.id, "mine")
        await grace.send_message(direct.id, "hers")
        await embed(ada, direct.id)
        held: asyncio.Queue[Route] = asyncio.Queue()
        await ada.route("**/api/chat/messages/*", held.put)
        await act(messages(ada).first, "Edit")
        await composer(ada).fill("changed")
        await ada.keyboard.press("Enter")
        async with asyncio.timeout(15):
            asked = await held.get()
        await act(messages(ada).last, "Reply")
        await composer(ada).press_sequentially("So long")
        error = {"code": "NOT_MESSAGE_SENDER", "message": "as the service says it"}
        await asked.fulfill(status=403, json={"error": error})
        problem = ada.get_by_role("alert")
        await expect(problem).to_contain_text("What you changed before was not saved. You can")
        await expect(composer(ada)).to_have_value("So long")
        await expect(composer(ada)).to_be_editable()
