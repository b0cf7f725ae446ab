"""<chat-aio>: files are seen in messages, and sent by button, paste and drop."""

import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route, expect

from chat_aio.client import ChatClient
from tests.browser.acting import hurry
from tests.browser.conftest import Visit
from tests.browser.embedding import MADE, composer, messages
from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host
from tests.browser.serving import Cable, Complaints
from tests.browser.test_sending_files import COUNT_HELD, DROP, png

pytestmark = pytest.mark.asyncio(loop_scope="session")

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}

FORGETFUL = """() => {
  window.isForgotten = false;
  document.querySelector("chat-aio").token = () => {
    if (isForgotten) throw new Error("Who is it?");
    return "secret";
  };
}"""
"""A page that does not always know who is calling."""


def waiting(page: Page) -> Locator:
    return page.get_by_role("list", name="Files to send").get_by_role("listitem")


async def embed(page: Page, conversation_id: str, **more: str) -> None:
    given = {"user": "ada", "conversation": conversation_id, "features": "files", **more}
    await page.evaluate(MADE, [given, {}])
    await page.wait_for_function("heard.some(([, { status }]) => status === 'live')")


async def send_moth(person: ChatClient, conversation_id: str) -> Any:
    moth = await person.attachments.upload(conversation_id, png(600, 300), name="moth.png")
    notes = await person.attachments.upload(conversation_id, b"some words", name="notes.txt")
    ids = [moth.id, notes.id]
    return await person.send_message(conversation_id, "Look!", attachment_ids=ids)


async def test_files_of_a_message_are_shown(host: Host, ada: Page) -> None:
    """Also where none can be sent; a deleted message has none."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        sent = await send_moth(grace, direct.id)
        await ada.evaluate(MADE, [{"user": "ada", "conversation": direct.id}, {}])
        row = messages(ada).first
        image = row.get_by_role("img", name="moth.png")
        await expect(image).to_have_js_property("naturalWidth", 320)
        size = await image.evaluate("node => [node.clientWidth, node.clientHeight]")
        assert size == [320, 160]
        await row.get_by_role("link", name="moth.png").click()
        gallery = ada.get_by_role("dialog", name="moth.png")
        await expect(gallery.get_by_role("img")).to_have_js_property("naturalWidth", 600)
        await ada.keyboard.press("Escape")
        link = row.get_by_role("link", name="notes.txt")
        await expect(link).to_have_text("notes.txt 10 B")
        async with ada.expect_download() as download:
            await link.click()
        assert (await (await download.value).path()).read_text() == "some words"
        await expect(ada.get_by_role("button", name="Add files")).to_have_count(0)
        await grace.delete_message(sent.id)
        await expect(row.locator(".body")).to_have_text("This message was deleted")
        await expect(row.get_by_role("link")).to_have_count(0)


async def test_where_a_header_says_who_is_calling(host: Host, open_page: Visit) -> None:
    """Then files are brought by script, and the browser holds no more than what is shown."""
    page = await open_page(bypass_csp=True)
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await send_moth(grace, direct.id)
        await host.empty(page, "ada")
        await page.evaluate(COUNT_HELD)
        await embed(page, direct.id, token="secret")
        row = messages(page).first
        image = row.get_by_role("img", name="moth.png")
        await expect(image).to_have_js_property("naturalWidth", 320)
        assert (await image.get_attribute("src") or "").startswith("blob:")
        async with page.expect_download() as download:
            await row.get_by_role("link", name="notes.txt").click()
        assert (await (await download.value).path()).read_text() == "some words"
        assert await page.evaluate("held.size") == 2
        await page.evaluate("document.querySelector('chat-aio').remove()")
        assert await page.evaluate("held.size") == 0


async def test_what_is_dropped_where_nothing_is_open_goes_nowhere(
    host: Host, open_page: Visit
) -> None:
    """And not into what was open before, which is beside the list no more."""
    page = await open_page(viewport={"width": 1200, "height": 800})
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "Hello!")
        await host.empty(page, "ada")
        await page.evaluate(MADE, [{"user": "ada", "features": "files"}, {}])
        row = page.get_by_role("link", name="Grace Hopper")
        await row.click()
        await expect(composer(page)).to_be_focused()
        await page.evaluate("document.querySelector('chat-aio').open(null)")
        await expect(page.get_by_text("Pick a conversation")).to_be_visible()
        await page.locator(".nothing").evaluate(DROP, ["one.txt"])
        await row.click()
        await expect(composer(page)).to_be_visible()
        await expect(waiting(page)).to_have_count(0)


async def test_files_that_could_not_be_brought_come_later(
    host: Host, open_page: Visit, complaints: Complaints
) -> None:
    """When the stream is live again, or one of them is pressed."""
    complaints.excuse("503")
    page = await open_page(bypass_csp=True)
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await send_moth(grace, direct.id)
        await host.empty(page, "ada")
        refused: list[str] = []

        async def refuse(route: Route) -> None:
            refused.append(route.request.url)
            error = {"code": "STORAGE_UNAVAILABLE", "message": "as the service says it"}
            await route.fulfill(status=503, json={"error": error})

        await page.route("**/thumbnail", refuse)
        async with page.expect_response("**/thumbnail"):
            await embed(page, direct.id, token="secret")
        image = messages(page).first.get_by_role("img", name="moth.png")
        await expect(image).not_to_have_attribute("src", re.compile("."))
        await page.unroute("**/thumbnail")
        async with page.expect_download():
            await messages(page).first.get_by_role("link", name="notes.txt").click()
        await expect(image).to_have_js_property("naturalWidth", 320)
        assert refused != []


async def test_who_is_calling_is_known_later(
    host: Host, open_page: Visit, host_cable: Cable, complaints: Complaints
) -> None:
    """Nothing is thrown into the page meanwhile; all is there when the stream is live again."""
    complaints.excuse_network()
    complaints.excuse("Failed to load resource")
    page = await open_page(bypass_csp=True)
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "Wait…")
        await host.empty(page, "ada", port=host_cable.port)
        async with page.expect_response("**/read"):
            await embed(page, direct.id, token="secret")
        await page.evaluate(FORGETFUL)
        await page.evaluate("isForgotten = true")
        await send_moth(grace, direct.id)
        row = messages(page).last
        await expect(row.get_by_role("link", name="notes.txt")).to_have_attribute("href", "#")
        await row.get_by_role("link", name="notes.txt").click()
        await expect(page.get_by_role("alert")).to_have_text("The chat is out of reach.")
        await hurry(page)
        await host_cable.cut()
        again = page.get_by_role("button", name="Try now")
        await expect(again).to_be_visible()
        await page.evaluate("isForgotten = false")
        await host_cable.mend()
        # The page may have tried by itself: then the button is gone.
        await again.evaluate_all("(buttons) => buttons.forEach((button) => button.click())")
        image = row.get_by_role("img", name="moth.png")
        await expect(image).to_have_js_property("naturalWidth", 320)
