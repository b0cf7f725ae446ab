"""The system's notifications: asked for once, shown for messages that nobody looks at."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.acting import main_list
from tests.browser.conftest import Visit
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

SYSTEM = """() => {
  globalThis.told = [];
  globalThis.Notification = class extends EventTarget {
    static permission = "default";
    static async requestPermission() { this.permission = "granted"; }
    constructor(title, { body, tag }) {
      super();
      globalThis.told.push([title, body, tag]);
      globalThis.last = this;
    }
    close() {}
  };
}"""
"""What stands for the system, which a headless browser has none of."""

LOOK_AWAY = """() => {
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });
}"""


async def asked(visit: Visit, demo: Demo) -> Page:
    """Linus, who wants notifications and looks away."""
    linus = await visit("linus")
    await linus.add_init_script(f"({SYSTEM})()")
    await linus.reload()
    await expect(linus.locator("#app")).to_have_attribute("data-status", "live")
    await expect(linus.locator("#conversations .row-title").first).to_be_visible()
    await linus.get_by_role("button", name="Notify me of messages").click()
    await expect(linus.get_by_role("button", name="Notify me of messages")).to_be_hidden()
    await linus.evaluate(LOOK_AWAY)
    return linus


async def test_a_message_is_told_to_who_looks_away(visit: Visit, demo: Demo) -> None:
    direct = await demo.direct("linus", "dennis")
    group = await demo.group("linus", "dennis", name="Kernel")
    linus = await asked(visit, demo)
    await demo.send("dennis", direct, "Is it you?")
    await demo.send("dennis", group, "A patch")
    await demo.send("linus", group, "my own")
    await demo.send("dennis", group, "x" * 300)
    row = linus.get_by_role("link", name="Kernel")
    await expect(row.locator(".badge")).to_contain_text("2")
    assert await linus.evaluate("() => told") == [
        ["Dennis", "Is it you?", direct],
        ["Kernel", "Dennis: A patch", group],
        ["Kernel", f"Dennis: {'x' * 132}", group],
    ]
    await linus.evaluate("() => last.dispatchEvent(new Event('click'))")
    await expect(main_list(linus)).to_contain_text("A patch")


async def test_nobody_is_told_of_what_is_muted_or_before_their_eyes(
    visit: Visit, demo: Demo
) -> None:
    muted = await demo.group("linus", "dennis", name="Noise")
    await demo.post("linus", "/moderation/mutes", conversationId=muted)
    told = await demo.group("linus", "dennis", name="Kernel")
    linus = await asked(visit, demo)
    await demo.send("dennis", muted, "noise")
    await demo.send("dennis", told, "first")
    await expect(linus.get_by_role("link", name="Kernel").locator(".badge")).to_contain_text("1")
    await linus.evaluate("() => delete document.visibilityState")
    await demo.send("dennis", told, "second")
    await expect(linus.get_by_role("link", name="Kernel").locator(".badge")).to_contain_text("2")
    assert [call[1] for call in await linus.evaluate("() => told")] == ["Dennis: first"]


async def test_a_conversation_that_was_hidden_has_its_name(visit: Visit, demo: Demo) -> None:
    group = await demo.group("linus", "dennis", name="Kernel")
    await demo.patch("linus", f"/conversations/{group}/view", hidden=True)
    linus = await asked(visit, demo)
    await demo.send("dennis", group, "A patch")
    await expect(linus.get_by_role("link", name="Kernel")).to_be_visible()
    await linus.wait_for_function("() => told.length === 1")
    assert await linus.evaluate("() => told") == [["Kernel", "Dennis: A patch", group]]
