"""A page of a supervisor: chat.js and a browser's own EventSource follow a conversation."""

from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import expect
from pymongo import AsyncMongoClient

from chat_aio import Chat, Hooks, Options, add_browser_files
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints
from tests.support.people import caught_up
from tests.support.pool import Pool

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGE = """<!doctype html><link rel="icon" href="data:,"><ol></ol>
<script type="module">
  import { Chat } from "/chat-aio/chat.js";

  const log = (text) => document.querySelector("ol").append(
    Object.assign(document.createElement("li"), { textContent: text }),
  );
  new Chat("/api/chat").stream({
    conversationIds: [location.hash.slice(1)],
    onOpen: () => log("open"),
    onEvent: ({ message }) => log(message.body),
    onChanged: ({ all }) => log(`changed: ${all}`),
    onRefused: () => log("refused"),
  });
</script>
"""


@pytest.mark.usefixtures("quick_reconnects")
async def test_a_page_follows(
    open_page: Visit, complaints: Complaints, mongo_url: str, pool: Pool
) -> None:
    """The browser reconnects by itself; then all is to be fetched. It is refused without the
    right."""
    complaints.excuse("403")
    refused: set[str] = set()

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=PAGE, content_type="text/html")

    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        database = await pool.take(client)
        app = web.Application()
        chat = Chat(
            database,
            auth=lambda request: {"id": "mona"},
            hooks=Hooks(can_read=lambda asked: asked.user_id not in refused),
            options=Options(supervisors=True),
        )
        chat.mount(app)
        add_browser_files(app, "/chat-aio")
        app.router.add_get("/", page)
        async with TestServer(app) as server:
            direct = await chat.api.get_or_create_conversation("ann", "bob")
            await caught_up(chat)
            opened = await open_page()
            lines = opened.locator("li")
            await opened.goto(f"{server.make_url('/')}#{direct.id}")
            await expect(lines).to_have_text(["open"])
            await chat.api.send_message("ann", direct.id, "one")
            await expect(lines).to_have_text(["open", "one"])
            await chat.end_streams("mona")
            await expect(lines).to_have_text(["open", "one", "open", "changed: true"])
            await chat.api.send_message("ann", direct.id, "two")
            await expect(lines.nth(4)).to_have_text("two")
            refused.add("mona")
            await chat.end_streams("mona")
            await expect(lines.nth(5)).to_have_text("refused")
            await opened.goto("about:blank")
        pool.give_back(database)
