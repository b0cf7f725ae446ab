"""<chat-aio>: files are seen in messages, and sent by button, paste and drop."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route, expect

from chat_aio.client import ChatClient
from tests.browser.conftest import Visit
from tests.browser.embedding import MADE, composer, messages, say
from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host
from tests.browser.looking import Looking
from tests.browser.serving import Cable, Complaints
from tests.browser.test_sending_files import COUNT_HELD, DROP, PASTE, PASTE_CELLS, choose, png

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
    given = {"user": "ada", "conversation": conversation_id, "files": "", **more}
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
        assert size == [240, 120]
        async with ada.context.expect_page() as opened:
            await row.get_by_role("link", name="moth.png").click()
        tab = await opened.value
        await expect(tab.get_by_role("img")).to_have_js_property("naturalWidth", 600)
        await tab.close()
        link = row.get_by_role("link", name="notes.txt")
        await expect(link).to_have_text("notes.txt 10B")
        async with ada.expect_download() as download:
            await link.click()
        assert (await (await download.value).path()).read_text() == "some words"
        await expect(ada.get_by_role("button", name="Add files")).to_have_count(0)
        await grace.delete_message(sent.id)
        await expect(row.locator(".body")).to_have_text("This message was deleted.")
        await expect(row.get_by_role("link")).to_have_count(0)


async def test_nothing_moves_when_an_image_comes(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await send_moth(grace, direct.id)
        held: asyncio.Queue[Route] = asyncio.Queue()
        await ada.route("**/thumbnail", held.put)
        await embed(ada, direct.id)
        image = messages(ada).first.get_by_role("img", name="moth.png")
        async with asyncio.timeout(15):
            asked = await held.get()
        before = await image.bounding_box()
        assert before
        assert (before["width"], before["height"]) == (240, 120)
        await ada.unroute("**/thumbnail")
        await asked.continue_()
        await expect(image).to_have_js_property("naturalWidth", 320)
        assert await image.bounding_box() == before


async def test_chosen_pasted_and_dropped_files_are_sent(host: Host, ada: Page) -> None:
    """Without words, those of a message are the names of its files."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await embed(ada, direct.id)
        await choose(ada, "moth.png", "image/png", png(600, 300))
        await ada.get_by_role("log", name="Messages").evaluate(DROP, ["one.txt", "two.txt"])
        await composer(ada).evaluate(PASTE)
        ready = ada.locator(".files [data-state=ready]")
        await expect(ready).to_have_count(4)
        await waiting(ada).filter(has_text="two.txt").get_by_role("button").click()
        await expect(ada.get_by_role("button", name="Add files")).to_be_focused()
        looking = Looking(is_phone=False)
        await looking.at(ada, "files")
        await ada.get_by_role("button", name="Send").click()
        await expect(waiting(ada)).to_have_count(0)
        row = messages(ada).first
        await expect(row.get_by_role("img", name="moth.png")).to_be_visible()
        await expect(row.get_by_role("link")).to_have_count(3)
        await looking.at(ada, "sent")
        assert [fault for fault in looking.faults if "chat-aio" in fault] == []
        (message,) = (await grace.list_messages(direct.id)).messages
        assert message.body == "moth.png, one.txt, pasted.txt"
        assert [attachment.name for attachment in message.attachments or ()] == [
            "moth.png",
            "one.txt",
            "pasted.txt",
        ]


async def test_a_file_under_way_is_awaited_and_can_be_stopped(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await embed(ada, direct.id)
        held: asyncio.Queue[Route] = asyncio.Queue()
        await ada.route("**/attachments", held.put)
        await choose(ada, "one.txt", "text/plain", b"some words")
        row = waiting(ada).first
        await expect(row).to_have_attribute("data-state", "sending")
        await expect(row.get_by_role("progressbar", name="Sent so far")).to_be_visible()
        await say(ada, "with a file")
        await expect(composer(ada)).to_have_value("with a file")
        problem = ada.get_by_role("alert").filter(has_text="Still uploading.")
        await expect(problem).to_be_visible()
        async with ada.expect_event("requestfailed"):
            await row.get_by_role("button", name="Stop sending one.txt").click()
        await expect(waiting(ada)).to_have_count(0)
        await expect(problem).to_be_hidden()
        await ada.get_by_role("button", name="Send").click()
        await expect(messages(ada).last).to_have_attribute("data-state", "sent")
        assert (await grace.list_messages(direct.id)).messages[0].attachments is None


async def test_a_refused_file_says_why(host: Host, ada: Page, complaints: Complaints) -> None:
    complaints.excuse("415")
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await embed(ada, direct.id)
        error = {"code": "ATTACHMENT_TYPE_UNSUPPORTED", "message": "as the service says it"}
        await ada.route(
            "**/attachments", lambda route: route.fulfill(status=415, json={"error": error})
        )
        await choose(ada, "one.txt", "text/plain", b"some words")
        await expect(waiting(ada).first).to_contain_text("Files of this kind cannot be sent")
        await say(ada, "without it")
        await expect(messages(ada).last).to_have_attribute("data-state", "sent")
        await expect(waiting(ada).first).to_contain_text("Files of this kind cannot be sent")
        await waiting(ada).get_by_role("button", name="Remove one.txt").click()
        await expect(waiting(ada)).to_have_count(0)


async def test_a_thread_has_files_of_its_own(host: Host, open_page: Visit) -> None:
    page = await open_page(**PHONE)
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        root = await grace.send_message(direct.id, "Which engine?")
        await grace.send_message(direct.id, "The first?", thread_root_message_id=root.id)
        await host.empty(page, "ada")
        await embed(page, direct.id)
        await choose(page, "one.txt", "text/plain", b"some words")
        await messages(page).first.locator(".thread-link").tap()
        pane = page.get_by_role("region", name="Thread")
        await expect(waiting(page)).to_have_count(0)
        await choose(pane, "two.txt", "text/plain", b"other words")
        await expect(waiting(page)).to_have_attribute("data-state", "ready")
        await pane.get_by_role("button", name="Send").tap()
        last = page.get_by_role("log", name="Replies").locator(".message").last
        await expect(last.get_by_role("link", name="two.txt")).to_be_visible()
        await page.get_by_role("button", name="Close the thread").tap()
        await expect(waiting(page)).to_contain_text("one.txt")


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
        await grace.get_or_create_conversation("ada")
        await host.empty(page, "ada")
        await page.evaluate(MADE, [{"user": "ada", "files": ""}, {}])
        row = page.get_by_role("button", name="Grace Hopper")
        await row.click()
        await expect(composer(page)).to_be_focused()
        await page.evaluate("document.querySelector('chat-aio').open(null)")
        await expect(page.get_by_text("Choose a conversation.")).to_be_visible()
        await page.locator(".talk").evaluate(DROP, ["one.txt"])
        await row.click()
        await expect(composer(page)).to_be_visible()
        await expect(waiting(page)).to_have_count(0)


async def test_of_cells_of_a_table_the_text_is_pasted(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await embed(ada, direct.id)
        assert await composer(ada).evaluate(PASTE_CELLS)
        await composer(ada).evaluate(PASTE)
        await expect(waiting(ada)).to_have_text(["pasted.txt 10B✕"])


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
    complaints.excuse("ERR_")
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
        await host_cable.cut()
        banner = page.get_by_role("status").filter(has_text="No connection. Trying again…")
        await expect(banner).to_be_visible()
        await page.evaluate("isForgotten = false")
        await host_cable.mend()
        await banner.get_by_role("button", name="Try again").click()
        image = row.get_by_role("img", name="moth.png")
        await expect(image).to_have_js_property("naturalWidth", 320)
