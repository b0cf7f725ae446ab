"""Parts of the chat are loaded when they are needed; one that cannot be loaded is loaded later."""

import asyncio
import re

import pytest
from playwright.async_api import Page, Request, Route, expect

from tests.browser.acting import act, choose
from tests.browser.conftest import Visit
from tests.browser.embedding import MADE, composer, messages, say, shown
from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host
from tests.browser.serving import Complaints, Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

PART = re.compile(r"/bundle/([a-z-]+)-[0-9a-f]{16}\.js")
ALWAYS = {"texts-en", "view-chat-view", "view-talk"}
SAVING = """() => Object.defineProperty(navigator, "connection", { value: { saveData: true } })"""
STEADY = ("#sidebar", "#search", "#to-channels", "#conversations")
FAILED = "Part of the chat could not be loaded"


def parts_of(page: Page) -> list[str]:
    """The parts that are requested from now on."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if found := PART.search(request.url):
            asked.append(found[1])

    page.on("request", note)
    return asked


class Held:
    """Requests of a page for the same thing, which wait until they are let through."""

    def __init__(self) -> None:
        self._routes: list[Route] = []
        self._is_asked, self._has_ended = asyncio.Event(), False

    async def answer(self, route: Route) -> None:
        if self._has_ended:
            await route.continue_()
        else:
            self._routes.append(route)
            self._is_asked.set()

    async def end(self) -> None:
        """Once there is one. It may be a request of the page before it was loaded again."""
        await self._is_asked.wait()
        self._has_ended = True
        for route in self._routes:
            await route.continue_()


class Refusal:
    """Requests are answered as by a service that has no such file (any more), until it ends."""

    def __init__(self, stream: Held) -> None:
        self.stream = stream
        self.has_ended = False
        self.asked: list[str] = []

    async def answer(self, route: Route) -> None:
        self.asked.append(route.request.url)
        await (route.continue_() if self.has_ended else route.fulfill(status=404))


async def refused(host: Host, ada: Page, complaints: Complaints, part: str) -> Refusal:
    """A conversation of Ada with one message is shown, a part of the chat is refused, and the
    stream is not open yet."""
    complaints.excuse("404")
    complaints.excuse("Failed to fetch dynamically imported module")
    refusal = Refusal(Held())
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "hello")
    await ada.route("**/stream?*", refusal.stream.answer)
    await ada.route(f"**/bundle/{part}-*", refusal.answer)
    await ada.evaluate(MADE, [{"user": "ada", "conversation": direct.id}, {}])
    return refusal


async def held_part(page: Page, part: str) -> Held:
    """The page is loaded again, and waits for a part."""
    held = Held()
    await page.route(f"**/bundle/browser-view-{part}-*", held.answer)
    await page.reload()
    return held


async def test_parts_are_loaded_when_they_are_needed(host: Host, ada: Page) -> None:
    """Where a user saves data, only then."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "hello")
        await ada.evaluate(SAVING)
        asked = parts_of(ada)
        await ada.evaluate(MADE, [{"user": "ada", "conversation": direct.id}, {}])
        await expect(messages(ada)).to_have_count(1)
        assert set(asked) == ALWAYS
        await choose(messages(ada).first, "Copy text")
        assert set(asked) == ALWAYS | {"view-message-acts", "emoji"}
        # Each of them once.
        assert len(asked) == len(set(asked))


async def test_they_are_loaded_ahead_when_there_is_time(host: Host, ada: Page) -> None:
    asked = parts_of(ada)
    async with ada.expect_request(lambda request: "view-groups" in request.url):
        await ada.evaluate(MADE, [{"user": "ada"}, {}])
    assert ALWAYS | {"view-message-acts", "emoji"} < set(asked)
    assert not {"texts-de", "emoji-de"} & set(asked)


async def test_two_elements_load_a_part_once(host: Host, ada: Page) -> None:
    asked = parts_of(ada)
    await ada.evaluate(
        """async ([make, given]) => {
          const two = [1, 2].map(() => eval(make)(given));
          await Promise.all(two);
        }""",
        [MADE, [{"user": "ada"}, {}]],
    )
    await expect(ada.get_by_role("navigation")).to_have_count(2)
    assert len(asked) == len(set(asked))


async def test_only_the_language_that_is_needed(host: Host, ada: Page) -> None:
    asked = parts_of(ada)
    async with ada.expect_request(lambda request: "emoji-de" in request.url):
        await ada.evaluate(MADE, [{"user": "ada", "lang": "de"}, {}])
    await expect(ada.get_by_role("navigation", name="Unterhaltungen")).to_be_visible()
    assert "texts-en" not in asked


@pytest.mark.parametrize("part", ["texts-en", "view-chat-view", "view-talk"])
async def test_what_could_not_be_loaded_is_loaded_by_a_button(
    host: Host, ada: Page, complaints: Complaints, part: str
) -> None:
    """Also when it fails again. The chat goes on where it was."""
    refusal = await refused(host, ada, complaints, part)
    notice = ada.get_by_text(FAILED)
    again = ada.get_by_role("button", name="Try again")
    await expect(notice).to_be_visible()
    async with ada.expect_response(f"**/bundle/{part}-*"):
        await again.click()
    await expect(notice).to_be_visible()
    refusal.has_ended = True
    await again.click()
    await expect(shown(ada, "hello")).to_be_visible()
    await expect(notice).to_be_hidden()
    await say(ada, "at last")
    await expect(messages(ada)).to_have_count(2)
    # Older browsers never ask for an address again that has failed.
    assert len(set(refusal.asked)) == len(refusal.asked) > 2


async def test_a_click_waits_for_its_part(host: Host, ada: Page, complaints: Complaints) -> None:
    """Until then the rest of the chat works."""
    refusal = await refused(host, ada, complaints, "view-message-acts")
    await act(messages(ada).first, "More actions")
    await expect(ada.get_by_text(FAILED)).to_be_visible()
    await say(ada, "still here")
    await expect(messages(ada)).to_have_count(2)
    refusal.has_ended = True
    await ada.get_by_role("button", name="Try again").click()
    await expect(ada.get_by_role("menuitem").first).to_be_focused()


@pytest.mark.parametrize("part", ["view-chat-view", "view-talk"])
async def test_what_could_not_be_loaded_is_loaded_when_the_stream_is_open(
    host: Host, ada: Page, complaints: Complaints, part: str
) -> None:
    """Nobody has to press the button."""
    refusal = await refused(host, ada, complaints, part)
    await expect(ada.get_by_text(FAILED)).to_be_visible()
    refusal.has_ended = True
    await refusal.stream.end()
    await expect(ada.get_by_text(FAILED)).to_be_hidden()
    await expect(shown(ada, "hello")).to_be_visible()


async def test_nothing_moves_when_the_other_parts_come(visit: Visit, demo: Demo) -> None:
    """The list looks as it will from the start."""
    linus = await visit("linus")
    held = await held_part(linus, "talk")
    room = linus.get_by_role("link", name="Engine room")
    await expect(room).to_be_visible()
    before = [await linus.locator(part).bounding_box() for part in STEADY]
    async with linus.expect_request(lambda request: "browser-view-moderation" in request.url):
        await held.end()
    await expect(linus.locator("#thread")).to_be_attached()
    assert [await linus.locator(part).bounding_box() for part in STEADY] == before


async def test_an_element_that_is_removed_meanwhile_stays_empty(host: Host, ada: Page) -> None:
    held: asyncio.Queue[Route] = asyncio.Queue()
    await ada.route("**/bundle/view-chat-view-*", held.put)
    await ada.evaluate(MADE, [{"user": "ada"}, {}])
    async with asyncio.timeout(15):
        route = await held.get()
    await ada.evaluate("document.querySelector('chat-aio').remove()")
    async with ada.expect_response("**/bundle/view-chat-view-*"):
        await route.continue_()
    await ada.evaluate(MADE, [{"user": "ada"}, {}])
    await expect(ada.get_by_role("navigation")).to_have_count(1)


async def test_the_frame_is_there_before_its_parts(host: Host, ada: Page) -> None:
    held: asyncio.Queue[Route] = asyncio.Queue()
    await ada.route("**/bundle/view-chat-view-*", held.put)
    async with ada.expect_response("**/conversations?*"):
        await ada.evaluate(MADE, [{"user": "ada"}, {}])
    side = ada.locator(".sidebar")
    before = await side.bounding_box()
    assert before is not None
    await (await held.get()).continue_()
    await expect(ada.get_by_role("navigation")).to_be_visible()
    assert await side.bounding_box() == before


async def test_one_conversation_comes_before_the_list(host: Host, ada: Page) -> None:
    """However long the stream takes, which the list waits for."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "hello")
    asked: list[str] = []
    ada.on("request", lambda request: asked.append(request.url))
    held: asyncio.Queue[Route] = asyncio.Queue()
    await ada.route("**/stream?*", held.put)
    await ada.clock.install()
    await ada.evaluate(MADE, [{"user": "ada", "conversation": direct.id}, {}])
    await expect(shown(ada, "hello")).to_be_visible()
    await ada.clock.run_for(1_000)
    assert [url for url in asked if "/conversations?" in url] == []
    async with ada.expect_response("**/conversations?*"):
        await (await held.get()).continue_()


async def test_a_name_of_an_emoji_is_known_when_it_is_sent(host: Host, ada: Page) -> None:
    """However long their names take."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
    held: asyncio.Queue[Route] = asyncio.Queue()
    await ada.route(re.compile(r"/bundle/emoji-[0-9a-f]{16}"), held.put)
    await ada.evaluate(MADE, [{"user": "ada", "conversation": direct.id}, {}])
    await composer(ada).fill("done :tada: now")
    await ada.keyboard.press("Enter")
    await (await held.get()).continue_()
    await expect(messages(ada).first.locator(".body")).to_have_text("done 🎉 now")


async def test_the_search_has_what_was_typed_before_it_was_there(visit: Visit, demo: Demo) -> None:
    linus = await visit("linus")
    held = await held_part(linus, "finding")
    await linus.get_by_role("searchbox", name="Search messages").fill("moth")
    await held.end()
    await expect(linus.locator("#results")).to_contain_text("Found a moth")


async def test_the_palette_has_what_was_typed_before_it_was_there(visit: Visit, demo: Demo) -> None:
    """The composer, which has the focus until then, has none of it."""
    linus = await visit("linus", await demo.direct("linus", "dennis"))
    held = await held_part(linus, "finding")
    await expect(linus.get_by_label("Message", exact=True)).to_be_focused()
    await linus.keyboard.press("Control+k")
    await linus.keyboard.type("engy")
    await linus.keyboard.press("Backspace")
    await linus.keyboard.press("Control+k")
    await linus.keyboard.type("ine")
    await held.end()
    await expect(linus.get_by_role("combobox", name="Go to")).to_have_value("engine")
    await expect(linus.locator("#palette-found")).to_contain_text("Engine room")
    await linus.keyboard.press("Escape")
    await expect(linus.get_by_label("Message", exact=True)).to_have_value("")


async def test_a_screen_that_is_opened_by_its_address_waits_for_its_part(
    visit: Visit, demo: Demo
) -> None:
    linus = await visit("linus")
    held = await held_part(linus, "groups")
    await linus.get_by_role("link", name="Channels").click()
    await held.end()
    await expect(linus.get_by_role("heading", name="Channels")).to_be_focused()
