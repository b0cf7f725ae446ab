"""Where a chat is shown: on the demo's page, and as an element in a page that has nothing else. A
module of tests that imports this `visit` plays its cases on the page and, among the long tests, in
an element: both have the same views. Cases about what an element has itself, such as its root, its
focus and its size, are played `IN_BOTH` each time."""

from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route

from tests.browser.acting import begun
from tests.browser.conftest import Visit
from tests.browser.serving import Demo

FEATURES = "details drafts emoji files inbox presence previews reports"
BARE = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<style>body {{ margin: 0; }} chat-aio {{ display: block; block-size: 100dvh; }}</style>
<script type="module">
  import {{ Chat }} from "/chat-aio/chat.js";
  import "/chat-aio/element.js";
  const as = location.hash.slice(1).split("/")[0];
  const people = await (await fetch("/people")).json();
  const made = document.createElement("chat-aio");
  Object.assign(made, {{ people, chat: new Chat("/api/chat", {{ query: {{ as }} }}) }});
  for (const [name, value] of [["user", as], ["address", as], ["features", "{FEATURES}"]]) {{
    made.setAttribute(name, value);
  }}
  document.body.append(made);
</script>"""
"""Who is logged in, and what is open, is in its address, as in that of the demo's page."""


IN_BOTH = pytest.mark.parametrize("visit", ["page", "element"], indirect=True)


@pytest_asyncio.fixture(
    loop_scope="session", params=["page", pytest.param("element", marks=pytest.mark.long)]
)
async def visit(
    request: pytest.FixtureRequest, visit: Visit, demo: Demo, open_page: Visit
) -> Visit:
    """Open a chat as somebody: on the demo's page, and in an empty one of the same service."""

    async def visited(user_id: str, conversation_id: str = "", **options: Any) -> Page:
        page = await open_page(**options)
        await page.route("**/bare", answered)
        place = f"{user_id}/{conversation_id}" if conversation_id else user_id
        await page.goto(f"http://127.0.0.1:{demo.port}/bare#{place}")
        await begun(page, conversation_id)
        return page

    return visit if request.param == "page" else visited


async def answered(route: Route) -> None:
    await route.fulfill(body=BARE, content_type="text/html")
