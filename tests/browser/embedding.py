"""<chat-aio> in an empty page, and what a reader does with it."""

import pytest_asyncio
from playwright.async_api import Locator, Page

from tests.browser.conftest import Visit
from tests.browser.hosting import Host

MADE = """async ([attributes, fields]) => {
  await import("/chat-aio/element.js");
  const made = document.createElement("chat-aio");
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  Object.assign(made, fields);
  window.heard = [];
  for (const name of ["unread", "open", "status", "message", "unauthorised"]) {
    made.addEventListener(`chat-aio:${name}`, ({ type, detail }) => heard.push([type, detail]));
  }
  document.body.append(made);
}"""


def composer(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


def messages(page: Page) -> Locator:
    return page.get_by_role("log", name="Messages", exact=True).locator(".message")


def shown(page: Page, body: str) -> Locator:
    return page.get_by_role("log").get_by_text(body, exact=True)


async def say(page: Page, body: str) -> None:
    await composer(page).fill(body)
    await page.keyboard.press("Enter")


@pytest_asyncio.fixture(loop_scope="session")
async def ada(host: Host, open_page: Visit) -> Page:
    """A page that nothing is in, logged in as Ada."""
    page = await open_page()
    await host.empty(page, "ada")
    return page
