"""The shop in Node.js, in two browsers: two people talk, with names."""

from typing import Any

import pytest
from playwright.async_api import Page, expect
from pymongo import AsyncMongoClient

from tests.browser.conftest import Visit
from tests.browser.embedding import messages, say
from tests.support.node import needs_node, node_host
from tests.support.pool import Pool

pytestmark = [needs_node, pytest.mark.asyncio(loop_scope="session")]


async def log_in(page: Page, origin: str, name: str) -> None:
    await page.goto(origin)
    await page.get_by_label("User").fill(name)
    await page.get_by_label("Password").fill(f"{name}-2026")
    await page.get_by_role("button", name="Log in").click()


async def test_two_people_talk(mongo_url: str, pool: Pool, open_page: Visit) -> None:
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as client:
        database = pool.new(client)
    async with node_host(mongo_url, database.name) as (origin, _):
        ann, ben = await open_page(), await open_page()
        await log_in(ann, origin, "ann")
        await log_in(ben, origin, "ben")
        await expect(ben.get_by_role("heading", name="A lamp")).to_be_visible()
        await say(ann, "Is it bright?")
        await expect(messages(ben)).to_have_count(1)
        await expect(messages(ben).first).to_contain_text("Ann Lee")
        await say(ben, "Very")
        await expect(messages(ann)).to_have_count(2)
        await expect(messages(ann).last).to_contain_text("Ben Okri")
        # Before the shop ends, and their streams with it.
        for page in (ann, ben):
            await page.goto("about:blank")
