"""Held messages on the moderators' screen: read, sent in their sender's name, or removed."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.acting import main_list, message, write
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo
from tests.browser.test_moderation import MODERATOR, part

pytestmark = pytest.mark.asyncio(loop_scope="session")

ADVERT = "The best casino in town"


@pytest.fixture(autouse=True)
def _refusals(complaints: Complaints) -> None:
    """What is held is answered with an error, which a browser writes into its console."""
    complaints.excuse("403")


async def hold(demo: Demo, user_id: str, conversation_id: str, body: str) -> None:
    with pytest.raises(AssertionError, match="MESSAGE_HELD"):
        await demo.write(user_id, conversation_id, body)


async def held(demo: Demo) -> list[Any]:
    found = await demo.get(MODERATOR, "/moderation/held")
    return list(found["heldMessages"])


async def test_a_held_message_is_released(visit: Visit, demo: Demo) -> None:
    group_id = await demo.group("linus", "dennis", "ada", name="Kernel")
    dennis = await visit("dennis", group_id)
    await write(dennis, ADVERT)
    waits = message(main_list(dennis), ADVERT)
    await expect(waits).to_contain_text("Waits for a moderator. This looks like advertising.")
    await expect(waits.locator(".failed-actions").get_by_role("button")).to_have_text(["Discard"])
    await dennis.reload()
    await expect(waits).to_contain_text("Waits for a moderator.")
    moderator = await visit(MODERATOR, "moderation")
    waiting = part(moderator, "Held messages")
    case = waiting.get_by_role("listitem")
    await expect(case).to_contain_text("A message by Dennis")
    await expect(case).to_contain_text("In Kernel · Kept until")
    await expect(case.locator(".case-reason")).to_contain_text("This looks like advertising.")
    await expect(case.locator(".excerpt")).to_have_text(ADVERT)

    await case.get_by_role("button", name="Release: A message by Dennis").click()
    await expect(case).to_have_count(0)
    await expect(waiting).to_contain_text("No messages are held.")
    await expect(waiting.get_by_role("heading")).to_be_focused()
    await expect(message(main_list(dennis), ADVERT)).to_have_count(1)
    await expect(message(main_list(dennis), ADVERT)).not_to_contain_text("Waits")
    assert await demo.bodies("linus", group_id) == [ADVERT]
    assert await held(demo) == []


async def test_a_moderator_sees_that_messages_are_held(visit: Visit, demo: Demo) -> None:
    """When the page opens, and with each report: of what is held nobody is told."""
    direct_id = await demo.direct("linus", "dennis")
    sent = await demo.write("dennis", direct_id, "Something unkind")
    await hold(demo, "dennis", direct_id, ADVERT)
    moderator = await visit(MODERATOR, "moderation")
    badge = moderator.locator("#waiting")
    await expect(badge).to_have_text("1 waiting")
    await hold(demo, "dennis", direct_id, f"{ADVERT}, again")
    await demo.post(
        "linus", "/moderation/reports", targetType="message", targetId=sent["id"], reason="unkind"
    )
    await expect(badge).to_have_text("3 waiting")
    cases = part(moderator, "Held messages").get_by_role("listitem")
    await expect(cases).to_have_count(2)
    await cases.first.get_by_role("button", name="Discard").click()
    await expect(badge).to_have_text("2 waiting")


async def test_a_held_message_is_discarded(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    await hold(demo, "dennis", direct_id, f"{ADVERT} <b>now</b>")
    await hold(demo, "dennis", direct_id, "Free money")
    moderator = await visit(MODERATOR, "moderation")
    waiting = part(moderator, "Held messages")
    bodies = waiting.locator(".excerpt")
    await expect(bodies).to_have_text(["Free money", f"{ADVERT} <b>now</b>"])
    # A conversation of others is known by its id alone.
    await expect(waiting.get_by_role("listitem").first).to_contain_text(f"In {direct_id}")
    await waiting.get_by_role("button", name="Discard: A message by Dennis").first.click()
    await expect(bodies).to_have_text([f"{ADVERT} <b>now</b>"])
    assert [row["body"] for row in await held(demo)] == [f"{ADVERT} <b>now</b>"]
    assert await demo.bodies("linus", direct_id) == []

    await waiting.get_by_role("button", name="Standing: Dennis").click()
    dialog = moderator.get_by_role("dialog", name="Standing of Dennis")
    await expect(dialog).to_be_visible()


async def test_what_cannot_be_released_says_why_and_stays(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    await hold(demo, "dennis", direct_id, ADVERT)
    moderator = await visit(MODERATOR, "moderation")
    waiting = part(moderator, "Held messages")
    await demo.post(MODERATOR, "/moderation/bans", targetUserId="dennis")
    await waiting.get_by_role("button", name="Release").click()
    problem = waiting.get_by_role("alert")
    await expect(problem).to_have_text("The sender of this message is banned.")
    await expect(waiting.get_by_role("listitem")).to_have_count(1)
    await moderator.get_by_role("button", name="Refresh").click()
    await expect(problem).to_be_hidden()


async def test_more_are_loaded_when_they_are_asked_for(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    for number in range(21):
        await hold(demo, "dennis", direct_id, f"casino {number}")
    moderator = await visit(MODERATOR, "moderation")
    waiting = part(moderator, "Held messages")
    await expect(waiting.get_by_role("listitem")).to_have_count(20)
    await waiting.get_by_role("button", name="Load more").click()
    await expect(waiting.get_by_role("listitem")).to_have_count(21)
    await expect(waiting.get_by_role("listitem").last).to_contain_text("casino 0")
    await expect(waiting.get_by_role("button", name="Load more")).to_be_hidden()
