"""Favourites and archived conversations in the list, by the menu of a row and by the details."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.acting import details, hurry, main_list
from tests.browser.conftest import Visit
from tests.browser.embedding import MADE
from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


def rows(page: Page) -> Locator:
    return page.locator("#conversations .row-title")


def row(page: Page, name: str) -> Locator:
    return page.locator("#conversations .row").filter(has_text=name)


async def choose(page: Page, name: str, act: str) -> None:
    await row(page, name).click(button="right")
    await page.get_by_role("menuitem", name=act, exact=True).click()


async def test_favourites_come_first(visit: Visit, demo: Demo) -> None:
    """Also those that are further down than the list is loaded."""
    old = await demo.group("linus", "dennis", name="Old")
    for number in range(60):
        await demo.group("linus", name=f"Group {number}")
    await demo.patch("linus", f"/conversations/{old}/view", favourite=True)
    linus = await visit("linus")
    first = rows(linus).first
    await expect(first).to_have_text("Old")
    await expect(row(linus, "Old").locator(".favourite-mark")).to_be_visible()

    await choose(linus, "Group 57", "Add to favourites")
    await expect(first).to_have_text("Group 57")
    await demo.write("dennis", old, "Hello")
    await expect(first).to_have_text("Old")
    await expect(rows(linus).nth(1)).to_have_text("Group 57")
    await choose(linus, "Group 57", "Remove from favourites")
    await expect(rows(linus).nth(1)).to_have_text("Group 59")
    await expect(row(linus, "Group 57").locator(".favourite-mark")).to_be_hidden()


async def test_archived_conversations_have_their_own_list(visit: Visit, demo: Demo) -> None:
    kernel = await demo.group("linus", "dennis", name="Kernel")
    await demo.group("linus", name="Shell")
    linus, other = await visit("linus"), await visit("linus")
    await expect(rows(linus).first).to_have_text("Shell")
    await row(linus, "Kernel").focus()
    await linus.keyboard.press("ContextMenu")
    await linus.get_by_role("menuitem", name="Archive", exact=True).click()
    for page in (linus, other):
        await expect(row(page, "Kernel")).to_have_count(0)
    # Messages in quick succession lead to one request for the archive.
    await hurry(linus)
    await demo.write("dennis", kernel, "Anybody here?")
    await linus.get_by_role("link", name="Archived").click()
    archive = linus.get_by_role("main", name="Archived")
    item = archive.get_by_role("listitem")
    await expect(item).to_contain_text("1 new")
    await demo.write("dennis", kernel, "Nobody")
    await expect(item).to_contain_text("Nobody")
    await expect(row(linus, "Kernel")).to_have_count(0)
    await item.get_by_role("link").click()
    await expect(main_list(linus)).to_contain_text("Anybody here?")

    await linus.get_by_role("link", name="Archived").click()
    await expect(item).not_to_contain_text("new")
    await item.get_by_role("button", name="Unarchive: Kernel").click()
    await expect(archive).to_contain_text("You have archived no conversations.")
    for page in (linus, other):
        await expect(rows(page).first).to_have_text("Kernel")


async def test_archiving_by_the_details(visit: Visit, demo: Demo) -> None:
    kernel = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", f"{kernel}/details")
    await details(linus).get_by_role("button", name="Archive", exact=True).click()
    await expect(row(linus, "Kernel")).to_have_count(0)
    await details(linus).get_by_role("button", name="Unarchive").click()
    await expect(row(linus, "Kernel")).to_be_visible()
    await details(linus).get_by_role("button", name="Add to favourites").click()
    await expect(row(linus, "Kernel").locator(".favourite-mark")).to_be_visible()
    await choose(linus, "Kernel", "Mute")
    await expect(details(linus).get_by_role("button", name="Unmute")).to_be_visible()


async def test_a_list_of_archived_ones_goes_on_to_the_others(visit: Visit, demo: Demo) -> None:
    await demo.group("linus", name="Kernel")
    for number in range(55):
        group = await demo.group("linus", name=f"Group {number}")
        await demo.patch("linus", f"/conversations/{group}/view", archived=True)
    linus = await visit("linus")
    await expect(rows(linus)).to_have_text(["Kernel", "Engine room"])


async def test_a_service_without_inbox_has_a_list(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        await grace.create_group_conversation(name="Kernel", user_ids=["ada"])
    await ada.evaluate(MADE, [{"user": "ada", "view": "full", "features": "inbox"}, {}])
    await expect(rows(ada)).to_have_text(["Kernel"])
    await row(ada, "Kernel").click(button="right")
    await expect(ada.get_by_role("menuitem")).to_have_text(["Mute"])
