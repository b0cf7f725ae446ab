"""Files on the page: chosen, pasted or dropped, sent with a message, seen by the others."""

import struct
import zlib

import pytest
from playwright.async_api import FilePayload, Locator, Page, expect

from tests.browser.acting import main_list, thread, write
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo

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


async def choose(page: Page, name: str, kind: str, data: bytes) -> None:
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Add files").click()
    await (await chooser.value).set_files(FilePayload(name=name, mimeType=kind, buffer=data))


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
    async with dennis.expect_popup() as popup:
        await main_list(dennis).get_by_role("link", name="moth.png").click()
    await expect((await popup.value).get_by_role("img")).to_have_js_property("naturalWidth", 600)


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


async def test_a_file_that_is_refused_says_why(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("400")
    place = await demo.direct("linus", "dennis")
    linus = await visit("linus", place)
    await choose(linus, "nothing.txt", "text/plain", b"")
    await expect(waiting(linus)).to_have_attribute("data-state", "failed")
    await expect(waiting(linus)).to_contain_text("empty")
    await write(linus, "without it")
    await expect(main_list(linus).locator("[data-state=sent]")).to_have_count(1)
    await expect(waiting(linus)).to_have_count(0)
    assert "attachments" not in await demo.newest("linus", place)


async def test_a_message_that_is_refused_comes_back_with_its_files(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    """Words that a filter holds; without them it goes."""
    complaints.excuse("403")
    place = await demo.direct("linus", "dennis")
    linus = await visit("linus", place)
    await choose(linus, "moth.png", "image/png", png(60, 30))
    await expect(waiting(linus)).to_have_attribute("data-state", "ready")
    await write(linus, "casino")
    await main_list(linus).get_by_role("button", name="Edit", exact=True).click()
    await expect(waiting(linus)).to_contain_text("moth.png")
    await write(linus, "a moth")
    await expect(main_list(linus).get_by_role("img", name="moth.png")).to_be_visible()
    await expect(waiting(linus)).to_have_count(0)


async def test_a_reply_in_a_thread_takes_no_files_along(visit: Visit, demo: Demo) -> None:
    """They wait for what is written beside them."""
    place = await demo.direct("linus", "dennis")
    root = await demo.write("dennis", place, "a thread begins")
    await demo.write("dennis", place, "in it", threadRootMessageId=root["id"])
    linus = await visit("linus", place)
    await choose(linus, "moth.png", "image/png", png(60, 30))
    await expect(waiting(linus)).to_have_attribute("data-state", "ready")
    await linus.get_by_role("button", name="1 reply").click()
    await write(linus, "a reply", in_thread=True)
    await expect(thread(linus).locator("[data-state=sent]").last).to_contain_text("a reply")
    await expect(waiting(linus)).to_have_count(1)
    await expect(thread(linus).get_by_role("img", name="moth.png")).to_have_count(0)
