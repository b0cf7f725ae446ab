"""Blocking, muting, reporting; the moderator's screen; what is left to whoever is banned."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.acting import choose, details, main_list, message, write
from tests.browser.conftest import Visit
from tests.browser.looking import fits
from tests.browser.serving import Complaints, Demo
from tests.browser.test_layout import PHONE

pytestmark = pytest.mark.asyncio(loop_scope="session")

MODERATOR = "ada"


def part(page: Page, name: str) -> Locator:
    """A section of the moderator's screen."""
    return page.get_by_role("main", name="Moderation").get_by_role("region", name=name)


async def report(page: Page, heading: str, reason: str) -> None:
    """Fill in the dialog that is open, and be thanked."""
    dialog = page.get_by_role("dialog", name=heading)
    await dialog.get_by_label("What is wrong").fill(reason)
    await dialog.get_by_role("button", name="Report").click()
    thanks = page.get_by_role("dialog", name="Thank you")
    await expect(thanks).to_be_visible()
    await thanks.get_by_role("button", name="Close").click()


async def test_a_block_refuses_until_it_is_taken_back(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", f"{conversation_id}/details")
    dennis = await visit("dennis", conversation_id)
    await details(linus).get_by_role("button", name="Block Dennis").click()
    bar = linus.get_by_role("status").filter(has_text="You have blocked Dennis.")
    await expect(bar).to_be_visible()
    await expect(details(linus).get_by_role("button", name="Unblock Dennis")).to_be_visible()

    await write(dennis, "Hello?")
    row = message(main_list(dennis), "Hello?")
    await expect(row).to_contain_text(
        "Not sent. You cannot write to each other: one of you has blocked the other."
    )
    await expect(dennis.locator("#blocked")).to_be_hidden()

    await linus.reload()
    await linus.get_by_role("link", name="Close the details").click()
    await bar.get_by_role("button", name="Unblock").click()
    await expect(bar).to_be_hidden()
    await expect(linus.get_by_label("Message", exact=True)).to_be_focused()
    await row.get_by_role("button", name="Retry").click()
    await expect(message(main_list(linus), "Hello?")).to_be_visible()


async def test_a_mute_marks_the_conversation_and_quiets_its_badge(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", f"{conversation_id}/details")
    row = linus.get_by_role("link", name="Dennis")
    mark = row.get_by_title("Muted")
    await expect(mark).to_be_hidden()
    await details(linus).get_by_role("button", name="Mute").click()
    await expect(mark).to_be_visible()

    await linus.goto(f"http://127.0.0.1:{demo.port}/#linus")
    await demo.send("dennis", conversation_id, "psst")
    await expect(row.locator(".badge")).to_have_text("1 unread")
    # Three are in the sample conversation.
    await expect(linus).to_have_title("(3) Linus")
    await linus.reload()
    await expect(mark).to_be_visible()
    await expect(linus).to_have_title("(3) Linus")
    color = "node => getComputedStyle(node).backgroundColor"
    loud = linus.get_by_role("link", name="Engine room").locator(".badge")
    assert await row.locator(".badge").evaluate(color) != await loud.evaluate(color)

    await row.click()
    await linus.get_by_role("link", name="Details").click()
    await details(linus).get_by_role("button", name="Unmute").click()
    await expect(mark).to_be_hidden()


async def test_a_reported_message_is_resolved_by_the_moderator(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    written = await demo.write("dennis", conversation_id, "<b>Rude</b> words")
    linus, moderator = await visit("linus", conversation_id), await visit(MODERATOR)
    await choose(message(main_list(linus), "Rude"), "Report")
    await linus.get_by_role("dialog").get_by_role("button", name="Report").click()
    await expect(linus.get_by_role("dialog").get_by_role("alert")).to_have_text(
        "Say what is wrong."
    )
    await report(linus, "Report this message", "He is rude")
    await demo.patch("dennis", f"/messages/{written['id']}", body="Kind words")

    await moderator.get_by_role("link", name="Moderation").click()
    case = part(moderator, "Reports").get_by_role("listitem")
    for words in ("A message by Dennis", "Reported by Linus", "He is rude", "<b>Rude</b> words"):
        await expect(case).to_contain_text(words)
    await part(moderator, "Reports").get_by_label("Status").select_option("Open")
    await case.get_by_role("button", name="Triage").click()
    await expect(part(moderator, "Reports")).to_contain_text("No reports.")
    await part(moderator, "Reports").get_by_label("Status").select_option("Triaged")
    await case.get_by_label("Note").fill("Talked to him")
    await case.get_by_role("button", name="Resolve").click()
    await expect(case).to_have_count(0)
    await part(moderator, "Reports").get_by_label("Status").select_option("Resolved")
    await expect(case.locator(".role")).to_have_text(["1 report", "Resolved"])
    await expect(case.get_by_role("button", name="Dismiss")).to_be_hidden()
    await expect(case.get_by_label("Note")).to_have_value("Talked to him")
    reports = (await demo.get(MODERATOR, "/moderation/reports"))["reports"]
    assert [(row["status"], row["moderatorNote"]) for row in reports] == [
        ("resolved", "Talked to him")
    ]


async def test_people_and_groups_are_reported_from_their_details(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    group_id = await demo.group("dennis", "linus", name="Kernel")
    linus = await visit("linus", f"{direct_id}/details", **PHONE)
    assert await fits(linus)
    await details(linus).get_by_role("button", name="Report Dennis").tap()
    await report(linus, "Report Dennis", "Spams")
    await linus.goto(f"http://127.0.0.1:{demo.port}/#linus/{group_id}/details")
    await expect(details(linus).get_by_role("button", name="Block")).to_be_hidden()
    await details(linus).get_by_role("button", name="Report this group").tap()
    await report(linus, "Report Kernel", "Full of spam " + "unbreakable" * 30)

    moderator = await visit(MODERATOR, "moderation", **PHONE)
    cases = part(moderator, "Reports").get_by_role("listitem")
    await expect(cases.locator(".person-name")).to_have_text(["Kernel", "Dennis"])
    await expect(cases.first).to_contain_text("With Dennis and Linus")
    assert await fits(moderator)


async def test_a_ban_takes_the_page_away_until_it_is_revoked(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    dennis, moderator = await visit("dennis"), await visit(MODERATOR, "moderation")
    await dennis.get_by_role("button", name="New group").click()
    await part(moderator, "Bans").get_by_role("button", name="Ban somebody").click()
    dialog = moderator.get_by_role("dialog", name="Ban somebody")
    await dialog.get_by_label("Who").select_option("Dennis")
    await dialog.get_by_label("Reason").fill("Spam")
    await dialog.get_by_label("Until").fill("2999-01-01T12:00")
    await dialog.get_by_role("button", name="Ban").click()
    case = part(moderator, "Bans").get_by_role("listitem")
    for words in ("Dennis", "Spam", "Banned by Ada", "until Jan 1, 2999"):
        await expect(case).to_contain_text(words)

    heading = dennis.get_by_role("heading", name="You are banned")
    await expect(heading).to_be_focused()
    await expect(dennis.locator("#app")).to_be_hidden()
    await expect(dennis.get_by_role("dialog")).to_be_hidden()
    await dennis.get_by_role("button", name="Try again").click()
    await expect(heading).to_be_visible()

    await case.get_by_role("button", name="Revoke the ban of Dennis").click()
    await expect(part(moderator, "Bans")).to_contain_text("Nobody is banned.")
    await part(moderator, "Bans").get_by_label("Which bans").select_option("All")
    await expect(case).to_contain_text("revoked")
    await dennis.get_by_role("button", name="Try again").click()
    await expect(dennis.locator("#status")).to_have_text("Live")


async def test_only_the_moderator_is_led_to_the_screen(
    visit: Visit, complaints: Complaints
) -> None:
    complaints.excuse("403")
    moderator = await visit(MODERATOR)
    await expect(moderator.get_by_role("link", name="Moderation")).to_be_visible()
    linus = await visit("linus", "moderation")
    await expect(part(linus, "Reports")).to_contain_text("Only moderators can do this")
    await expect(linus.locator("#to-moderation")).to_be_hidden()
