"""What is copied of a message: its text, and a link that leads to it."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.acting import choose, main_list, message, thread
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def copied(page: Page, body: str, item: str) -> str:
    """What is in the clipboard when an item of a message's menu was chosen."""
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await choose(message(main_list(page), body), item)
    await expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    return str(await page.evaluate("navigator.clipboard.readText()"))


async def test_the_text_is_copied_as_it_was_written(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    await demo.send("linus", direct_id, "**Bold** text\n- one")
    dennis = await visit("dennis", direct_id)
    assert await copied(dennis, "Bold", "Copy text") == "**Bold** text\n- one"


async def test_a_link_leads_others_to_the_message(visit: Visit, demo: Demo) -> None:
    """Also one that is further back than what is loaded at first; whoever follows it says first
    who that is."""
    direct_id = await demo.direct("linus", "dennis")
    first = await demo.write("linus", direct_id, "The first of all")
    linus = await visit("linus", direct_id)
    link = await copied(linus, "The first", "Copy link")
    assert link == f"http://127.0.0.1:{demo.port}/#/{direct_id}/message/{first['id']}"
    await demo.fill(direct_id, [("linus", f"later {number}") for number in range(60)])
    await demo.read_all("dennis", direct_id)

    dennis = await visit("")
    await dennis.goto(link)
    await dennis.get_by_role("link", name="Dennis").click()
    row = message(main_list(dennis), "The first of all")
    await expect(row).to_have_attribute("data-pointed", "")
    await expect(row).to_be_in_viewport()
    assert dennis.url.endswith(f"#dennis/{direct_id}")


async def test_a_link_in_a_message_leads_there_in_this_window(visit: Visit, demo: Demo) -> None:
    """As often as it is followed."""
    direct_id = await demo.direct("linus", "dennis")
    root = await demo.write("linus", direct_id, "A root")
    reply = await demo.write("dennis", direct_id, "A reply", threadRootMessageId=root["id"])
    place = f"http://127.0.0.1:{demo.port}/#/{direct_id}/{root['id']}/{reply['id']}"
    await demo.send("linus", await demo.direct("linus", "grace"), f"See {place}, please")
    grace_id = await demo.direct("linus", "grace")
    linus = await visit("linus", grace_id)
    for _ in range(2):
        await main_list(linus).get_by_role("link").click()
        row = message(thread(linus), "A reply")
        await expect(row).to_have_attribute("data-pointed", "")
        # In the thread of the time before, it may still be pointed at.
        await expect(linus).to_have_url(re.compile(f"#linus/{direct_id}/{root['id']}$"))
        await linus.get_by_role("link", name="Grace").click()
        await expect(main_list(linus).get_by_role("link")).to_have_count(1)


async def test_a_link_into_a_strange_conversation_leads_nowhere(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    linus = await visit("linus")
    strange_id = await demo.direct("ada", "dennis")
    sent = await demo.write("ada", strange_id, "Between us")
    await linus.goto(f"{linus.url}/{strange_id}/message/{sent['id']}")
    await expect(linus.get_by_text("That conversation is not open to you.")).to_be_visible()
    await expect(linus.get_by_text("Between us")).to_have_count(0)
