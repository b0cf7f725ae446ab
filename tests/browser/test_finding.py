"""Forwarding into another conversation, and finding what was said."""

import re

import pytest
from playwright.async_api import expect

from tests.browser.acting import choose, hurry, main_list, message, thread
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_message_is_forwarded(visit: Visit, demo: Demo) -> None:
    source_id = await demo.direct("linus", "dennis")
    target_id = await demo.group("linus", "margaret", name="Kernel")
    await demo.send("dennis", source_id, "It works on my machine")
    linus = await visit("linus", source_id)
    margaret = await visit("margaret", target_id)
    await choose(message(main_list(linus), "on my machine"), "Forward")
    dialog = linus.get_by_role("dialog", name="Forward to")
    targets = dialog.locator(".targets").get_by_role("listitem")
    await expect(targets).to_have_count(3)
    await linus.keyboard.type("kern")
    await expect(targets).to_have_text(["KKernel"])
    await linus.keyboard.press("Enter")

    await expect(linus.get_by_role("heading", name="Kernel")).to_be_visible()
    await expect(dialog).to_be_hidden()
    for page in (linus, margaret):
        row = message(main_list(page), "It works on my machine")
        await expect(row).to_contain_text("Forwarded from Dennis")
    forwarded = await demo.newest("linus", target_id)
    assert forwarded["forwardedFrom"]["conversationId"] == source_id
    assert await demo.bodies("linus", source_id) == ["It works on my machine"]


async def test_a_forward_that_is_refused_says_why(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("409")
    source_id = await demo.direct("linus", "dennis")
    sent = await demo.write("dennis", source_id, "Fleeting")
    linus = await visit("linus", source_id)
    await choose(message(main_list(linus), "Fleeting"), "Forward")
    await demo.delete("dennis", f"/messages/{sent['id']}")
    dialog = linus.get_by_role("dialog", name="Forward to")
    await dialog.get_by_role("button", name="Engine room").click()
    await expect(dialog.get_by_role("alert")).to_have_text("The message is deleted.")
    await expect(dialog).to_be_visible()


async def test_a_search_finds_and_highlights(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", direct_id, "Ｌｕｎａｒ module, lunar orbit", "sublunary")
    group_id = await demo.group("margaret", "linus", name="Apollo")
    await demo.send("margaret", group_id, "The lunar phase")
    linus = await visit("linus", direct_id)
    await linus.get_by_label("Search messages").fill("LUNAR")
    results = linus.get_by_role("region", name="Search results")
    rows = results.get_by_role("listitem")
    await expect(rows).to_have_count(2)
    await expect(rows.nth(0)).to_contain_text("Dennis: Ｌｕｎａｒ module, lunar orbit")
    await expect(rows.nth(0).locator("mark")).to_have_text(["Ｌｕｎａｒ", "lunar"])
    await expect(rows.nth(1).locator(".row-title")).to_have_text("Apollo")
    await expect(rows.nth(1)).to_contain_text("Margaret: The lunar phase")

    await linus.get_by_label("Only in Dennis").check()
    await expect(rows).to_have_count(1)
    await linus.get_by_label("Only in Dennis").uncheck()
    await expect(rows).to_have_count(2)
    await linus.get_by_label("Search messages").fill("lunar phase")
    await expect(rows).to_have_count(1)
    await rows.get_by_role("button").click()
    await expect(linus.get_by_role("heading", name="Apollo")).to_be_visible()
    await expect(linus.locator("[data-pointed]")).to_contain_text("The lunar phase")

    await linus.get_by_label("Search messages").fill("martian")
    await expect(results.get_by_role("status")).to_have_text("Nothing found.")
    await linus.get_by_label("Search messages").press("Escape")
    await expect(linus.get_by_role("navigation", name="Conversations")).to_be_visible()
    await expect(results).to_be_hidden()


async def test_words_are_found_while_they_are_typed(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", direct_id, "compil is no word", "A new compiler", "decompiled")
    linus = await visit("linus")
    await linus.get_by_label("Search messages").press_sequentially("compil")
    results = linus.get_by_role("region", name="Search results")
    rows = results.get_by_role("listitem")
    await expect(rows).to_have_count(2)
    await expect(rows.nth(0)).to_contain_text("compil is no word")
    await expect(rows.nth(1)).to_contain_text("A new compiler")
    await expect(rows.nth(1).locator("mark")).to_have_text(["compil"])
    await linus.get_by_label("Search messages").press_sequentially(" ")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("compil is no word")
    await linus.get_by_label("Search messages").fill("compiler")
    await expect(rows.locator("mark")).to_have_text(["compiler"])


async def test_a_search_has_pages_and_leads_far_back(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    first = await demo.write("dennis", conversation_id, "needle of old")
    await demo.send("dennis", conversation_id, *(f"needle {number}" for number in range(60)))
    linus = await visit("linus")
    await linus.get_by_label("Search messages").fill("needle")
    results = linus.get_by_role("region", name="Search results")
    await expect(results.get_by_role("listitem")).to_have_count(20)
    await results.get_by_role("button", name="Load more").click()
    await expect(results.get_by_role("listitem")).to_have_count(40)

    await linus.get_by_label("Search messages").fill("needle old")
    await expect(results.get_by_role("listitem")).to_have_count(1)
    await results.get_by_role("listitem").get_by_role("button").click()
    await expect(linus.locator(f"[data-id='{first['id']}']")).to_be_in_viewport()
    await expect(linus.locator("[data-pointed]")).to_contain_text("needle of old")


async def test_a_reply_is_found_in_its_thread(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    root = await demo.write("dennis", conversation_id, "A question")
    await demo.write("dennis", conversation_id, "aardvark", threadRootMessageId=root["id"])
    linus = await visit("linus")
    await linus.get_by_label("Search messages").fill("aardvark")
    results = linus.get_by_role("region", name="Search results")
    await results.get_by_role("listitem").get_by_role("button").click()
    await expect(thread(linus).locator("[data-pointed]")).to_contain_text("aardvark")
    await expect(main_list(linus).locator(".message .body")).to_have_text("A question")


async def test_markup_is_text_in_quotes_reactions_and_results_too(visit: Visit, demo: Demo) -> None:
    evil = "<b>bold</b> <img src=x onerror=\"document.title='owned'\">"
    conversation_id = await demo.direct("linus", "dennis")
    first = await demo.write("linus", conversation_id, evil)
    reply = await demo.write("linus", conversation_id, "Look", replyToMessageId=first["id"])
    await demo.post("linus", f"/messages/{reply['id']}/reactions", emoji="<b>!</b>")
    dennis = await visit("dennis", conversation_id)
    await expect(message(main_list(dennis), "Look").locator(".quote-text")).to_have_text(evil)
    await expect(dennis.locator(".chip .emoji")).to_have_text("<b>!</b>")
    await dennis.get_by_label("Search messages").fill("bold")
    results = dennis.get_by_role("region", name="Search results")
    await expect(results.locator(".found-body")).to_have_text(evil)
    await expect(results.locator("mark")).to_have_text(["bold"])
    await expect(dennis.locator("img:not(.avatar img), b")).to_have_count(0)


async def test_the_list_is_narrowed_by_what_is_typed(visit: Visit, demo: Demo) -> None:
    """People and conversations with it in their names stand above the messages."""
    await demo.group("linus", "dennis", name="Kernel work")
    for number in range(60):
        await demo.group("linus", "dennis", name=f"Group {number}")
    linus = await visit("linus")
    await linus.get_by_role("searchbox", name="Search messages").fill("kern")
    results = linus.get_by_role("region", name="Search results")
    place = results.get_by_role("button", name="Kernel work")
    await expect(place).to_be_visible()  # Further down than the list is loaded.
    await expect(results.get_by_text("Nothing found.")).to_be_hidden()
    await place.click()
    await expect(linus.get_by_role("heading", name="Kernel work")).to_be_visible()
    await linus.get_by_role("searchbox", name="Search messages").fill("margar")
    await results.get_by_role("button", name="Margaret Begin a conversation").click()
    await expect(linus.get_by_role("heading", name="Margaret", exact=True)).to_be_visible()


async def test_a_search_has_filters(visit: Visit, demo: Demo) -> None:
    """By sender, conversation, day and files, also without words; what means nothing is a word."""
    place = await demo.group("linus", "dennis", "grace", name="Kernel notes")
    await demo.send("dennis", place, "a moth", "from:nobody")
    await demo.send("grace", place, "another moth")
    await demo.send("dennis", await demo.direct("linus", "dennis"), "a third moth")
    linus = await visit("linus")
    # The search begins when nothing has been typed for a moment.
    await hurry(linus)
    rows = linus.get_by_role("region", name="Search results").locator(".found-body")
    for query, found in (
        ("moth from:dennis", ["a moth", "a third moth"]),
        ('from:Dennis in:"kernel notes" moth', ["a moth"]),
        ("from:grace in:kernel", ["another moth"]),
        ("from:nobody", ["from:nobody"]),
        ("moth before:2020-01-01", []),
        ("moth in:kernel since:2020-01-01 from:me", []),
        ("has:file in:kernel", []),
    ):
        async with linus.expect_response("**/search/messages?*"):
            await linus.get_by_label("Search messages").fill(query)
        await expect(rows).to_have_count(len(found))
        # Those of the query before may be as many.
        for body in found:
            await expect(rows.filter(has_text=re.compile(f"^{re.escape(body)}$"))).to_have_count(1)
