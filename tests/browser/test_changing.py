"""Messages that are there: edited, deleted, reacted to. Whoever looks on sees it happen."""

import asyncio
from functools import partial

import pytest
from playwright.async_api import Route, expect

from tests.browser import pairs
from tests.browser.acting import act, choose, hurry, main_list, message
from tests.browser.conftest import Visit
from tests.browser.places import IN_BOTH
from tests.browser.places import visit as visit
from tests.browser.serving import Complaints, Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

opened = partial(pairs.opened, "linus")
both = partial(pairs.open_for_both, "linus")


@IN_BOTH
async def test_an_edit_is_seen_by_the_other(visit: Visit, demo: Demo) -> None:
    linus, dennis, conversation_id = await both(visit, demo, "Hello wrold")
    box = linus.get_by_label("Message", exact=True)
    # Until a pause ends, the row says that Linus is typing.
    await hurry(dennis)
    await box.fill("not yet sent")
    await choose(message(main_list(linus), "wrold"), "Edit")
    await expect(linus.get_by_text("Editing your message")).to_be_visible()
    await expect(box).to_have_value("Hello wrold")
    await box.fill("Hello world")
    await box.press("Enter")

    for page in (linus, dennis):
        row = message(main_list(page), "Hello world")
        await expect(row.get_by_text("edited", exact=True)).to_be_visible()
        await expect(main_list(page).locator(".message")).to_have_count(1)
    await expect(linus.get_by_text("Editing your message")).to_be_hidden()
    await expect(box).to_have_value("not yet sent")
    await expect(dennis.locator(".row-preview").first).to_have_text("Hello world")
    assert await demo.bodies("linus", conversation_id) == ["Hello world"]


async def test_escape_ends_an_edit_and_only_ones_own_can_be_edited(
    visit: Visit, demo: Demo
) -> None:
    linus, dennis, conversation_id = await both(visit, demo, "As it is")
    box = linus.get_by_label("Message", exact=True)
    # From an empty text, the key goes up to what was said last.
    await box.press("ArrowUp")
    await expect(box).to_have_value("As it is")
    await box.fill("As it is not")
    await box.press("Escape")

    await expect(box).to_have_value("")
    await expect(linus.get_by_text("Editing your message")).to_be_hidden()
    await act(message(main_list(dennis), "As it is"), "More actions")
    items = ["Forward", "Report", "Copy text", "Copy link", "Mark as unread", "Pin"]
    await expect(dennis.get_by_role("menuitem")).to_have_text(items)
    assert await demo.bodies("linus", conversation_id) == ["As it is"]


async def test_an_edit_that_is_too_long_says_so_and_keeps_the_text(
    visit: Visit, demo: Demo
) -> None:
    linus, _ = await opened(visit, demo, "Short")
    box = linus.get_by_label("Message", exact=True)
    await choose(message(main_list(linus), "Short"), "Edit")
    await box.fill("x" * 16_385)
    await box.press("Enter")

    await expect(linus.locator("#composer").get_by_role("alert")).to_have_text(
        "A message has at most 16,384 characters; this one has 16,385."
    )
    await expect(box).to_have_value("x" * 16_385)
    await box.press("Escape")
    await expect(linus.locator("#composer").get_by_role("alert")).to_be_hidden()


@IN_BOTH
async def test_a_deletion_is_confirmed_and_leaves_a_tombstone(visit: Visit, demo: Demo) -> None:
    linus, dennis, conversation_id = await both(visit, demo, "first", "regrettable")
    await choose(message(main_list(linus), "regrettable"), "Delete")
    dialog = linus.get_by_role("dialog", name="Delete this message?")
    await expect(dialog).to_contain_text("regrettable")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(dialog).to_be_hidden()
    assert await demo.bodies("linus", conversation_id) == ["first", "regrettable"]

    await choose(message(main_list(linus), "regrettable"), "Delete")
    await dialog.get_by_role("button", name="Delete").click()

    for page in (linus, dennis):
        bodies = main_list(page).locator(".message .body")
        await expect(bodies).to_have_text(["first", "This message was deleted"])
        await main_list(page).locator("[data-state=deleted]").hover()
        await expect(main_list(page).get_by_role("toolbar")).to_have_count(0)
    await expect(dennis.locator(".row-preview").first).to_have_text("Message deleted")
    assert await demo.bodies("linus", conversation_id) == ["first", ""]


async def test_an_edit_that_leaves_nothing_asks_whether_to_delete(visit: Visit, demo: Demo) -> None:
    linus, conversation_id = await opened(visit, demo, "regrettable")
    box = linus.get_by_label("Message", exact=True)
    await box.press("ArrowUp")
    await box.fill(" ")
    await box.press("Enter")
    dialog = linus.get_by_role("dialog", name="Delete this message?")
    await expect(dialog).to_contain_text("regrettable")
    await linus.keyboard.press("Escape")
    await expect(linus.get_by_text("Editing your message")).to_be_visible()
    await expect(box).to_be_focused()
    assert await demo.bodies("linus", conversation_id) == ["regrettable"]
    await box.press("Enter")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(main_list(linus).locator("[data-state=deleted]")).to_have_count(1)
    await expect(linus.get_by_text("Editing your message")).to_be_hidden()


async def test_what_is_being_edited_can_be_deleted_meanwhile(visit: Visit, demo: Demo) -> None:
    linus, conversation_id = await opened(visit, demo, "gone soon")
    await choose(message(main_list(linus), "gone soon"), "Edit")
    sent = await demo.newest("linus", conversation_id)
    await demo.delete("linus", f"/messages/{sent['id']}")

    await expect(linus.get_by_text("That message was deleted.")).to_be_visible()
    await expect(linus.get_by_text("Editing your message")).to_be_hidden()
    await expect(linus.get_by_label("Message", exact=True)).to_have_value("")


async def test_reactions_are_shared(visit: Visit, demo: Demo) -> None:
    linus, dennis, _ = await both(visit, demo, "It compiles")
    await act(message(main_list(linus), "It compiles"), "React")
    await linus.get_by_role("dialog", name="React").get_by_role("button", name="🎉").click()

    theirs = main_list(dennis).get_by_role("button", name="🎉 1")
    await expect(theirs).to_have_attribute("title", "Linus reacted with 🎉")
    await expect(theirs).to_have_attribute("aria-pressed", "false")
    await theirs.click()
    mine = main_list(linus).get_by_role("button", name="🎉 2")
    await expect(mine).to_have_attribute("title", "You and Dennis reacted with 🎉")
    await expect(mine).to_have_attribute("aria-pressed", "true")
    await mine.click()
    await expect(main_list(dennis).get_by_role("button", name="🎉 1")).to_be_visible()
    await main_list(dennis).get_by_role("button", name="🎉 1").click()
    for page in (linus, dennis):
        await expect(main_list(page).locator(".chip")).to_have_count(0)


async def test_a_reaction_that_is_refused_says_why(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("422")
    linus, conversation_id = await opened(visit, demo, "Too much")
    sent = await demo.newest("linus", conversation_id)
    for number in range(32):
        await demo.post("linus", f"/messages/{sent['id']}/reactions", emoji=f"r{number}")
    row = message(main_list(linus), "Too much")
    await expect(row.locator(".chip")).to_have_count(32)
    await act(row, "React")
    await linus.get_by_role("dialog", name="React").get_by_role("button", name="🎉").click()
    problem = linus.locator("#composer").get_by_role("alert")
    await expect(problem).to_have_text("This message cannot have more reactions.")
    await expect(row.locator(".chip")).to_have_count(32)
    await row.get_by_role("button", name="r7 1").click()
    await expect(problem).to_be_hidden()
    await expect(row.locator(".chip")).to_have_count(31)


async def test_any_emoji_can_be_typed(visit: Visit, demo: Demo) -> None:
    linus, dennis, _ = await both(visit, demo, "React to me")
    await act(message(main_list(linus), "React to me"), "React")
    await linus.get_by_label("Another emoji").fill(" 🦋 ")
    await linus.keyboard.press("Enter")
    await expect(linus.get_by_role("dialog", name="React")).to_be_hidden()
    await expect(main_list(dennis).get_by_role("button", name="🦋 1")).to_be_visible()


async def test_the_keyboard_reaches_what_one_can_do(visit: Visit, demo: Demo) -> None:
    linus, _ = await opened(visit, demo, "above", "below")
    log = main_list(linus)
    await log.focus()
    await linus.keyboard.press("ArrowUp")
    await expect(message(log, "below")).to_be_focused()
    await linus.keyboard.press("ArrowUp")
    await linus.keyboard.press("Tab")
    row = message(log, "above")
    await expect(row.get_by_role("button", name="React")).to_be_focused()
    await row.get_by_role("button", name="More actions").press("Enter")
    await expect(linus.get_by_role("menuitem").first).to_be_focused()
    await linus.keyboard.press("ArrowDown")
    await expect(linus.get_by_role("menuitem", name="Edit")).to_be_focused()
    await linus.keyboard.press("Escape")
    await expect(row.get_by_role("button", name="More actions")).to_be_focused()
    await linus.keyboard.press("Escape")
    await expect(log).to_be_focused()


async def test_a_reply_waits_while_one_edits(visit: Visit, demo: Demo) -> None:
    """With what it answers, whether the edit is saved or not."""
    linus, dennis, conversation_id = await both(visit, demo, "mine")
    asked = await demo.write("dennis", conversation_id, "How long is it?")
    box = linus.get_by_label("Message", exact=True)
    await act(message(main_list(linus), "How long"), "Reply")
    await box.fill("So long")
    await choose(message(main_list(linus), "mine"), "Edit")
    await box.press("Escape")
    await expect(box).to_have_value("So long")
    await expect(linus.get_by_text("Replying to Dennis")).to_be_visible()
    await choose(message(main_list(linus), "mine"), "Edit")
    await box.fill("changed")
    await box.press("Enter")
    await expect(box).to_have_value("So long")
    await box.press("Enter")
    await expect(message(main_list(dennis), "So long")).to_be_visible()
    sent = await demo.newest("linus", conversation_id)
    assert (sent["body"], sent["replyToMessageId"]) == ("So long", asked["id"])


async def test_nothing_is_typed_while_an_edit_is_saved(visit: Visit, demo: Demo) -> None:
    """It would be thrown away with what has been saved."""
    linus, _ = await opened(visit, demo, "mine")
    held: asyncio.Queue[Route] = asyncio.Queue()
    await linus.route("**/api/chat/messages/*", held.put)
    box = linus.get_by_label("Message", exact=True)
    await box.fill("begun")
    await choose(message(main_list(linus), "mine"), "Edit")
    await box.fill("changed")
    await box.press("Enter")
    await expect(linus.get_by_text("Saving your edit…")).to_be_visible()
    await expect(box).not_to_be_editable()
    await linus.keyboard.type(" and more")
    await expect(box).to_have_value("changed")
    async with asyncio.timeout(15):
        await (await held.get()).continue_()
    await expect(box).to_have_value("begun")
    await expect(box).to_be_editable()
    await expect(box).to_be_focused()
    await linus.keyboard.type(" anew")
    await expect(box).to_have_value("begun anew")


async def test_an_edit_that_is_refused_while_one_writes_something_else(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    linus, conversation_id = await opened(visit, demo, "mine")
    await demo.write("dennis", conversation_id, "How long is it?")
    held: asyncio.Queue[Route] = asyncio.Queue()
    await linus.route("**/api/chat/messages/*", held.put)
    box = linus.get_by_label("Message", exact=True)
    await choose(message(main_list(linus), "mine"), "Edit")
    await box.fill("changed")
    await box.press("Enter")
    async with asyncio.timeout(15):
        asked = await held.get()
    await act(message(main_list(linus), "How long"), "Reply")
    await box.press_sequentially("So long")
    error = {"code": "NOT_MESSAGE_SENDER", "message": "as the service says it"}
    await asked.fulfill(status=403, json={"error": error})
    problem = linus.locator("#composer").get_by_role("alert")
    await expect(problem).to_contain_text("What you changed before was not saved.")
    await expect(box).to_have_value("So long")
