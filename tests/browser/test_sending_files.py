"""Files on the page: chosen, pasted or dropped, sent with a message, seen by the others."""

import asyncio
import logging
import struct
import zlib
from typing import Any

import pytest
from playwright.async_api import FilePayload, Locator, Page, Route, expect
from pymongo import AsyncMongoClient
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase

from tests.browser.acting import main_list, message, thread, write
from tests.browser.conftest import Visit
from tests.browser.serving import Cable, Complaints, Demo
from tests.support.people import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="session")

DROP = """(target, names) => {
  const dataTransfer = new DataTransfer();
  for (const name of names) dataTransfer.items.add(new File(["some words"], name));
  target.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""
PASTE = """(target) => {
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File(["some words"], "pasted.txt"));
  const given = { clipboardData, bubbles: true, cancelable: true };
  target.dispatchEvent(new ClipboardEvent("paste", given));
}"""
PASTE_CELLS = """(target) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", "one\\ttwo");
  clipboardData.setData("text/html", "<table><tr><td>one</td><td>two</td></tr></table>");
  clipboardData.items.add(new File(["a picture of it"], "image.png", { type: "image/png" }));
  const given = { clipboardData, bubbles: true, cancelable: true };
  return target.dispatchEvent(new ClipboardEvent("paste", given));
}"""
"""Whether the browser may paste it as text."""


COUNT_HELD = """() => {
  const { createObjectURL, revokeObjectURL } = URL;
  globalThis.held = new Set();
  URL.createObjectURL = (file) => {
    const made = createObjectURL(file);
    held.add(made);
    return made;
  };
  URL.revokeObjectURL = (address) => {
    held.delete(address);
    revokeObjectURL(address);
  };
}"""
"""Remember which files the browser has to hold."""


def png(width: int, height: int) -> bytes:
    """A grey image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    rows = (b"\0" + b"\x80" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def waiting(page: Page) -> Locator:
    return page.get_by_role("list", name="Files to send").get_by_role("listitem")


async def choose(place: Page | Locator, name: str, kind: str, data: bytes) -> None:
    """Choose a file with the first button of a place that takes some."""
    page = place if isinstance(place, Page) else place.page
    async with page.expect_file_chooser() as chooser:
        await place.get_by_role("button", name="Add files").first.click()
    await (await chooser.value).set_files(FilePayload(name=name, mimeType=kind, buffer=data))


async def test_files_wait_while_one_edits(visit: Visit, demo: Demo) -> None:
    """An edit takes neither their names nor their time."""
    place = await demo.direct("linus", "dennis")
    await demo.send("linus", place, "As it is")
    linus = await visit("linus", place)
    held: asyncio.Queue[Route] = asyncio.Queue()
    await choose(linus, "moth.png", "image/png", png(6, 3))
    await expect(waiting(linus)).to_have_attribute("data-state", "ready")
    await linus.route("**/attachments?*", held.put)
    await choose(linus, "notes.txt", "text/plain", b"some words")
    async with asyncio.timeout(PATIENCE):
        under_way = await held.get()
    box = linus.get_by_label("Message", exact=True)
    await box.press("ArrowUp")
    await expect(box).to_have_value("As it is")
    await box.fill("")
    await box.press("Enter")
    await expect(box).to_have_value("")
    await linus.keyboard.press("Escape")
    await box.press("ArrowUp")
    await box.fill("As it will be")
    await box.press("Enter")
    await expect(message(main_list(linus), "As it will be")).to_contain_text("edited")
    await expect(waiting(linus)).to_have_count(2)
    await under_way.continue_()
    await expect(linus.locator(".files [data-state=ready]")).to_have_count(2)
    await box.press("Enter")
    await expect(main_list(linus).locator("[data-state=sent]")).to_have_count(2)
    assert await demo.bodies("linus", place) == ["As it will be", "moth.png, notes.txt"]


async def test_an_image_is_seen_by_the_other(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    linus, dennis = await visit("linus", place), await visit("dennis", place)
    await choose(linus, "moth.png", "image/png", png(600, 300))
    await expect(waiting(linus)).to_have_attribute("data-state", "ready")
    await write(linus, "A moth in the relay")
    for page in (linus, dennis):
        image = main_list(page).get_by_role("img", name="moth.png")
        await expect(image).to_be_visible()
        await expect(image).to_have_js_property("naturalWidth", 320)
    await expect(waiting(linus)).to_have_count(0)
    message = await demo.newest("linus", place)
    assert message["body"] == "A moth in the relay"
    async with dennis.context.expect_page() as opened:
        await main_list(dennis).get_by_role("link", name="moth.png").click(modifiers=["Shift"])
    tab = await opened.value
    await expect(tab.get_by_role("img")).to_have_js_property("naturalWidth", 600)


async def test_dropped_and_pasted_files_go_without_words(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    linus, dennis = await visit("linus", place), await visit("dennis", place)
    await linus.locator("#stage").evaluate(DROP, ["one.txt", "two.txt"])
    await linus.get_by_label("Message", exact=True).evaluate(PASTE)
    await expect(linus.locator(".files [data-state=ready]")).to_have_count(3)
    await waiting(linus).filter(has_text="two.txt").get_by_role("button", name="Remove").click()
    await linus.get_by_role("button", name="Send").click()
    links = main_list(dennis).locator("a.file")
    await expect(links).to_have_text(["one.txt 10 B", "pasted.txt 10 B"])
    assert (await demo.newest("linus", place))["body"] == "one.txt, pasted.txt"
    async with dennis.expect_download() as download:
        await links.first.click()
    assert (await (await download.value).path()).read_text() == "some words"


async def test_of_cells_of_a_table_the_text_is_pasted(visit: Visit, demo: Demo) -> None:
    """A spreadsheet gives a picture with them. What is dropped is meant as it is."""
    linus = await visit("linus", await demo.direct("linus", "dennis"))
    box = linus.get_by_label("Message", exact=True)
    assert await box.evaluate(PASTE_CELLS)
    await box.evaluate(PASTE)
    await expect(waiting(linus)).to_contain_text(["pasted.txt"])


async def test_a_file_that_is_refused_says_why(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("400")
    place = await demo.direct("linus", "dennis")
    linus = await visit("linus", place)
    await choose(linus, "nothing.txt", "text/plain", b"")
    await expect(waiting(linus)).to_have_attribute("data-state", "failed")
    await expect(waiting(linus)).to_contain_text("This file is empty.")
    await write(linus, "without it")
    await expect(main_list(linus).locator("[data-state=sent]")).to_have_count(1)
    await expect(waiting(linus)).to_contain_text("This file is empty.")
    await waiting(linus).get_by_role("button", name="Remove nothing.txt").click()
    await expect(waiting(linus)).to_have_count(0)
    assert "attachments" not in await demo.newest("linus", place)


async def refuse_next(page: Page) -> None:
    """Refuse the next message that is sent, for good."""
    refused = {"error": {"code": "FORBIDDEN_WRITE", "message": "Not now."}}

    async def refuse(route: Route) -> None:
        if route.request.method == "POST":
            await route.fulfill(status=403, json=refused)
            await page.unroute("**/messages?*", refuse)
        else:
            await route.fallback()

    await page.route("**/messages?*", refuse)


async def test_a_message_that_is_refused_comes_back_with_its_files(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    place = await demo.direct("linus", "dennis")
    linus = await visit("linus", place)
    await choose(linus, "moth.png", "image/png", png(60, 30))
    await expect(waiting(linus)).to_have_attribute("data-state", "ready")
    await refuse_next(linus)
    await write(linus, "a moth?")
    await main_list(linus).get_by_role("button", name="Edit", exact=True).click()
    await expect(waiting(linus)).to_contain_text("moth.png")
    await write(linus, "a moth")
    await expect(main_list(linus).get_by_role("img", name="moth.png")).to_be_visible()
    await expect(waiting(linus)).to_have_count(0)


async def test_a_file_of_a_refused_message_can_still_be_seen(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    linus = await visit("linus", await demo.direct("linus", "dennis"))
    await choose(linus, "moth.png", "image/png", png(60, 30))
    await expect(waiting(linus)).to_have_attribute("data-state", "ready")
    await refuse_next(linus)
    await write(linus, "a moth?")
    await main_list(linus).get_by_role("button", name="Edit", exact=True).click()
    await expect(waiting(linus).locator("img")).to_have_js_property("naturalWidth", 60)


async def test_an_image_is_seen_before_it_is_sent(visit: Visit, demo: Demo) -> None:
    """As long as it waits, the browser holds it, and no longer."""
    linus = await visit("linus", await demo.direct("linus", "dennis"))
    await linus.evaluate(COUNT_HELD)
    await choose(linus, "moth.png", "image/png", png(60, 30))
    await choose(linus, "log.txt", "text/plain", b"x" * 2_000)
    await choose(linus, "broken.png", "image/png", b"\x89PNG, and no more")
    rows = waiting(linus)
    await expect(rows).to_contain_text(["moth.png", "log.txt 2.0 KB", "broken.png"])
    await expect(rows.nth(0).locator("img")).to_have_js_property("naturalWidth", 60)
    for other in (1, 2):
        await expect(rows.nth(other).locator("img")).to_be_hidden()
    assert await linus.evaluate("held.size") == 2
    await linus.get_by_role("button", name="Remove moth.png").click()
    await expect(rows).to_have_count(2)
    await expect(linus.get_by_role("button", name="Add files")).to_be_focused()
    assert await linus.evaluate("held.size") == 1
    # Until then, nothing is sent.
    await expect(linus.locator("#composer .files [data-state=ready]")).to_have_count(2)
    await write(linus, "look")
    await expect(rows).to_have_count(0)
    assert await linus.evaluate("held.size") == 0


async def test_an_upload_is_cancelled_on_its_way(
    visit: Visit,
    demo: Demo,
    cable: Cable,
    mongo_url: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The service has a part of it then, and keeps nothing; to it that is no error."""
    linus = await visit("linus", await demo.direct("linus", "dennis"), port=cable.port)
    cable.jammed_after = 500_000
    await choose(linus, "film.bin", "application/octet-stream", b"\0" * 1_000_000)
    await expect(waiting(linus)).to_have_attribute("data-state", "sending")
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        database = client[demo.database]
        await until_row(database, {"state": "uploading"})
        await write(linus, "look")
        problem = linus.locator("#composer").get_by_role("alert")
        await expect(problem).to_have_text(
            "Still uploading. Send again when the upload has finished."
        )
        await linus.get_by_role("button", name="Cancel the upload of film.bin").click()
        await expect(waiting(linus)).to_have_count(0)
        await expect(problem).to_be_hidden()
        await until_row(database, {"state": {"$in": ["removing", "gone"]}})
        # It is decided first.
        await until_none(database["attachment_bytes.chunks"])
    # It was awaited with what is written, and is not any more.
    await write(linus, "without it")
    await expect(main_list(linus).locator("[data-state=sent]")).to_contain_text(["without it"])
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_each_composer_has_its_own_files(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    root = await demo.write("dennis", place, "a thread begins")
    other = await demo.write("dennis", place, "another one")
    linus, dennis = await visit("linus", f"{place}/{root['id']}"), await visit("dennis", place)
    await choose(linus, "main.png", "image/png", png(60, 30))
    panel = thread(linus)
    await panel.locator(".stage").evaluate(DROP, ["dropped.txt"])
    await panel.get_by_label("Message in the thread").evaluate(PASTE)
    await choose(panel, "thread.png", "image/png", png(60, 30))
    await expect(panel.locator(".files [data-state=ready]")).to_have_count(3)
    await expect(waiting(linus)).to_have_count(4)
    await linus.goto(linus.url.replace(root["id"], other["id"]))
    await expect(panel.locator(".files li")).to_have_count(0)
    await linus.goto(linus.url.replace(other["id"], root["id"]))
    await expect(panel.locator(".files li")).to_have_count(3)
    await write(linus, "a reply", in_thread=True)
    reply = message(panel, "a reply")
    await expect(reply.get_by_role("img", name="thread.png")).to_be_visible()
    await expect(reply.locator("a.file")).to_have_text(["dropped.txt 10 B", "pasted.txt 10 B"])
    await expect(waiting(linus)).to_contain_text(["main.png"])
    await expect(linus.locator("#composer .files [data-state=ready]")).to_have_count(1)
    await write(linus, "and here")
    await expect(main_list(dennis).get_by_role("img", name="main.png")).to_be_visible()
    await expect(main_list(dennis).get_by_role("img", name="thread.png")).to_have_count(0)
    found = await demo.get("dennis", f"/conversations/{place}/threads/{root['id']}/messages")
    assert len(found["messages"][0]["attachments"]) == 3


async def test_a_refused_reply_comes_back_with_its_files(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    place = await demo.direct("linus", "dennis")
    root = await demo.write("dennis", place, "a thread begins")
    linus = await visit("linus", f"{place}/{root['id']}")
    panel = thread(linus)
    await choose(panel, "moth.png", "image/png", png(60, 30))
    await expect(panel.locator(".files [data-state=ready]")).to_have_count(1)
    await refuse_next(linus)
    await write(linus, "a moth?", in_thread=True)
    await panel.get_by_role("button", name="Edit", exact=True).click()
    await expect(panel.locator(".files li")).to_contain_text(["moth.png"])
    await write(linus, "a moth", in_thread=True)
    await expect(panel.get_by_role("img", name="moth.png")).to_be_visible()


async def test_who_cannot_write_cannot_add_files(visit: Visit, demo: Demo) -> None:
    group = await demo.group("linus", "dennis", name="Kernel")
    await demo.patch("linus", f"/conversations/{group}", frozen=True)
    dennis = await visit("dennis", group)
    await expect(dennis.get_by_role("button", name="Add files")).to_be_disabled()
    await dennis.locator("#stage").evaluate(DROP, ["one.txt"])
    await expect(waiting(dennis)).to_have_count(0)


async def until_row(database: AsyncDatabase[Any], which: dict[str, Any]) -> None:
    """Wait until an upload has come so far."""
    async with asyncio.timeout(PATIENCE):
        while not await database["attachments"].find_one(which):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def until_none(collection: AsyncCollection[Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while await collection.find_one({}):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


DRAGGED = """
    ([selector, type]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["hello"], "hello.txt", { type: "text/plain" }));
      const event = new DragEvent(type, {
        ...{ dataTransfer, bubbles: true, cancelable: true, composed: true },
      });
      document.querySelector("chat-aio").shadowRoot.querySelector(selector).dispatchEvent(event);
      return event.defaultPrevented;
    }
"""


async def test_files_that_are_dragged_see_where_they_can_be_dropped(
    visit: Visit, demo: Demo
) -> None:
    linus = await visit("linus", await demo.direct("linus", "dennis"))
    stage = linus.locator("#stage")
    for type_, selector in (("dragleave", "#stage"), ("drop", "#body")):
        await linus.evaluate(DRAGGED, ["#body", "dragover"])
        await expect(stage).to_have_attribute("data-dropping", "")
        words = "node => getComputedStyle(node, '::after').content"
        assert await stage.evaluate(words) == '"Drop the files here"'
        await linus.evaluate(DRAGGED, [selector, type_])
        await expect(stage).not_to_have_attribute("data-dropping", "")
    await expect(waiting(linus)).to_have_attribute("data-state", "ready")
    # Elsewhere they do not take the place of the page.
    assert await linus.evaluate(DRAGGED, ["#sidebar", "drop"])
    await expect(waiting(linus)).to_have_count(1)


async def test_files_that_wait_are_not_left_without_a_question(visit: Visit, demo: Demo) -> None:
    linus = await visit("linus", await demo.direct("linus", "dennis"))
    asked: list[str] = []
    linus.on("dialog", lambda dialog: asked.append(dialog.type))
    await linus.reload()
    assert asked == []
    await choose(linus, "moth.png", "image/png", png(60, 30))
    await expect(waiting(linus)).to_have_attribute("data-state", "ready")
    await linus.reload()
    assert asked == ["beforeunload"]
