"""An assistant writes: its words are seen as they come, by those who come later too."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, expect

from chat_aio.demo import assistant
from tests.browser.acting import main_list, write
from tests.browser.conftest import Visit
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_its_words_are_seen_as_they_come(
    visit: Visit, demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Until they have been seen they come slowly, so that a busy machine does not miss them.
    monkeypatch.setattr(assistant, "SECONDS_PER_WORD", 0.5)
    place = await demo.direct("linus", "eliza")
    linus = await visit("linus", place)
    await write(linus, "Are you there?")
    caret = main_list(linus).locator(".caret")
    await expect(caret).to_be_visible()
    await expect(linus.get_by_role("button", name="Stop")).to_be_visible()
    monkeypatch.setattr(assistant, "SECONDS_PER_WORD", 0.01)
    await expect(caret).to_have_count(0)
    answer = main_list(linus).locator(".message").last
    await expect(answer).to_contain_text("“Are you there?”")
    await expect(answer).to_contain_text("one ordinary message.")
    page = await demo.get("linus", f"/conversations/{place}/messages")
    assert [(message["senderId"], message["role"]) for message in page["messages"]] == [
        ("eliza", "assistant"),
        ("linus", "user"),
    ]


async def test_who_comes_later_sees_it_from_its_beginning(
    visit: Visit, demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def begin(question: str) -> AsyncIterator[str]:
        """Until it is stopped, the answer is not over."""
        yield f"You said: “{question}”. "
        while True:
            await asyncio.sleep(0.2)
            yield "Well, "

    monkeypatch.setattr(assistant, "_model", begin)
    place = await demo.group("linus", "dennis", "eliza", name="Questions")
    linus = await visit("linus", place)
    await demo.write("linus", place, "@Eliza what now?", mentions=["eliza"])
    await expect(main_list(linus).locator(".caret")).to_be_visible()
    dennis = await visit("dennis", place)
    draft = main_list(dennis).locator(".message", has=dennis.locator(".caret"))
    await expect(draft).to_contain_text("You said: “@Eliza what now?”.")
    # Only who has asked stops it, and Linus, who is an admin, has asked.
    await expect(dennis.get_by_role("button", name="Stop")).to_have_count(0)
    await linus.get_by_role("button", name="Stop").click()
    for page in (linus, dennis):
        await expect(main_list(page).locator(".caret")).to_have_count(0)
    newest = await demo.newest("linus", place)
    assert newest["role"] == "assistant"
    assert newest["body"].startswith("You said")


async def test_she_listens_again_when_a_ban_is_lifted(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = asyncio.Event()
    monkeypatch.setattr(assistant, "AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(assistant.log, "info", lambda *_: refused.set())
    place = await demo.direct("linus", "eliza")
    ban = (await demo.post("ada", "/moderation/bans", targetUserId="eliza"))["ban"]
    async with asyncio.timeout(20):
        await refused.wait()
    await demo.delete("ada", f"/moderation/bans/{ban['id']}")
    async with asyncio.timeout(20):
        # What is written before she listens again is not answered.
        while not (await demo.get("linus", f"/conversations/{place}/drafts"))["drafts"]:
            await demo.send("linus", place, "Are you there?")
            await asyncio.sleep(0.2)


async def test_a_question_does_not_wait_for_the_answer_before(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assistant, "SECONDS_PER_WORD", 0.5)
    places = [await demo.direct(name, "eliza") for name in ("linus", "dennis")]
    async with asyncio.timeout(60):
        for name, place in zip(("linus", "dennis"), places, strict=True):
            await demo.write(name, place, "What now?")
            while not (  # noqa: ASYNC110
                await demo.get(name, f"/conversations/{place}/drafts")
            )["drafts"]:
                await asyncio.sleep(0.1)
    # The first one, of 50 words, is still being written. Both end when the words come faster.
    assert (await demo.get("linus", f"/conversations/{places[0]}/drafts"))["drafts"]


async def test_a_draft_that_ends_without_a_message_goes(visit: Visit, demo: Demo) -> None:
    place = await demo.group("linus", "eliza", name="Questions")
    linus: Page = await visit("linus", place)
    path = f"/conversations/{place}/drafts"
    draft = (await demo.post("eliza", path))["draft"]["id"]
    await demo.post("eliza", f"{path}/append", draftId=draft, index=0, text="Well, ")
    await expect(main_list(linus)).to_contain_text("Well, ")
    # A part that came while nobody listened: all of them are asked for.
    await linus.reload()
    await expect(main_list(linus)).to_contain_text("Well, ")
    await demo.post("eliza", f"{path}/append", draftId=draft, index=1, text="no.")
    await expect(main_list(linus)).to_contain_text("Well, no.")
    await demo.post("eliza", f"{path}/cancel", draftId=draft)
    await expect(main_list(linus).locator(".caret")).to_have_count(0)
    await expect(main_list(linus).get_by_text("Well")).to_have_count(0)
