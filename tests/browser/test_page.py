"""What only the demo's page has: conversations are begun in its bar, and its title counts."""

import pytest
from playwright.async_api import expect

from tests.browser.acting import CHAT, become, write
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_new_direct_conversation_comes_with_its_first_message(visit: Visit) -> None:
    dennis = await visit("dennis")
    linus = await visit("linus")
    await linus.get_by_role("button", name="New message").click()
    await linus.get_by_role("dialog").get_by_role("button", name="Dennis").click()
    await expect(linus.get_by_role("heading", name="Dennis")).to_be_visible()

    await write(linus, "Hello there")

    row = dennis.get_by_role("link", name="Linus")
    await expect(row).to_contain_text("Hello there")
    await expect(row).to_contain_text("1 unread")


async def test_a_group_appears_at_those_who_are_in_it(visit: Visit) -> None:
    dennis, margaret = await visit("dennis"), await visit("margaret")
    linus = await visit("linus")
    await linus.get_by_role("button", name="New group").click()
    await linus.get_by_role("dialog").get_by_label("Name").fill("Kernel")
    await linus.get_by_role("checkbox", name="Dennis").check()
    await linus.get_by_role("button", name="Create group").click()

    await expect(linus.get_by_role("heading", name="Kernel")).to_be_visible()
    await expect(linus.locator("#subtitle")).to_have_text("2 people: you, Dennis")
    await expect(dennis.get_by_role("link", name="Kernel")).to_be_visible()
    await write(linus, "First things first")
    await expect(dennis.get_by_role("link", name="Kernel")).to_contain_text("Linus: First things")
    await expect(margaret.get_by_role("link", name="Kernel")).to_have_count(0)


async def test_a_group_that_is_refused_says_why(visit: Visit, complaints: Complaints) -> None:
    complaints.excuse("400")
    linus = await visit("linus")
    await linus.get_by_role("button", name="New group").click()
    await linus.evaluate(f"{CHAT}.querySelector('dialog [name=name]').removeAttribute('maxlength')")
    await linus.get_by_role("dialog").get_by_label("Name").fill("x" * 201)
    await linus.get_by_role("dialog").get_by_label("Dennis").check()
    await linus.get_by_role("button", name="Create group").click()

    await expect(linus.get_by_role("dialog").get_by_role("alert")).to_have_text(
        "The service did not accept this."
    )
    await expect(linus.get_by_role("dialog")).to_be_visible()


async def test_the_title_has_the_conversation_and_what_is_unread(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("linus", conversation_id, "one")
    dennis = await visit("dennis")
    await expect(dennis).to_have_title("(4) Dennis")
    async with dennis.expect_response("**/read?*"):
        await dennis.get_by_role("link", name="Linus").click()
    await expect(dennis).to_have_title("(3) Linus · Dennis")
    await become(dennis, "hidden")
    await demo.send("linus", conversation_id, "are you there?")
    await expect(dennis).to_have_title("(4) Linus · Dennis")
