"""Pins and topics: an admin sets them, others see them at once and are led to the message."""

import pytest
from playwright.async_api import expect

from tests.browser.acting import act, details, main_list, message, write
from tests.browser.conftest import Visit
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_pinned_message_is_found_by_everybody(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", conversation_id)
    dennis = await visit("dennis", f"{conversation_id}/details")
    pins = details(dennis).get_by_role("region", name="Pinned")
    await expect(pins).to_contain_text("Nothing is pinned.")
    await write(linus, "Read this first")
    await act(message(main_list(linus), "Read this first"), "More actions")
    await linus.get_by_role("menuitem", name="Pin", exact=True).click()
    await expect(pins).to_contain_text("Read this first")
    await expect(pins.get_by_role("button", name="Unpin")).to_have_count(0)
    await pins.get_by_role("button", name="Show the message of Linus").click()
    await expect(message(main_list(dennis), "Read this first")).to_be_in_viewport()
    await act(message(main_list(dennis), "Read this first"), "More actions")
    await expect(dennis.get_by_role("menuitem", name="Report")).to_be_visible()
    await expect(dennis.get_by_role("menuitem", name="Pin", exact=True)).to_have_count(0)
    await dennis.keyboard.press("Escape")
    await dennis.goto(dennis.url.split("#")[0] + f"#dennis/{conversation_id}/details")
    await expect(pins).to_contain_text("Read this first")
    pinned = (await demo.newest("linus", conversation_id))["id"]
    await demo.delete("linus", f"/messages/{pinned}")
    await expect(pins).to_contain_text("This message was deleted.")
    await demo.delete("linus", f"/conversations/{conversation_id}/pins/{pinned}")
    await expect(pins).to_contain_text("Nothing is pinned.")


async def test_both_pin_in_a_direct_conversation(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", f"{conversation_id}/details")
    dennis = await visit("dennis", f"{conversation_id}/details")
    # The details take the focus when they are loaded.
    await expect(details(linus)).to_be_visible()
    await write(linus, "Our address")
    await act(message(main_list(dennis), "Our address"), "More actions")
    await dennis.get_by_role("menuitem", name="Pin", exact=True).click()
    pins = details(linus).get_by_role("region", name="Pinned")
    await pins.get_by_role("button", name="Unpin").click()
    await expect(pins).to_contain_text("Nothing is pinned.")


async def test_a_topic_stands_below_the_name(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", f"{conversation_id}/details")
    dennis = await visit("dennis", conversation_id)
    await details(linus).get_by_label("Topic").fill("  Schedulers,\nand locks ")
    await details(linus).get_by_role("button", name="Save").click()
    await expect(details(linus).get_by_text("Saved.")).to_be_visible()
    await expect(dennis.locator("#subtitle")).to_contain_text("Schedulers, and locks · ")
    await details(linus).get_by_label("Topic").fill("")
    await details(linus).get_by_role("button", name="Save").click()
    await expect(dennis.locator("#subtitle")).not_to_contain_text("Schedulers")
