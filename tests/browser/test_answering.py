"""Replies that quote, and threads beside the conversation."""

import re
from functools import partial

import pytest
from playwright.async_api import expect

from tests.browser import pairs
from tests.browser.acting import act, choose, main_list, message, thread, write
from tests.browser.conftest import Visit
from tests.browser.places import visit as visit
from tests.browser.serving import Demo
from tests.browser.test_layout import PHONE

pytestmark = pytest.mark.asyncio(loop_scope="session")

opened = partial(pairs.opened, "dennis")
both = partial(pairs.open_for_both, "dennis")


async def test_a_reply_quotes_and_the_quote_follows(visit: Visit, demo: Demo) -> None:
    linus, dennis, conversation_id = await both(visit, demo, "Tabs or spaces?")
    asked = await demo.newest("dennis", conversation_id)
    await act(message(main_list(linus), "Tabs"), "Reply")
    await expect(linus.get_by_text("Replying to Dennis")).to_be_visible()
    await linus.keyboard.type("Tabs, of course")
    await linus.keyboard.press("Enter")
    await expect(linus.get_by_text("Replying to Dennis")).to_be_hidden()

    quotes = [main_list(page).locator(".quote:visible") for page in (linus, dennis)]
    for quote in quotes:
        await expect(quote).to_have_text("Dennis Tabs or spaces?")
    sent = await demo.newest("linus", conversation_id)
    assert sent["replyToMessageId"] == asked["id"]

    await demo.patch("dennis", f"/messages/{asked['id']}", body="Tabs, or else?")
    for quote in quotes:
        await expect(quote).to_have_text("Dennis Tabs, or else?")
    await demo.delete("dennis", f"/messages/{asked['id']}")
    for quote in quotes:
        await expect(quote).to_have_text("Dennis Deleted message")


async def test_a_reply_can_be_given_up(visit: Visit, demo: Demo) -> None:
    linus, conversation_id = await opened(visit, demo, "A question")
    await act(message(main_list(linus), "A question"), "Reply")
    await linus.keyboard.press("Escape")
    await expect(linus.get_by_text("Replying to Dennis")).to_be_hidden()
    await write(linus, "By the way")
    await expect(linus.locator("[data-state=sent]").last).to_contain_text("By the way")
    assert (await demo.newest("linus", conversation_id))["replyTo"] is None


async def test_a_quote_leads_to_what_it_quotes(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    first = await demo.write("dennis", conversation_id, "where it began")
    await demo.fill(conversation_id, [("dennis", f"filling {number}") for number in range(70)])
    await demo.write("linus", conversation_id, "and it ends", replyToMessageId=first["id"])
    await demo.read_all("linus", conversation_id)
    linus = await visit("linus", conversation_id)
    await main_list(linus).locator(".quote:visible").click()

    await expect(linus.locator(f"[data-id='{first['id']}']")).to_be_in_viewport()
    await expect(linus.locator("[data-pointed]")).to_contain_text("where it began")


async def test_a_thread_is_beside_the_conversation(visit: Visit, demo: Demo) -> None:
    linus, dennis, _ = await both(visit, demo, "Shall we meet?", "Unrelated")
    await act(message(main_list(linus), "Shall we meet?"), "Reply in thread")
    await expect(thread(linus)).to_contain_text("No replies yet")
    await expect(message(thread(linus), "Shall we meet?")).to_be_visible()
    await write(linus, "On Monday", in_thread=True)
    await expect(thread(linus).locator("[data-state=sent] .body").last).to_have_text("On Monday")

    link = message(main_list(dennis), "Shall we meet?").locator(".thread-link")
    await expect(link).to_contain_text(re.compile("^1 reply · last "))
    await link.click()
    await expect(message(thread(dennis), "On Monday")).to_be_visible()
    await write(dennis, "Or on Tuesday", in_thread=True)
    await expect(message(thread(linus), "Or on Tuesday")).to_be_visible()
    for page in (linus, dennis):
        row = message(main_list(page), "Shall we meet?")
        await expect(row.locator(".thread-link")).to_contain_text("2 replies")
        bodies = main_list(page).locator(".message .body")
        await expect(bodies).to_have_text(["Shall we meet?", "Unrelated"])

    await linus.reload()
    await expect(thread(linus).locator(".message .body")).to_have_text(
        ["Shall we meet?", "On Monday", "Or on Tuesday"]
    )
    await expect(main_list(linus).locator(".thread-link:visible")).to_contain_text("2 replies")
    await linus.keyboard.press("Escape")
    await expect(thread(linus)).to_be_hidden()


@pytest.mark.parametrize("is_phone", [False, True])
async def test_the_toolbar_below_does_not_cover_a_thread(
    visit: Visit, demo: Demo, is_phone: bool
) -> None:
    """Nor the reactions: whoever goes up to them from the next message comes to them."""
    place = await demo.direct("linus", "dennis")
    linus = await visit("linus", place, **(PHONE if is_phone else {}))
    for sender in ("dennis", "linus"):
        root = await demo.write(sender, place, f"Shall we meet, asks {sender}")
        await demo.write("dennis", place, "On Monday", threadRootMessageId=root["id"])
        await demo.post("dennis", f"/messages/{root['id']}/reactions", emoji="🎉")
        await demo.send(sender, place, f"Unrelated, says {sender}")
        above = message(main_list(linus), f"Shall we meet, asks {sender}")
        below = message(main_list(linus), f"Unrelated, says {sender}")
        await expect(above.locator(".thread-link")).to_be_visible()
        for button, outcome in (
            (above.locator(".chip"), above.get_by_role("button", name="🎉 2")),
            (above.locator(".thread-link"), message(thread(linus), "On Monday")),
        ):
            await (below.locator(".body").tap() if is_phone else below.hover())
            await expect(below.get_by_role("toolbar")).to_be_visible()
            box = await button.bounding_box()
            assert box is not None
            there = box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2
            await (linus.touchscreen.tap(*there) if is_phone else linus.mouse.click(*there))
            await expect(outcome).to_be_visible()
        await linus.go_back()
        await expect(thread(linus)).to_be_hidden()


async def test_a_reply_can_stand_in_both(visit: Visit, demo: Demo) -> None:
    linus, dennis, conversation_id = await both(visit, demo, "Who has the keys?")
    await act(message(main_list(linus), "Who has the keys?"), "Reply in thread")
    await linus.get_by_label("Also send to the conversation").check()
    await write(linus, "I have", in_thread=True)

    for page in (linus, dennis):
        row = message(main_list(page), "I have")
        await expect(row).to_contain_text("From a thread")
    await expect(message(thread(linus), "I have")).to_contain_text("Also in the conversation")
    await expect(linus.get_by_label("Also send to the conversation")).not_to_be_checked()
    await write(linus, "They are blue", in_thread=True)
    await expect(main_list(linus).locator(".thread-link:visible")).to_contain_text("2 replies")
    assert await demo.bodies("linus", conversation_id) == ["Who has the keys?", "I have"]

    await main_list(dennis).get_by_role("button", name="From a thread").click()
    await expect(thread(dennis).locator(".message .body")).to_have_text(
        ["Who has the keys?", "I have", "They are blue"]
    )


async def test_where_a_reply_stands_is_chosen_in_each_thread(visit: Visit, demo: Demo) -> None:
    linus, place = await opened(visit, demo, "Who has the keys?", "Who has the car?")
    also = linus.get_by_label("Also send to the conversation")
    await act(message(main_list(linus), "the keys"), "Reply in thread")
    await also.check()
    await act(message(main_list(linus), "the car"), "Reply in thread")
    await expect(message(thread(linus), "the car")).to_be_visible()
    await expect(also).not_to_be_checked()
    await write(linus, "Not I", in_thread=True)
    await act(message(main_list(linus), "the keys"), "Reply in thread")
    await expect(message(thread(linus), "the keys")).to_be_visible()
    await expect(also).to_be_checked()
    await write(linus, "I have", in_thread=True)
    await expect(also).not_to_be_checked()
    await expect(message(main_list(linus), "I have")).to_have_attribute("data-state", "sent")
    assert (await demo.bodies("linus", place))[2:] == ["I have"]


async def test_a_thread_has_pages_and_its_messages_change(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    root = await demo.write("dennis", conversation_id, "Count with me")
    numbers = [("dennis", f"number {index}") for index in range(60)]
    answers = await demo.fill(conversation_id, numbers, thread_root_message_id=root["id"])
    linus = await visit("linus", f"{conversation_id}/{root['id']}")
    await expect(message(thread(linus), "number 59")).to_be_in_viewport()
    await expect(thread(linus).locator(".message")).to_have_count(51)
    await message(thread(linus), "number 10").scroll_into_view_if_needed()
    await expect(thread(linus).locator(".message")).to_have_count(61)

    await demo.patch("dennis", f"/messages/{answers[20]}", body="number twenty")
    await expect(message(thread(linus), "number twenty")).to_contain_text("edited")
    await act(message(thread(linus), "number twenty"), "Reply")
    await linus.keyboard.type("XX")
    await linus.keyboard.press("Enter")
    await expect(message(thread(linus), "XX").locator(".quote:visible")).to_contain_text(
        "number twenty"
    )
    await choose(message(thread(linus), "XX"), "Edit")
    await linus.keyboard.type("!")
    await linus.keyboard.press("Enter")
    await expect(message(thread(linus), "XX!")).to_contain_text("edited")


async def test_thread_replies_are_unread_until_the_conversation_is_read(
    visit: Visit, demo: Demo
) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    root = await demo.write("linus", conversation_id, "Anyone?")
    await demo.write("dennis", conversation_id, "Me", threadRootMessageId=root["id"])
    linus = await visit("linus")
    row = linus.get_by_role("link", name="Dennis")
    await expect(row.locator(".badge")).to_have_text("1 unread")
    await demo.write("dennis", conversation_id, "Me too", threadRootMessageId=root["id"])
    await expect(row.locator(".badge")).to_have_text("2 unread")

    # A page that was not there when the replies came knows them by the summary of their root only.
    await linus.reload()
    await expect(row.locator(".badge")).to_have_text("2 unread")
    async with linus.expect_response("**/read?*"):
        await row.click()
    await expect(row.locator(".badge")).to_be_hidden()
    assert await demo.unread("linus", conversation_id) == 0
    await expect(main_list(linus).locator(".message .body")).to_have_text("Anyone?")
