"""A store that comes back fetches what `stream.changed` names, and shows what a new store shows."""

from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route
from pymongo import AsyncMongoClient

from chat_aio.web.browser_files import BROWSER
from tests.browser.conftest import Visit
from tests.browser.serving import Cable, Complaints, Demo
from tests.support.ageing import age

pytestmark = pytest.mark.asyncio(loop_scope="session")

BEGUN = """
    const { Chat } = await import("/modules/chat.js");
    const { ChatStore } = await import("/modules/chat-store.js");
    globalThis.until = (store, isSo) => new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`not within 60 seconds: ${isSo}`)), 60_000);
      const look = () => {
        if (!isSo()) return false;
        resolve();
        return true;
      };
      const unsubscribe = store.subscribe(() => look() && unsubscribe());
      if (look()) unsubscribe();
    });
    globalThis.asked = [];
    const asking = (url, options) => {
      const { pathname } = new URL(url);
      const path = pathname.replace("/api/chat", "");
      if (path.startsWith("/conversations") && options.method === "GET") asked.push(path);
      return fetch(url, options);
    };
    globalThis.begun = async (openId) => {
      const chat = new Chat("/api/chat", { query: { as: "linus" }, fetch: asking });
      // Its list is asked for once, when the stream is open: nothing is under way behind it.
      const store = new ChatStore(chat, { userId: "linus", isListShown: false });
      store.start();
      await until(store, () => store.state().isListed && store.state().status === "live");
      if (openId) await store.open(openId);
      return store;
    };
    const rowOf = ({ participants, others, at, ...row }) => ({
      ...row,
      participants: participants.map(({ userId, role }) => [userId, role]),
    });
    globalThis.shown = (store, openId) => ({
      unread: store.state().unread,
      rows: store.conversations().map((shown) => [rowOf(shown), shown.lastMessage]),
      messages: store.timeline(openId).messages,
    });
    globalThis.store = await begun(given);
    asked.length = 0;
"""


@pytest_asyncio.fixture(loop_scope="session")
async def page(open_page: Visit, cable: Cable) -> Page:
    """A page with nothing but the modules, of the demo's origin behind the cable."""
    page = await open_page()

    async def empty(route: Route) -> None:
        html = '<!doctype html><html lang="en"><title>Empty</title><link rel="icon" href="data:,">'
        await route.fulfill(body=html, content_type="text/html")

    async def module(route: Route) -> None:
        await route.fulfill(path=BROWSER / route.request.url.rpartition("/")[2])

    await page.route("**/empty", empty)
    await page.route("**/modules/*", module)
    await page.goto(f"http://127.0.0.1:{cable.port}/empty")
    return page


async def run(page: Page, script: str, given: Any = None) -> Any:
    return await page.evaluate(f"async (given) => {{ {script} }}", given)


async def aged(demo: Demo, mongo_url: str) -> None:
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        await age(client[demo.database])


async def compare(page: Page, open_id: str) -> None:
    """What the store shows, and what one shows that has just fetched everything."""
    mine, fresh = await run(
        page,
        "const other = await begun(given);"
        "const found = [shown(store, given), shown(other, given)]; other.close(); return found;",
        open_id,
    )
    assert mine == fresh


@pytest.fixture
def groups() -> list[str]:
    return ["open", "renamed", "joined", "read", "left", "pinned", "quiet", "elsewhere"]


async def begin(demo: Demo, mongo_url: str, names: list[str]) -> dict[str, str]:
    """Groups of Linus and Dennis with a message each, and a last message that Linus sees."""
    found = {name: await demo.group("dennis", "linus", name=name) for name in names}
    for conversation_id in found.values():
        await demo.send("dennis", conversation_id, "old")
    await aged(demo, mongo_url)
    await demo.send("dennis", found["quiet"], "the last that Linus sees")
    await demo.caught_up()
    return found


@pytest.mark.usefixtures("quick_reconnects")
async def test_it_fetches_what_is_named_alone(
    page: Page,
    demo: Demo,
    cable: Cable,
    mongo_url: str,
    complaints: Complaints,
    groups: list[str],
) -> None:
    complaints.excuse_network()
    complaints.excuse_lost_access()
    found = await begin(demo, mongo_url, groups)
    open_id = found["open"]
    await run(page, BEGUN, open_id)
    old = await demo.newest("dennis", open_id)
    await cable.cut()
    await demo.patch("dennis", f"/conversations/{found['renamed']}", name="another name")
    await demo.post("dennis", f"/conversations/{found['joined']}/participants", userIds=["ada"])
    await demo.post("dennis", f"/messages/{old['id']}/reactions", emoji="👍")
    await demo.read_all("linus", found["read"])
    await demo.delete("dennis", f"/conversations/{found['left']}/participants", userId="linus")
    await demo.send("dennis", open_id, "missed")
    await cable.mend()
    await run(
        page,
        """
        await until(store, () =>
          store.state().status === "live" && store.conversation(given.left) === null &&
          store.conversation(given.renamed).name === "another name" &&
          store.conversation(given.joined).participants.length === 3 &&
          store.conversation(given.read).unread === 0 &&
          store.timeline(given.open).messages.length === 2 &&
          store.timeline(given.open).messages[0].reactions.length === 1);
        """,
        found,
    )
    asked = await run(page, "return asked")
    named = {found[name] for name in ("renamed", "joined", "read", "open")}
    assert {path.split("/")[2] for path in asked if path != "/conversations"} <= named
    assert "/conversations" not in asked
    await compare(page, open_id)


@pytest.mark.usefixtures("quick_reconnects")
async def test_many_are_one_list(
    page: Page,
    demo: Demo,
    cable: Cable,
    mongo_url: str,
    complaints: Complaints,
    groups: list[str],
) -> None:
    complaints.excuse_network()
    found = await begin(demo, mongo_url, groups)
    open_id = found["open"]
    await run(page, BEGUN, open_id)
    await cable.cut()
    for name in groups[:6]:
        await demo.patch("dennis", f"/conversations/{found[name]}", name=f"{name} again")
    await cable.mend()
    await run(
        page,
        """
        await until(store, () => store.state().status === "live" &&
          store.conversations().filter(({ name }) => name?.endsWith(" again")).length === 6);
        """,
    )
    assert set(await run(page, "return asked")) == {"/conversations"}
    await compare(page, open_id)


@pytest.mark.usefixtures("quick_reconnects")
async def test_who_left_and_came_back_has_the_messages_of_that_time(
    page: Page,
    demo: Demo,
    cable: Cable,
    mongo_url: str,
    complaints: Complaints,
    groups: list[str],
) -> None:
    """No replay contains these."""
    complaints.excuse_network()
    complaints.excuse_lost_access()
    found = await begin(demo, mongo_url, groups)
    open_id = found["open"]
    await run(page, BEGUN, open_id)
    await cable.cut()
    path = f"/conversations/{open_id}/participants"
    await demo.delete("dennis", path, userId="linus")
    await demo.send("dennis", open_id, "not for Linus then")
    await aged(demo, mongo_url)
    await demo.post("dennis", path, userIds=["linus"])
    await demo.send("dennis", open_id, "for Linus again")
    await cable.mend()
    await run(
        page,
        """
        const bodies = () => store.timeline(given).messages.map(({ body }) => body).join();
        await until(store, () => bodies() === "old,not for Linus then,for Linus again");
        """,
        open_id,
    )
