"""Room controls: an admin freezes a group, slows it down and bans from it; others see what they can
do."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.acting import act, details, main_list, message, write
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo
from tests.browser.test_groups import manage

pytestmark = pytest.mark.asyncio(loop_scope="session")


def box(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


async def set_to(page: Page, label: str, option: str) -> None:
    await details(page).get_by_label(label).select_option(option)
    await details(page).get_by_role("button", name="Save").click()
    await expect(details(page).get_by_text("Saved.")).to_be_visible()


async def test_a_group_is_frozen_and_thaws(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", f"{conversation_id}/details")
    dennis = await visit("dennis", conversation_id)
    await expect(box(dennis)).to_be_editable()
    await set_to(linus, "Who can write", "true")
    await expect(box(dennis)).not_to_be_editable()
    await expect(box(dennis)).to_have_attribute("placeholder", "Only admins can write here.")
    await write(linus, "Quiet, please")
    row = message(main_list(dennis), "Quiet, please")
    await act(row, "Reply in thread")
    answer = dennis.get_by_label("Message in the thread", exact=True)
    await expect(answer).not_to_be_editable()
    await dennis.goto(dennis.url.split("#")[0] + f"#dennis/{conversation_id}/details")
    await expect(details(dennis)).to_contain_text("Only admins can write here.")
    await set_to(linus, "Who can write", "false")
    await expect(box(dennis)).to_be_editable()
    await write(dennis, "Thank you")
    await expect(message(main_list(linus), "Thank you")).to_be_visible()


async def test_newcomers_see_what_is_said_after_they_joined(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", f"{conversation_id}/details")
    await write(linus, "Between us")
    await set_to(linus, "What people see who join from now on", "since_join")
    dennis = await visit("dennis", f"{conversation_id}/details")
    await expect(message(main_list(dennis), "Between us")).to_be_visible()
    words = "Newcomers see only what is said after they joined."
    await expect(details(dennis)).to_contain_text(words)
    await demo.post("linus", f"/conversations/{conversation_id}/participants", userIds=["grace"])
    grace = await visit("grace", conversation_id)
    await write(linus, "Welcome")
    await expect(message(main_list(grace), "Welcome")).to_be_visible()
    await expect(main_list(grace)).not_to_contain_text("Between us")


async def test_slow_mode_says_how_long(visit: Visit, demo: Demo, complaints: Complaints) -> None:
    complaints.excuse("429")
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", f"{conversation_id}/details")
    dennis = await visit("dennis", conversation_id)
    await set_to(linus, "How often members write", "300")
    words = "Slow mode: one message every 5 minutes."
    await expect(box(dennis)).to_have_attribute("placeholder", words)
    for body in ("One", "Two"):
        await write(dennis, body)
    await expect(message(main_list(linus), "One")).to_be_visible()
    await expect(main_list(dennis)).to_contain_text("Slow mode: try again in")
    await expect(main_list(linus)).not_to_contain_text("Two")
    await demo.patch("linus", f"/conversations/{conversation_id}", slowModeSeconds=7)
    interval = details(linus).get_by_label("How often members write")
    await expect(interval).to_have_value("7")


async def test_somebody_is_banned_and_may_come_back(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    here = f"/conversations/{conversation_id}"
    await demo.patch("linus", here, visibility="public", joinPolicy="open")
    linus = await visit("linus", f"{conversation_id}/details")
    dennis = await visit("dennis", conversation_id)
    bans = details(linus).get_by_role("region", name="Banned")
    await expect(bans).to_contain_text("Nobody is banned.")
    await manage(linus, "Dennis", "Ban from here")
    await linus.get_by_role("dialog").get_by_role("button", name="Ban").click()
    await expect(dennis.locator("#notice")).to_have_text("Linus removed you from Kernel.")
    await expect(bans).to_contain_text("Dennis")
    await dennis.goto(dennis.url.split("#")[0] + "#dennis/channels")
    join = dennis.get_by_role("button", name="Join Kernel")
    await join.click()
    await expect(dennis.get_by_role("alert").filter(has_text="banned")).to_be_visible()
    await bans.get_by_role("button", name="Lift the ban of Dennis").click()
    await expect(bans).to_contain_text("Nobody is banned.")
    await join.click()
    await expect(dennis.locator("#title")).to_have_text("Kernel")
