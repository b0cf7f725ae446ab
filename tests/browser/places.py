"""Where a chat is shown: on the demo's page, and as an element in a page that has nothing else."""

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.serving import Demo

MADE = """async ([as, id]) => {
  const { Chat } = await import("/browser/chat.js");
  await import("/browser/element.js");
  document.body.replaceChildren();
  document.title = "A page";
  const made = document.createElement("chat-aio");
  made.people = await (await fetch("/people")).json();
  made.chat = new Chat("/api/chat", { query: { as } });
  made.setAttribute("features", "details drafts emoji files inbox presence previews reports");
  made.setAttribute("address", as);
  made.setAttribute("user", as);
  document.body.append(made);
  made.style.blockSize = "100dvh";
  if (id) await made.open(id);
}"""


@pytest_asyncio.fixture(loop_scope="session", params=["page", "element"])
async def visit(
    request: pytest.FixtureRequest, visit: Visit, demo: Demo, open_page: Visit
) -> Visit:
    """Open a chat as somebody: on the demo's page, and in an empty one of the same service."""

    async def visited(user_id: str, conversation_id: str = "", **options: object) -> Page:
        page = await open_page(**options)
        await page.goto(f"http://127.0.0.1:{demo.port}/people")
        await page.evaluate(MADE, [user_id, conversation_id])
        await expect(page.locator("#app")).to_have_attribute("data-status", "live")
        return page

    return visit if request.param == "page" else visited
