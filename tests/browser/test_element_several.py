"""<chat-aio>: several in one page, each with its user, language and keys."""

from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.embedding import MADE
from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host
from tests.browser.serving import Demo
from tests.browser.test_sending_files import png

pytestmark = pytest.mark.asyncio(loop_scope="session")

TWO = """async ([id, chats]) => {
  const { Chat } = await import("/browser/chat.js");
  await import("/browser/element.js");
  document.body.replaceChildren();
  for (const { user, lang, words } of chats) {
    const made = document.createElement("chat-aio");
    made.id = user;
    made.chat = new Chat("/api/chat", { query: { as: user } });
    made.words = words;
    made.setAttribute("user", user);
    made.setAttribute("lang", lang);
    made.setAttribute("features", "files");
    made.setAttribute("conversation", id);
    document.body.append(made);
  }
}"""
DIALOGS = """() => [...document.querySelectorAll("chat-aio")].map(
  ({ shadowRoot }) => shadowRoot.querySelectorAll("dialog[open]").length)"""


def bodies(page: Page, user: str) -> Locator:
    return page.locator(f"#{user} .message .body")


async def test_two_users(demo: Demo, open_page: Visit) -> None:
    page = await open_page()
    place = await demo.direct("linus", "dennis")
    await page.goto(f"http://127.0.0.1:{demo.port}/people")
    chats = [
        {"user": "linus", "lang": "en", "words": {"composer.message": "As Linus"}},
        {"user": "dennis", "lang": "de", "words": {}},
    ]
    await page.evaluate(TWO, [place, chats])
    linus = page.locator("#linus").get_by_label("As Linus", exact=True)
    dennis = page.locator("#dennis").get_by_label("Nachricht", exact=True)
    await linus.fill("Which engine?")
    await dennis.fill("a draft")
    await linus.press("Enter")
    await expect(bodies(page, "dennis")).to_have_text(["Which engine?"])
    await expect(dennis).to_have_value("a draft")
    await dennis.press("Enter")
    await expect(bodies(page, "linus")).to_have_text(["Which engine?", "a draft"])
    await expect(page.locator("#linus .message[part~=own]")).to_contain_text("Which engine?")
    await expect(page.locator("#dennis .message[part~=own]")).to_contain_text("a draft")
    await page.locator("#linus input[type=file]").first.set_input_files(
        {"name": "moth.png", "mimeType": "image/png", "buffer": png(600, 300)}
    )
    await expect(
        page.locator("#linus").get_by_role("button", name="Remove moth.png")
    ).to_be_visible()
    await expect(page.locator("#dennis .files > *")).to_have_count(0)
    await linus.press("Enter")
    for user in ("linus", "dennis"):
        image = page.locator(f"#{user} .message").last.get_by_role("img", name="moth.png")
        await expect(image).to_have_js_property("naturalWidth", 320)
        assert f"as={user}" in (await image.get_attribute("src") or "")
    await page.evaluate("document.querySelector('#linus').remove()")
    await demo.write("linus", place, "Are you there?")
    await expect(bodies(page, "dennis").last).to_have_text("Are you there?")


async def test_a_key_is_for_one_of_them(host: Host, ada: Page) -> None:
    """The one with the focus, else the first that is visible; and not for one that is hidden."""
    for _ in range(2):
        await ada.evaluate(MADE, [{"user": "ada", "features": "search"}, {}])
    boxes = ada.get_by_role("searchbox")
    await expect(boxes).to_have_count(2)
    await ada.keyboard.press("Control+k")
    await expect(ada.get_by_role("dialog")).to_be_visible()
    assert await ada.evaluate(DIALOGS) == [1, 0]
    await ada.keyboard.press("Escape")
    await boxes.last.focus()
    await ada.keyboard.press("Control+k")
    await ada.wait_for_function(f"({DIALOGS})().join() === '0,1'")
    await ada.keyboard.press("Escape")
    await ada.evaluate(
        "document.querySelectorAll('chat-aio').forEach((it) => { it.hidden = true; })"
    )
    await ada.keyboard.press("Control+k")
    assert await ada.evaluate(DIALOGS) == [0, 0]


async def test_another_user_takes_the_place(demo: Demo, open_page: Visit) -> None:
    """Nothing of the one before is shown, and an answer that comes late leads nowhere."""
    page = await open_page()
    place = await demo.direct("linus", "dennis")
    await demo.write("linus", place, "for Dennis")
    await page.goto(f"http://127.0.0.1:{demo.port}/people")
    chats: list[dict[str, Any]] = [{"user": "dennis", "lang": "en", "words": {}}]
    await page.evaluate(TWO, [place, chats])
    await expect(bodies(page, "dennis")).to_have_text(["for Dennis"])
    await page.evaluate(
        """async () => {
          const { Chat } = await import("/browser/chat.js");
          const made = document.querySelector("chat-aio");
          made.removeAttribute("conversation");
          made.setAttribute("address", "chat");
          const late = made.openDirect("ada");
          made.chat = new Chat("/api/chat", { query: { as: "grace" } });
          made.setAttribute("user", "grace");
          window.late = late.then(() => {});
        }"""
    )
    await page.evaluate("late")
    await expect(page.locator("#my-name, .list")).to_be_visible()
    await expect(bodies(page, "dennis")).to_have_count(0)
    await expect(page.get_by_text("for Dennis")).to_have_count(0)
    assert await page.evaluate("location.hash") == ""
