"""The pages of examples/browser: over the store, by themselves and with React."""

import asyncio
import os
from pathlib import Path

import pytest
from playwright.async_api import Response, Route, expect

from chat_aio.client import ChatClient
from tests.browser.conftest import Visit
from tests.browser.hosting import Host

pytestmark = pytest.mark.asyncio(loop_scope="session")

REACT = Path("/usr/share/nodejs/react-dom/umd/react-dom.production.min.js")
needs_react = pytest.mark.skipif(
    not REACT.is_file() and "CI" not in os.environ,
    reason="no React: apt-get install --no-install-recommends node-react node-react-dom",
)


async def test_a_page_over_the_store(host: Host, open_page: Visit) -> None:
    page = await open_page()

    def is_open(response: Response) -> bool:
        return "/stream?" in response.url and response.frame.url.endswith("store.html")

    # That somebody types is sent once.
    async with page.expect_response(is_open):
        await host.visit(page, "ada", "store.html")
    log = page.get_by_role("log").get_by_role("listitem")
    await page.get_by_label("Message", exact=True).fill("Do you ship to Mars?")
    await page.get_by_role("button", name="Send").click()
    await expect(log).to_have_text(["Ada Lovelace: Do you ship to Mars?"])
    async with host.person("grace") as grace:
        (direct,) = (await grace.list_conversations()).conversations
        assert direct.unread_count == 1
        await send_typing(grace, direct.id)
        await expect(page.locator("#typing")).to_have_text("Grace Hopper …")
        await grace.send_message(direct.id, "We do")
    await expect(log.last).to_have_text("Grace Hopper: We do")
    await expect(page.locator("#typing")).to_have_text("")
    await expect(page.locator("#unread")).to_have_text("0")


async def test_names_that_come_after_the_messages(host: Host, open_page: Visit) -> None:
    page = await open_page()
    may_come = asyncio.Event()

    async def come_later(route: Route) -> None:
        await may_come.wait()
        await route.continue_()

    async def without_names(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, json={**await answer.json(), "users": {}})

    await page.route("**/api/chat/users?*", come_later)
    await page.route("**/api/chat/conversations?*", without_names)
    await host.visit(page, "ada", "store.html")
    await page.get_by_label("Message", exact=True).fill("Do you ship to Mars?")
    await page.get_by_role("button", name="Send").click()
    log = page.get_by_role("log").get_by_role("listitem")
    await expect(log).to_have_text(["ada: Do you ship to Mars?"])
    may_come.set()
    await expect(log).to_have_text(["Ada Lovelace: Do you ship to Mars?"])


async def send_typing(person: ChatClient, conversation_id: str) -> None:
    path = ("conversations", conversation_id, "typing")
    await person._connection.call("POST", path, body={"isTyping": True})


@needs_react
async def test_a_page_with_react(host: Host, open_page: Visit) -> None:
    page = await open_page()
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        first = await grace.send_message(direct.id, "Hello!")
        await host.visit(page, "ada", "react.html")
        await expect(page.get_by_role("heading")).to_have_text("Messages (1)")
        await page.get_by_role("button", name="Grace Hopper (1)").click()
        await expect(page.get_by_role("heading")).to_have_text("Messages (0)")
        rows = page.get_by_role("log").get_by_role("listitem")
        await expect(rows).to_have_text(["Grace Hopper: Hello! 👍 0"])

        await page.get_by_role("button", name="Like").click()
        await expect(rows).to_have_text(["Grace Hopper: Hello! 👍 1"])
        await page.get_by_label("Message", exact=True).fill("Hi!")
        await page.keyboard.press("Enter")
        await expect(rows.last).to_have_text("Ada Lovelace: Hi! 👍 0")
        await grace.edit_message(first.id, "Good morning!")
        await expect(rows.first).to_have_text("Grace Hopper: Good morning! 👍 1")
        assert (await grace.get_conversation(direct.id)).unread_count == 1


@needs_react
async def test_the_element_as_a_component(host: Host, open_page: Visit) -> None:
    page = await open_page()
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "Hello!")
        await host.visit(page, "ada", "react-element.html")
        await expect(page.get_by_role("heading", name="Messages (1)")).to_be_visible()
        await page.get_by_role("link", name="Grace Hopper").click()
        await expect(page.get_by_role("article")).to_contain_text("Hello!")
        await expect(page.get_by_role("heading", name="Messages (0)")).to_be_visible()
        await page.get_by_role("textbox", name="Message").fill("Hi!")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("article")).to_have_count(2)


RENDERED = """async () => {
  const { createElement, createRef, StrictMode, useState } = React;
  const { ChatElement } = await import("/chat-aio/react.js");
  const place = document.createElement("div");
  document.body.replaceChildren(place);
  const ref = createRef();
  window.seen = { ref, unread: [] };
  function App() {
    const [given, setGiven] = useState({ empty: "Nobody yet." });
    window.seen.give = setGiven;
    const people = [{ id: "grace", name: "Amazing Grace" }];
    const words = given.empty && { "list.empty": given.empty };
    const token = () => null;
    const onUnread = ({ total }) => {
      window.seen.unread.push(total);
      setGiven((before) => ({ ...before }));
    };
    return createElement(ChatElement, { ref, user: "ada", words, people, token, onUnread });
  }
  ReactDOM.createRoot(place).render(createElement(StrictMode, {}, createElement(App)));
}"""


@needs_react
async def test_rendering_a_component_again_does_not_reset_it(host: Host, open_page: Visit) -> None:
    """Though its people and words are other objects with the same content."""
    page = await open_page()
    await host.visit(page, "ada", "react-element.html")
    await page.evaluate(RENDERED)
    await expect(page.get_by_text("Nobody yet.")).to_be_visible()
    await page.evaluate("seen.store = seen.ref.current.store")
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "Hello!")
        await expect(page.get_by_role("link", name="Amazing Grace")).to_be_visible()
        await page.wait_for_function("seen.unread.at(-1) === 1")
        await page.evaluate("ReactDOM.flushSync(() => seen.give({ empty: 'Nobody yet.' }))")
        assert await page.evaluate("seen.ref.current.store === seen.store")
        await page.evaluate("ReactDOM.flushSync(() => seen.give({}))")
        assert await page.evaluate("seen.ref.current.store !== seen.store")
        assert await page.evaluate("seen.ref.current.words") == {}
