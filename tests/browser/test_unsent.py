"""What is written and not sent: kept over reloads, and given back when it was refused."""

import asyncio

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.browser.acting import act, choose, main_list, message, thread, write
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo
from tests.browser.speaking import GERMAN

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOO_LONG = "x" * 16_385
REFUSED = "Hello?"


def box(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


def thread_box(page: Page) -> Locator:
    return page.get_by_label("Message in the thread", exact=True)


def to_dennis(page: Page) -> Locator:
    """The row of the list, and not another one whose last message is Dennis's."""
    return page.locator(".row").filter(has=page.locator(".row-title", has_text="Dennis"))


async def test_it_is_there_after_a_reload_until_it_is_sent(visit: Visit, demo: Demo) -> None:
    """In each conversation and thread for itself."""
    direct_id = await demo.direct("linus", "dennis")
    group_id = await demo.group("linus", "dennis", "grace", name="Kernel")
    root = await demo.write("dennis", group_id, "A root")
    await demo.send("dennis", direct_id, "Hello")
    linus = await visit("linus", group_id)
    await box(linus).press_sequentially("Ask @gr")
    await expect(linus.get_by_role("option", name="Grace")).to_be_visible()
    await linus.keyboard.press("Enter")
    await to_dennis(linus).click()
    await linus.get_by_placeholder("Message Dennis").fill("to Dennis")
    await linus.goto(f"http://127.0.0.1:{demo.port}/#linus/{group_id}/{root['id']}")
    await expect(message(thread(linus), "A root")).to_be_visible()
    await thread_box(linus).fill("in the thread")

    await linus.reload()
    await expect(thread_box(linus)).to_have_value("in the thread")
    await expect(box(linus)).to_have_value("Ask @Grace ")
    await box(linus).press("Enter")
    await expect(main_list(linus).locator(".mention")).to_have_text("@Grace")
    await to_dennis(linus).click()
    await expect(linus.get_by_placeholder("Message Dennis")).to_have_value("to Dennis")

    await linus.goto(f"http://127.0.0.1:{demo.port}/#linus/{group_id}")
    await linus.reload()
    await expect(message(main_list(linus), "Ask")).to_be_visible()
    await expect(box(linus)).to_have_value("")
    assert await demo.bodies("linus", direct_id) == ["Hello"]


@pytest.mark.parametrize("has_answer", [False, True])
async def test_what_was_sent_in_vain_is_there_after_a_reload(
    visit: Visit, demo: Demo, complaints: Complaints, has_answer: bool
) -> None:
    """Whether it had failed, or was still on its way; it is sent once, in its order."""
    complaints.excuse("net::ERR_FAILED")
    place = await demo.direct("linus", "dennis")
    linus = await visit("linus", place)
    asked = asyncio.Event()

    async def lost(route: Route) -> None:
        if route.request.method != "POST":
            await route.continue_()
        elif has_answer:
            # The service has it; nobody has told the page.
            await route.fetch()
            asked.set()
        else:
            asked.set()
            await route.abort()

    await linus.route("**/messages*", lost)
    await write(linus, "one")
    await write(linus, "two")
    async with asyncio.timeout(20):
        await asked.wait()
    if not has_answer:
        await expect(linus.locator("[data-state=waiting]")).to_have_count(2)
    await linus.unroute("**/messages*")
    await linus.reload()
    sent = main_list(linus).locator("[data-state=sent] .body")
    await expect(sent).to_have_text(["one", "two"])
    assert await demo.bodies("linus", place) == ["one", "two"]
    await linus.reload()
    await expect(sent).to_have_text(["one", "two"])
    await expect(main_list(linus).locator(".message")).to_have_count(2)


async def test_what_it_answers_is_kept_with_it(visit: Visit, demo: Demo) -> None:
    """Else the answer would be sent as if it answered nothing."""
    direct_id = await demo.direct("linus", "dennis")
    asked = await demo.write("dennis", direct_id, "How long is it?")
    linus = await visit("linus", direct_id)
    await act(message(main_list(linus), "How long"), "Reply")
    await box(linus).fill("So long")
    await linus.reload()
    await expect(linus.get_by_text("Replying to Dennis")).to_be_visible()
    await expect(linus.locator("#composer .about-text")).to_have_text("How long is it?")
    await box(linus).press("Enter")
    await expect(main_list(linus).locator("[data-state=sent]")).to_have_count(2)
    assert (await demo.newest("linus", direct_id))["replyToMessageId"] == asked["id"]

    await act(message(main_list(linus), "How long"), "Reply")
    await box(linus).fill("By the way")
    await box(linus).press("Escape")
    await linus.reload()
    await expect(box(linus)).to_have_value("By the way")
    await expect(linus.get_by_text("Replying to Dennis")).to_be_hidden()


async def test_another_person_at_the_same_browser_does_not_see_it(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    page = await visit("linus", direct_id)
    await box(page).fill("Dennis is not to see this yet")
    await page.goto(f"http://127.0.0.1:{demo.port}/#dennis/{direct_id}")
    await expect(page.get_by_placeholder("Message Linus")).to_have_value("")


async def test_an_edit_does_not_take_its_place(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    await demo.send("linus", direct_id, "As it is")
    linus = await visit("linus", direct_id)
    await box(linus).fill("begun")
    await choose(message(main_list(linus), "As it is"), "Edit")
    await box(linus).fill("As it will be")
    await linus.reload()
    await expect(message(main_list(linus), "As it is")).to_be_visible()
    await expect(box(linus)).to_have_value("begun")


async def test_what_is_too_long_is_not_sent(visit: Visit, demo: Demo) -> None:
    """It is said at once, and by characters: some have two units."""
    direct_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", direct_id, language=GERMAN)
    field = linus.get_by_label(GERMAN.say("composer.message"), exact=True)
    alert = linus.locator("#composer").get_by_role("alert")
    await field.fill(TOO_LONG)
    await field.press("Enter")
    await expect(alert).to_have_text(
        "Eine Nachricht hat höchstens 16.384 Zeichen, diese hat 16.385."
    )
    await expect(field).to_have_value(TOO_LONG)
    longest = "🎉" * 16_384
    await field.fill(longest)
    await expect(alert).to_be_hidden()
    await field.press("Enter")
    await expect(field).to_have_value("")
    await expect(linus.locator("#timeline [data-state=sent]")).to_have_count(1)
    assert await demo.bodies("dennis", direct_id) == [longest]


async def test_what_was_refused_is_written_anew(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    """With what it answers and in front of what has been begun since."""
    complaints.excuse("403")
    direct_id = await demo.direct("linus", "dennis")
    asked = await demo.write("dennis", direct_id, "How long is it?")
    await demo.post("dennis", "/moderation/blocks", targetUserId="linus")
    linus = await visit("linus", direct_id)
    await act(message(main_list(linus), "How long"), "Reply")
    await write(linus, REFUSED)
    failed = main_list(linus).locator("[data-state=failed]")
    await expect(failed).to_contain_text("Not sent.")
    await box(linus).fill("and more")
    await failed.get_by_role("button", name="Edit").click()

    await expect(failed).to_have_count(0)
    await expect(box(linus)).to_be_focused()
    await expect(box(linus)).to_have_value(f"{REFUSED}\nand more")
    await expect(linus.get_by_text("Replying to Dennis")).to_be_visible()
    await demo.delete("dennis", "/moderation/blocks", targetUserId="linus")
    await write(linus, "So long")
    await expect(main_list(linus).locator("[data-state=sent]")).to_have_count(2)
    sent = await demo.newest("linus", direct_id)
    assert (sent["body"], sent["replyToMessageId"]) == ("So long", asked["id"])


async def test_what_was_refused_goes_back_to_its_thread(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    direct_id = await demo.direct("linus", "dennis")
    root = await demo.write("dennis", direct_id, "A root")
    await demo.post("dennis", "/moderation/blocks", targetUserId="linus")
    linus = await visit("linus", f"{direct_id}/{root['id']}")
    await linus.get_by_label("Also send to the conversation").check()
    await write(linus, REFUSED, in_thread=True)
    failed = main_list(linus).locator("[data-state=failed]")
    await expect(failed).to_have_count(1)
    await linus.get_by_role("link", name="Close the thread").click()
    await failed.get_by_role("button", name="Edit").click()
    await expect(thread(linus)).to_be_visible()
    await expect(linus.get_by_label("Also send to the conversation")).to_be_checked()
    await expect(thread_box(linus)).to_have_value(REFUSED)
    await expect(box(linus)).to_have_value("")
