"""The user's view of conversations in the store: two tabs of one user."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Page
from pymongo import AsyncMongoClient

from chat_aio import Chat, Hooks, Options, add_browser_files
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints
from tests.browser.test_store import HELPERS
from tests.support.pool import Pool

pytestmark = pytest.mark.asyncio(loop_scope="session")

SHOWN = """
    const shown = () => store.conversations().map((row) =>
      [row.id, row.unread, row.lastMessage?.body ?? null, row.view.archived]);
"""


@pytest_asyncio.fixture(loop_scope="session")
async def served(mongo_url: str, pool: Pool) -> AsyncIterator[tuple[Chat, str]]:
    """A chat whose pages are all those of Ada, and its address."""

    async def page(_: web.Request) -> web.Response:
        text = '<!doctype html><link rel="icon" href="data:,">'
        return web.Response(text=text, content_type="text/html")

    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        database = await pool.take(client)
        app = web.Application()
        options = Options(inbox=True, extra_events=True)
        hooks = Hooks(profiles=lambda _: {})
        chat = Chat(database, auth=lambda _: {"id": "ada"}, hooks=hooks, options=options)
        chat.mount(app)
        add_browser_files(app, "/chat-aio")
        app.router.add_get("/", page)
        async with TestServer(app) as server:
            yield chat, str(server.make_url("/"))
        pool.give_back(database)


async def begun(page: Page) -> None:
    keep = "Object.assign(globalThis, { until, store: await begun() });"
    await page.evaluate(f"async () => {{ {HELPERS} {keep} }}")


async def shown(page: Page, wanted: list[Any], unread: int) -> None:
    """Wait until a tab lists this, with so many unread: an event may count what a list has."""
    script = f"""async ([wanted, unread]) => {{ {SHOWN}
        const isListed = () => JSON.stringify(shown()) === JSON.stringify(wanted);
        await until(store, () => isListed() && store.state().unread === unread);
    }}"""
    await page.evaluate(script, [wanted, unread])


async def test_all_tabs_follow(served: tuple[Chat, str], open_page: Visit) -> None:
    chat, address = served
    group = await chat.api.create_group_conversation("grace", user_ids=["ada"])
    other = await chat.api.create_group_conversation("grace", user_ids=["ada"])
    await chat.api.send_message("grace", group.id, "one")
    tabs = [await open_page(), await open_page()]
    for tab in tabs:
        await tab.goto(address)
        await begun(tab)
    await tabs[0].evaluate("(id) => store.open(id)", group.id)
    change = "([id, changed]) => store.changeView(id, changed)"
    rest = [other.id, 0, None, False]

    async def expect_all(*rows: list[Any], unread: int) -> None:
        for tab in tabs:
            await shown(tab, [*rows], unread)

    await expect_all([group.id, 1, "one", False], rest, unread=1)
    await tabs[0].evaluate(change, [group.id, {"archived": True}])
    await expect_all([group.id, 1, "one", True], rest, unread=0)
    await tabs[1].evaluate(change, [group.id, {"archived": False, "clear": True}])
    await expect_all([group.id, 0, None, False], rest, unread=0)
    empty = "(id) => until(store, () => store.timeline(id).messages.length === 0)"
    await tabs[0].evaluate(empty, group.id)
    await tabs[0].evaluate(change, [other.id, {"hidden": True}])
    await expect_all([group.id, 0, None, False], unread=0)
    await chat.api.send_message("grace", other.id, "here again")
    await expect_all([other.id, 1, "here again", False], [group.id, 0, None, False], unread=1)
    await chat.inbox.change_view("ada", other.id, hidden=True)
    await expect_all([group.id, 0, None, False], unread=0)
    await chat.inbox.change_view("ada", other.id, hidden=False)
    await expect_all([other.id, 1, "here again", False], [group.id, 0, None, False], unread=1)
    for tab in tabs:
        await tab.evaluate("store.close()")
        await tab.goto("about:blank")


async def test_views_that_changed_while_away(
    served: tuple[Chat, str], open_page: Visit, complaints: Complaints
) -> None:
    """Few are fetched one by one, many as a list: both show what another device has done."""
    complaints.excuse_network()
    chat, address = served
    for others in (1, 6):
        cleared, hidden, renamed, *further = [
            (await chat.api.create_group_conversation("grace", user_ids=["ada"])).id
            for _ in range(3 + others)
        ]
        await chat.api.send_message("grace", cleared, "one")
        await chat.inbox.change_view("ada", renamed, hidden=True)
        tab = await open_page()
        await tab.goto(address)
        await begun(tab)
        await tab.evaluate("(id) => store.open(id)", cleared)
        await tab.context.set_offline(True)
        await chat.end_streams("ada")
        await tab.evaluate("until(store, () => store.state().status !== 'live')")
        await chat.inbox.change_view("ada", cleared, clear=True)
        await chat.inbox.change_view("ada", hidden, hidden=True)
        for number, group in enumerate((renamed, *further)):
            await chat.api.update_conversation("grace", group, name=f"new {number}")
        await tab.context.set_offline(False)
        wanted = [[group, f"new {number}"] for number, group in enumerate(further, 1)]
        script = """async ([cleared, wanted]) => until(store, () => {
            const rows = store.conversations().map(({ id, name }) => [id, name]);
            const isThere = wanted.every((row) => rows.some((value) => `${value}` === `${row}`));
            return isThere && store.timeline(cleared).messages.length === 0
              && rows.length === wanted.length + 1;
        })"""
        await tab.evaluate(script, [cleared, wanted])
        await chat.api.send_message("grace", cleared, "after")
        bodies = "store.timeline(id).messages.map(({ body }) => body).join()"
        await tab.evaluate(f"(id) => until(store, () => {bodies} === 'after')", cleared)
        await tab.evaluate("store.close()")
        await tab.goto("about:blank")
        for group in (cleared, hidden, renamed, *further):
            await chat.conversations.delete_conversation("grace", group)
