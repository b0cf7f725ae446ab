"""The cookbook's badge: a page without a chat shows the number of unread messages."""

import re
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import expect
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options, add_browser_files
from tests.browser.conftest import Visit
from tests.support.pool import Pool
from tests.support.processes import ROOT

pytestmark = pytest.mark.asyncio(loop_scope="session")

COOKBOOK = (ROOT / "docs" / "guides" / "cookbook.md").read_text()


async def test_the_badge_follows(open_page: Visit, mongo_url: str, pool: Pool) -> None:
    (markup,) = re.findall(r"^```html\n(.*?)^```$", COOKBOOK, re.DOTALL | re.MULTILINE)

    async def page(_: web.Request) -> web.Response:
        text = f'<!doctype html><link rel="icon" href="data:,">{markup}'
        return web.Response(text=text, content_type="text/html")

    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        database = await pool.take(client)
        app = web.Application()
        options = Options(inbox=True, extra_events=True)
        chat = Chat(database, auth=lambda request: {"id": "ann"}, options=options)
        chat.mount(app)
        add_browser_files(app, "/chat-aio")
        app.router.add_get("/", page)
        async with TestServer(app) as server:
            direct = await chat.api.get_or_create_conversation("ann", "bob")
            await chat.api.send_message("bob", direct.id, "one")
            opened = await open_page()
            await opened.goto(str(server.make_url("/")))
            await expect(opened.locator("#badge")).to_have_text("1")
            sent = await chat.api.send_message("bob", direct.id, "two")
            await expect(opened.locator("#badge")).to_have_text("2")
            await chat.api.mark_read("ann", direct.id, sent.id)
            await expect(opened.locator("#badge")).to_have_text("")
            await opened.reload()
            await expect(opened.locator("#badge")).to_have_text("")
            await opened.goto("about:blank")
        pool.give_back(database)
