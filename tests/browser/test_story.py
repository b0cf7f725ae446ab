"""What the demo opens with: sample conversations that show what a chat can do, each on the page."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from chat_aio import Chat
from chat_aio.demo import story, telling
from chat_aio.plugins import Attachments
from tests.browser.acting import details, main_list, message, thread
from tests.browser.conftest import Serve, Visit
from tests.browser.fonts import BOTH_FONTS
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def demo(serve_demo: Serve) -> AsyncIterator[Demo]:
    async with serve_demo(samples=story.tell_story) as served:
        yield served


async def toured(visit: Visit, user_id: str) -> Page:
    """The page of somebody who has opened the tour."""
    page = await visit(user_id)
    await page.get_by_role("link", name="Start here").click()
    await expect(page.get_by_text("new messages")).to_be_in_viewport()
    return page


def chips(row: Locator) -> Locator:
    return row.locator(".chip")


async def test_everybody_has_something_new(visit: Visit, demo: Demo) -> None:
    """A mention in the channel, and a direct conversation that is unread."""
    page = await visit(story.TALKING[0])
    tour = page.get_by_role("link", name="Start here")
    await expect(tour).to_contain_text(re.compile(r"@( \d)? mentions?\s+4 unread"))
    await expect(page.get_by_role("link", name="Eliza")).to_contain_text("1 unread")
    for user_id in story.TALKING:
        found = await demo.get(user_id, "/conversations", include="unread")
        listed = found["conversations"]
        (tour_id,) = [row["id"] for row in listed if row["name"] == "Start here"]
        people = {row["id"]: {who["userId"] for who in row["participants"]} for row in listed}
        unread = {row["id"]: row["unreadCount"] for row in listed}
        assert unread[tour_id] == 4
        assert found["unreadSummaries"][tour_id]["unreadMentionCount"] >= 1
        assert [unread[key] for key, ids in people.items() if ids == {user_id, "eliza"}] == [1]
        kinds = [conversation["type"] for conversation in listed]
        assert kinds.count("group") == 2
        assert kinds.count("direct") >= 2


@BOTH_FONTS
async def test_the_tour_shows_how_people_talk(visit: Visit) -> None:
    linus = await toured(visit, "linus")
    log = main_list(linus)
    await expect(linus.locator("#subtitle")).to_contain_text(story.TOPIC)
    await expect(log.get_by_text("4 new messages")).to_be_visible()
    quoting = message(log, "Replying quotes")
    await expect(quoting.locator(".quote")).to_contain_text("Welcome! Here are five people")
    poll = message(log, "When do we launch?").first
    await expect(chips(poll)).to_have_text(["🌅1", "🌞2", "🌙3"])
    await chips(poll).first.click()
    await expect(chips(poll)).to_have_text(["🌅2", "🌞2", "🌙3"])
    await expect(message(log, "(I had misspelt that")).to_contain_text("edited")
    await expect(message(log, "This message was deleted")).to_have_count(1)
    mentioned = message(log, "who is mentioned sees it")
    await expect(mentioned.locator("[data-me]")).to_have_text("@Linus")


async def test_the_tour_shows_what_texts_can_have(visit: Visit) -> None:
    log = main_list(await toured(visit, "margaret"))
    await expect(message(log, "All that your app").locator("pre")).to_contain_text("Chat(database")
    listed = message(log, "so there is no broker")
    await expect(listed.locator("blockquote")).to_have_text("And what else do I have to run?")
    await expect(listed.locator("ol li")).to_have_count(3)
    await expect(listed.locator(".body strong")).to_have_text("change stream")
    link = listed.get_by_role("link", name="https://www.mongodb.com")
    await expect(link).to_be_visible()


async def test_the_tour_has_a_thread_and_a_pinned_message(visit: Visit) -> None:
    grace = await toured(visit, "grace")
    await (
        message(main_list(grace), "the alarm 1202").get_by_role("button", name="4 replies").click()
    )
    await expect(thread(grace).locator(".message")).to_have_count(5)
    also = message(main_list(grace), "also sent to the channel")
    await expect(also).to_contain_text("From a thread")
    await grace.get_by_role("link", name="Details", exact=True).click()
    await expect(details(grace)).to_contain_text("Pinned")
    await expect(details(grace)).to_contain_text("Welcome! Here are five people")


async def test_a_picture_is_forwarded_and_a_file_is_there(visit: Visit) -> None:
    dennis = await toured(visit, "dennis")
    forwarded = message(main_list(dennis), "Found a moth")
    await expect(forwarded).to_contain_text("Forwarded from Grace")
    await see_the_picture(forwarded)
    await dennis.get_by_role("link", name="Engine room").click()
    # The picture of the channel has gone by then.
    await expect(dennis.get_by_text("This is the beginning of Engine room.")).to_be_visible()
    await see_the_picture(message(main_list(dennis), "Found a moth"))
    file = main_list(dennis).get_by_role("link", name="log-book.txt")
    async with dennis.expect_download() as stored:
        await file.click()
    assert (await (await stored.value).path()).read_text() == story.LOG_BOOK


async def see_the_picture(row: Locator) -> None:
    """Its thumbnail is loaded."""
    picture = row.get_by_role("img", name="moth.png")
    await picture.scroll_into_view_if_needed()
    await expect(picture).to_have_js_property("complete", True)
    assert await picture.evaluate("node => node.decode().then(() => node.naturalWidth)") == 320


async def test_a_report_waits_for_the_moderator(visit: Visit) -> None:
    ada = await visit("ada")
    await expect(ada.locator("#waiting")).to_contain_text("1")
    await ada.get_by_role("link", name="Moderation").click()
    case = ada.locator(".cases li")
    await expect(case).to_have_count(1)
    await expect(case).to_contain_text("Your tabs are spaces.")
    await expect(case).to_contain_text("Unkind, though not wrong")


async def test_the_assistant_says_how_she_is_talked_to(visit: Visit) -> None:
    linus = await visit("linus")
    await linus.get_by_role("link", name="Eliza").click()
    await expect(main_list(linus)).to_contain_text("Hello Linus, I am Eliza, an assistant.")


async def test_a_story_that_was_interrupted_is_told_anew(
    serve_demo: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the beginning, and what is said to a whole one stays."""

    async def ended(*_: object) -> None:
        raise ConnectionError

    async def half(chat: Chat, files: Attachments) -> None:
        with pytest.raises(ConnectionError):
            await telling.Telling(chat._database.handle).tell(chat, files)

    with monkeypatch.context() as changed:
        changed.setattr(story, "_tour", ended)
        async with serve_demo(samples=half) as demo:
            assert await names_of_groups(demo) == ["Engine room"]
            await demo.stop()
            changed.undo()
            demo._samples = None
            await demo.start()
            assert await names_of_groups(demo) == ["Engine room", "Start here"]
            await demo.post("linus", "/conversations", otherUserId="grace")
            before = await demo.get("linus", "/conversations")
            await demo.stop()
            await demo.start()
            assert await demo.get("linus", "/conversations") == before


async def names_of_groups(demo: Demo) -> list[str]:
    listed = (await demo.get("ada", "/conversations"))["conversations"]
    return sorted(
        conversation["name"] for conversation in listed if conversation["type"] == "group"
    )


async def test_it_is_told_once(demo: Demo) -> None:
    """What people have made of it stays."""
    before = await demo.get("ada", "/conversations")
    await demo.stop()
    await demo.start()
    assert await demo.get("ada", "/conversations") == before


async def test_the_first_step_is_the_tour(visit: Visit) -> None:
    linus = await visit("linus")
    steps = linus.get_by_role("region", name="First steps")
    first = steps.get_by_role("listitem").first
    await expect(first).to_have_text("Read the tour.")
    await first.get_by_role("link").click()
    await expect(linus.get_by_role("heading", name="Start here")).to_be_visible()
