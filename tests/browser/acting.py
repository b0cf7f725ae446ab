"""What a person does on the page."""

import asyncio
import re
from datetime import datetime, timedelta

from playwright.async_api import Locator, Page
from playwright.async_api import TimeoutError as NotClicked

CHAT = "document.querySelector('chat-aio').shadowRoot"
"""In scripts: the tree that has the nodes of the chat."""
BEGUN = """(id) => {
  const { shadowRoot, store } = document.querySelector("chat-aio") ?? {};
  if (shadowRoot?.querySelector("#app")?.dataset.status !== "live") return false;
  if (id === null) return true;
  return store.timeline(id).isLoaded && shadowRoot.querySelector('[role="log"]') !== null;
}"""
LOOK_MS = 20
"""`expect` looks more and more seldom: on a busy machine it would be late by half a second."""
PATIENCE_SECONDS = 30
POINTED_MS = 2_000


# Tests look for the list and the panels all the time. By role or label, Playwright goes through all
# nodes of the page: 20 to 30 ms of the page's CPU with hundreds of messages.
def main_list(page: Page) -> Locator:
    return page.locator('[role="log"][aria-label="Messages"]')


def thread(page: Page) -> Locator:
    """The panel of the thread that is open."""
    return panel(page, "Thread")


def details(page: Page) -> Locator:
    """The panel of the details that are open."""
    return panel(page, "Details")


def panel(page: Page, name: str) -> Locator:
    """What stands beside the conversation; on a phone it is the main thing."""
    return page.locator(".beside", has=page.locator(f'h2:text-is("{name}")'))


def message(place: Locator, body: str) -> Locator:
    """The message of a list that says so."""
    return place.locator(".message").filter(has=place.page.locator(".body", has_text=body))


async def act(row: Locator, name: str) -> None:
    """Press one of a message's buttons, which come when it is pointed at. What comes meanwhile may
    have moved it away from the pointer: then it is pointed at again."""
    button = row.get_by_role("button", name=name, exact=True)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            await row.hover()
            try:
                return await button.click(timeout=POINTED_MS)
            except NotClicked:
                continue


async def choose(row: Locator, name: str) -> None:
    """Choose from a message's menu."""
    await act(row, "More actions")
    await row.page.get_by_role("menuitem", name=name).click()


async def write(page: Page, body: str, *, in_thread: bool = False) -> None:
    """Write something and send it."""
    label = "Message in the thread" if in_thread else "Message"
    await page.get_by_label(label, exact=True).fill(body)
    await page.keyboard.press("Enter")


async def begun(page: Page, place: str) -> None:
    """Wait until a chat is live. Where the place is a conversation, its messages are shown then:
    they may come later."""
    is_conversation = re.fullmatch("[0-9a-f]{24}", place) is not None
    await page.wait_for_function(BEGUN, arg=place if is_conversation else None, polling=LOOK_MS)


HURRY = """() => {
  const { setTimeout } = globalThis;
  // No pause is longer than half a minute. Longer timers wait for a heartbeat.
  globalThis.setTimeout = (work, ms = 0, ...given) =>
    setTimeout(work, ms > 30_000 ? ms : ms / 10, ...given);
}"""


async def hurry(page: Page) -> None:
    """From here on the page's scripts pause a tenth as long. What waits for an answer by
    `AbortSignal.timeout`, or for a heartbeat, stays as patient."""
    await page.evaluate(HURRY)


async def stop_time(page: Page) -> None:
    """From here on the page's timers run only by `page.clock.run_for(ms)`."""
    await page.clock.install()
    await page.clock.pause_at(datetime.now() + timedelta(minutes=1))


async def become(page: Page, visibility: str) -> None:
    """Hide or show the window, as far as the page can tell."""
    await page.evaluate(
        """visibility => {
            const value = { value: visibility, configurable: true };
            Object.defineProperty(document, "visibilityState", value);
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        visibility,
    )
