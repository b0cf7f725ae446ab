"""What somebody sees who opens the page for the first time, and where its steps lead."""

from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from playwright.async_api import Locator, Page, expect

from tests.browser.acting import main_list, write
from tests.browser.conftest import Visit
from tests.browser.looking import Looking
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

DOCS = Path(__file__).parents[2] / "docs"


def steps(page: Page) -> Locator:
    return page.get_by_role("region", name="First steps")


async def test_the_steps_lead_to_a_first_message(visit: Visit, demo: Demo) -> None:
    ada = await visit("ada")
    async with ada.expect_popup() as opened:
        await steps(ada).get_by_role("link", name="Open a second window as Grace").click()
    grace = await opened.value
    await expect(grace.locator("#my-name")).to_have_text("Grace")
    await steps(ada).get_by_role("button", name="Write to Grace").click()
    await expect(ada.get_by_role("heading", name="Grace")).to_be_visible()
    await write(ada, "Here I am")
    await grace.locator(".row", has_text="Here I am").click()
    await expect(main_list(grace)).to_contain_text("Here I am")
    await grace.close()


async def test_they_lead_to_the_guide(visit: Visit) -> None:
    ada = await visit("ada")
    async with ada.expect_popup() as opened:
        await steps(ada).get_by_role("link", name="Mount the chat in your app").click()
    guide = await opened.value
    await expect(guide.get_by_role("heading", level=1)).to_have_text("Mount the chat in your app")
    looking = Looking(is_phone=False)
    await looking.at(guide, "the guide")
    assert looking.faults == []
    await guide.get_by_role("link", name="Integration").click()
    await expect(guide.locator("body")).to_contain_text("# Integration")
    await guide.close()


async def test_they_are_hidden_for_good(visit: Visit) -> None:
    ada = await visit("ada")
    await expect(ada.get_by_role("heading", name="Pick a conversation")).to_be_hidden()
    await steps(ada).get_by_role("button", name="Hide these steps").click()
    await expect(ada.get_by_role("link", name="Open a second window")).to_be_focused()
    await ada.reload()
    await expect(ada.get_by_role("heading", name="Pick a conversation")).to_be_visible()
    await expect(steps(ada)).to_have_count(0)


async def test_they_say_what_fails(visit: Visit, complaints: Any) -> None:
    complaints.excuse("the server responded with a status of 503")
    ada = await visit("ada")
    refusal = {"error": {"code": "STORAGE_UNAVAILABLE", "message": "not now"}}
    await ada.route("**/conversations?*", lambda route: route.fulfill(status=503, json=refusal))
    await steps(ada).get_by_role("button", name="Write to Grace").click()
    await expect(steps(ada).get_by_role("alert")).not_to_be_empty()


async def test_the_guide_is_the_one_of_the_documents(demo: Demo) -> None:
    url = f"http://127.0.0.1:{demo.port}/integration.md"
    async with ClientSession() as session, session.get(url) as response:
        assert response.content_type == "text/plain"
        assert await response.text() == (DOCS / "guides/integration.md").read_text()
