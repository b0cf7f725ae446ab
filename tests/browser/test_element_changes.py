"""<chat-aio>: what is done with messages in a page whose policy forbids much."""

import asyncio

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.acting import act, choose
from tests.browser.embedding import MADE, composer, messages
from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def embed(page: Page, conversation_id: str, **attributes: str) -> None:
    await page.evaluate(MADE, [{"user": "ada", "conversation": conversation_id, **attributes}, {}])


async def test_it_does_without_what_a_policy_forbids(host: Host, ada: Page) -> None:
    """In the page of the example, which wants trusted types: a thread, an edit, a deletion."""
    async with host.person("grace") as grace, host.person("ada") as herself:
        direct = await grace.get_or_create_conversation("ada")
        await herself.send_message(direct.id, "mine")
        await host.visit(ada, "ada")
        await ada.get_by_role("link", name="Grace Hopper").click()
        await act(messages(ada).first, "Reply in thread")
        await ada.get_by_label("Message in the thread").fill("a reply")
        await ada.keyboard.press("Enter")
        await expect(
            ada.get_by_role("log", name="Thread messages").locator(".message")
        ).to_have_count(2)
        await ada.get_by_role("link", name="Close the thread").click()
        await expect(messages(ada).first.get_by_role("button", name="1 reply")).to_be_visible()
        await composer(ada).press("ArrowUp")
        await composer(ada).fill("changed")
        await ada.keyboard.press("Enter")
        await expect(messages(ada).first.locator(".body")).to_have_text("changed")
        await choose(messages(ada).first, "Delete")
        await ada.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(messages(ada).first.locator(".body")).to_have_text("This message was deleted")


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
        await choose(messages(ada).first, "Delete")
        await dialog.get_by_role("button", name="Delete").click()
        async with asyncio.timeout(15):
            asked = await held.get()
        await ada.keyboard.press("Escape")
        await choose(messages(ada).last, "Delete")
        await ada.unroute("**/api/chat/messages/*")
        await asked.continue_()
        gone = "This message was deleted"
        await expect(messages(ada).first.locator(".body")).to_have_text(gone)
        await ada.evaluate("fetch('/api/chat/conversations')")
        await expect(dialog).to_be_visible()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(messages(ada).last.locator(".body")).to_have_text(gone)
        await expect(dialog).to_be_hidden()
