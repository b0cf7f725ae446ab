"""<chat-aio> in a page of somebody else's, which forbids styles and scripts within it."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.browser.acting import hurry
from tests.browser.conftest import Visit
from tests.browser.embedding import MADE, composer, messages, say, shown
from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host
from tests.browser.looking import Looking, fits
from tests.browser.serving import Cable, Complaints, Demo
from tests.support.people import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="session")

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
TOTAL = "heard.findLast(([name]) => name === 'chat-aio:unread')[1].total"
"""The latest count: a status may have come since."""


async def test_two_people_talk(host: Host, open_page: Visit) -> None:
    """In the page of the example, whose policy allows no styles and scripts within HTML."""
    ada, grace = await open_page(), await open_page()
    await host.visit(ada, "ada")
    await host.visit(grace, "grace")
    # That somebody types is sent once.
    for page in (ada, grace):
        await expect(page.locator("#app")).to_have_attribute("data-status", "live")
    await expect(ada.get_by_text("No conversations yet.")).to_be_visible()
    await ada.get_by_role("button", name="Ask Grace").click()
    await say(ada, "Do you ship to *Mars*?")
    await expect(messages(ada)).to_have_count(1)
    await expect(grace.locator("#unread")).to_have_text("1")
    row = grace.get_by_role("link", name="Ada Lovelace")
    await expect(row).to_contain_text("Do you ship to Mars?")
    await expect(row.locator(".badge")).to_have_text("1 unread")
    await row.click()
    await expect(composer(grace)).to_be_focused()
    await expect(grace.locator("#unread")).to_have_text("0")
    await composer(grace).press_sequentially("We do")
    await expect(ada.get_by_role("status").get_by_text("Grace Hopper is typing…")).to_be_visible()
    await grace.keyboard.press("Enter")
    await expect(messages(ada).last.locator(".body")).to_have_text("We do")
    await expect(ada.get_by_text("Grace Hopper is typing…")).to_be_hidden()
    await expect(ada.locator("em")).to_have_text("Mars")
    await composer(ada).fill("so they do")
    send = ada.get_by_role("button", name="Send")
    await expect(send).to_have_css("background-color", "rgb(122, 62, 161)")


async def test_older_messages_and_new_ones_leave_the_reader_where_he_is(
    host: Host, ada: Page
) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        for number in range(120):
            last = await grace.send_message(direct.id, f"message {number}")
        async with host.person("ada") as herself:
            await herself.mark_read(direct.id, last.id)
        await ada.evaluate(MADE, [{"user": "ada", "conversation": direct.id}, {}])
        await expect(messages(ada)).to_have_count(50)
        await expect(shown(ada, "message 119")).to_be_in_viewport()
        log = ada.get_by_role("log")
        await log.evaluate("log => { log.scrollTop = 300; }")
        await expect(messages(ada)).to_have_count(100)
        seen = shown(ada, "message 75")
        await expect(seen).to_be_in_viewport()
        before = await seen.bounding_box()
        await grace.send_message(direct.id, "come down")
        jump = ada.get_by_role("button", name="1 new, to the newest message")
        await expect(jump).to_be_visible()
        assert await seen.bounding_box() == before
        assert await ada.evaluate(TOTAL) == 1
        await jump.click()
        await expect(shown(ada, "come down")).to_be_in_viewport()
        await expect(jump).to_be_hidden()
        await ada.wait_for_function(f"{TOTAL} === 0")


@pytest.mark.usefixtures("quick_reconnects")
async def test_what_cannot_be_sent_is_sent_later(
    host: Host, open_page: Visit, host_cable: Cable, complaints: Complaints
) -> None:
    complaints.excuse_network()
    complaints.excuse("Failed to load resource")
    page = await open_page()
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await host.empty(page, "ada", port=host_cable.port)
        given = [{"user": "ada", "conversation": direct.id}, {}]
        await page.evaluate(MADE, given)
        await expect(page.get_by_text("This is the beginning of")).to_be_visible()
        await page.wait_for_function("heard.some(([, { status }]) => status === 'live')")
        await hurry(page)
        await host_cable.cut()
        await expect(page.get_by_text("Connection lost. Trying again…")).to_be_visible()
        await say(page, "Are you there?")
        row = messages(page).first
        await expect(row).to_contain_text("Waiting for the connection…")
        await row.get_by_role("button", name="Discard").click()
        await expect(messages(page)).to_have_count(0)
        await say(page, "Hello?")
        await expect(row).to_have_attribute("data-state", "waiting")
        await host_cable.mend()
        # What was being loaded when the line broke can be asked for again, too.
        # The line may be back, and the button hidden, before it is pressed.
        again = page.get_by_role("button", name="Try now", include_hidden=True)
        await again.dispatch_event("click")
        await expect(row).to_have_attribute("data-state", "sent")
        await expect(page.get_by_role("button", name="Try now")).to_be_hidden()
        assert [message.body for message in (await grace.list_messages(direct.id)).messages] == [
            "Hello?"
        ]


async def test_what_nobody_sees_is_not_read(host: Host, ada: Page) -> None:
    """A chat in a part of the page that is folded away."""
    async with host.person("grace") as grace, host.person("ada") as herself:
        direct = await grace.get_or_create_conversation("ada")
        await ada.evaluate("document.body.hidden = true")
        await ada.evaluate(MADE, [{"user": "ada", "conversation": direct.id}, {}])
        await ada.wait_for_function("heard.some(([, { status }]) => status === 'live')")
        # A message of a conversation that is not known yet is told after its count.
        known = "(id) => document.querySelector('chat-aio').store.conversation(id) !== null"
        await ada.wait_for_function(known, arg=direct.id)
        await grace.send_message(direct.id, "one")
        await ada.wait_for_function(f"{TOTAL} === 1")
        assert (await herself.get_conversation(direct.id)).unread_count == 1
        named = [name for name, _ in await ada.evaluate("heard")]
        assert "chat-aio:message" in named
        await ada.evaluate("document.body.hidden = false")
        await ada.wait_for_function(f"{TOTAL} === 0")


async def test_of_what_was_seen_one_after_the_other_the_last_counts(host: Host, ada: Page) -> None:
    """A browser that is busy tells of both at once."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "one")
    await ada.evaluate(
        """() => {
          window.tellers = [];
          window.IntersectionObserver = class {
            constructor(told) { tellers.push(told); }
            observe() {}
          };
        }"""
    )
    await ada.evaluate(MADE, [{"user": "ada", "conversation": direct.id}, {}])
    await expect(messages(ada)).to_have_count(1)
    await ada.wait_for_function(f"{TOTAL} === 1")
    tell = (
        "all => tellers.forEach((tell) => tell(all.map((isIntersecting) => ({ isIntersecting }))))"
    )
    await ada.evaluate(tell, [False, True])
    await ada.wait_for_function(f"{TOTAL} === 0")
    await ada.evaluate(tell, [True, False])
    async with host.person("grace") as grace:
        await grace.send_message(direct.id, "two")
    await ada.wait_for_function(f"{TOTAL} === 1")


async def test_a_token_words_and_another_language(host: Host, ada: Page) -> None:
    asked: list[str | None] = []
    ada.on("request", lambda request: asked.append(request.headers.get("authorization")))
    await ada.evaluate(
        """async ([made]) => {
          const early = document.createElement("chat-aio");
          early.token = async () => "secret";
          early.words = { "list.empty": "Noch keine Gespräche." };
          for (const [name, value] of Object.entries(made)) early.setAttribute(name, value);
          document.body.append(early);
          await import("/chat-aio/element.js");
        }""",
        [{"user": "ada", "base": "/api/chat", "lang": "de"}],
    )
    await expect(ada.get_by_text("Noch keine Gespräche.")).to_be_visible()
    assert "Bearer secret" in asked
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "Hallo!")
        await ada.get_by_role("link", name="Grace Hopper").click()
        log = ada.get_by_role("log", name="Nachrichten")
        await expect(log.get_by_text("Heute", exact=True)).to_be_visible()


async def test_it_ends_with_its_place_and_follows_its_attributes(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
        await ada.evaluate(MADE, [{"conversation": direct.id}, {}])
        assert await ada.evaluate("document.querySelector('chat-aio').store") is None
        await ada.evaluate("document.querySelector('chat-aio').setAttribute('user', 'ada')")
        await expect(ada.locator("#title")).to_have_text("Grace Hopper")
        script = "id => document.querySelector('chat-aio').setAttribute('conversation', id)"
        await ada.evaluate(script, group.id)
        await expect(ada.locator("#title")).to_have_text("Engines")
        status = await ada.evaluate(
            """async () => {
              const made = document.querySelector("chat-aio");
              const { store } = made;
              made.remove();
              await Promise.resolve();
              return store.state().status;
            }"""
        )
        assert status == "closed"


async def test_a_phone_shows_one_thing_at_a_time(host: Host, open_page: Visit) -> None:
    page = await open_page(**PHONE)
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "Hello!")
        await host.visit(page, "ada")
        looking = Looking(is_phone=True)
        row = page.get_by_role("link", name="Grace Hopper")
        await expect(row).to_be_visible()
        await expect(composer(page)).to_be_hidden()
        await looking.at(page, "list")
        await row.tap()
        await expect(composer(page)).to_be_visible()
        await expect(row).to_be_hidden()
        await looking.at(page, "conversation")
        assert await fits(page)
        await page.get_by_role("link", name="Back to the conversations").tap()
        await expect(row).to_be_focused()
        assert looking.faults == []


async def test_everybody_can_use_it(host: Host, open_page: Visit) -> None:
    """By its roles and colours, light and dark; and by the keyboard alone."""
    # What fades in has no contrast yet.
    page = await open_page(reduced_motion="reduce")
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        sent = await grace.send_message(direct.id, "Hello! https://example.org")
        await grace.add_reaction(sent.id, "👍")
        async with host.person("ada") as herself:
            gone = await herself.send_message(direct.id, "gone", reply_to_message_id=sent.id)
            await herself.edit_message(gone.id, "changed")
            await herself.send_message(direct.id, "see", reply_to_message_id=gone.id)
            await herself.delete_message(gone.id)
        await host.visit(page, "ada")
        looking = Looking(is_phone=False)
        await expect(page.get_by_role("link", name="Grace Hopper")).to_be_visible()
        await looking.at(page, "list")
        await page.get_by_role("button", name="Ask Grace").focus()
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(composer(page)).to_be_focused()
        await page.keyboard.type("Hi!")
        await page.keyboard.press("Enter")
        await expect(messages(page)).to_have_count(4)
        await page.keyboard.press("Shift+Tab")
        log = page.get_by_role("log")
        async with asyncio.timeout(PATIENCE):
            while not await log.evaluate("log => log.getRootNode().activeElement === log"):
                await page.keyboard.press("Shift+Tab")
        for _ in range(4):
            await page.keyboard.press("ArrowUp")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="https://example.org")).to_be_focused()
        chip = page.get_by_role("button", name="👍 1")
        for _ in range(5):
            await page.keyboard.press("Tab")
        await expect(chip).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name="👍 2")).to_be_visible()
        await looking.at(page, "conversation")
        assert looking.faults == []


async def announced(page: Page) -> Any:
    return await page.get_by_role("log").get_attribute("aria-live")


async def test_only_what_happens_now_is_read_out(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "before")
        await ada.evaluate(MADE, [{"user": "ada", "conversation": direct.id}, {}])
        await expect(messages(ada)).to_have_count(1)
        await expect(ada.get_by_role("log")).to_have_attribute("aria-live", "polite")
        await grace.send_message(direct.id, "now")
        await expect(messages(ada)).to_have_count(2)
        assert await announced(ada) == "polite"


async def test_what_an_assistant_writes(demo: Demo, open_page: Visit) -> None:
    """With a client of the page's own: the demo recognises people by the query."""
    page = await open_page()
    place = await demo.group("linus", "eliza", name="Questions")
    path = f"/conversations/{place}/drafts"
    draft = (await demo.post("eliza", path))["draft"]["id"]
    await page.goto(f"http://127.0.0.1:{demo.port}/people")
    await page.evaluate(
        """async (id) => {
          const { Chat } = await import("/browser/chat.js");
          await import("/browser/element.js");
          const made = document.createElement("chat-aio");
          made.chat = new Chat("/api/chat", { query: { as: "linus" } });
          made.setAttribute("features", "drafts");
          made.setAttribute("user", "linus");
          made.setAttribute("conversation", id);
          document.body.append(made);
        }""",
        place,
    )
    await expect(page.get_by_text("This is the beginning of")).to_be_visible()
    await page.wait_for_function(
        "document.querySelector('chat-aio').store.state().status === 'live'"
    )
    await demo.post("eliza", f"{path}/append", draftId=draft, index=0, text="Well, ")
    writing = page.get_by_role("log", name="Messages").locator("[aria-busy=true]")
    await expect(writing).to_contain_text("Eliza")
    await expect(writing).to_contain_text("Well,")
    await demo.post("eliza", f"{path}/append", draftId=draft, index=1, text="yes.")
    await expect(writing).to_contain_text("Well, yes.")
    await demo.post("eliza", f"{path}/finish", draftId=draft)
    await expect(messages(page)).to_have_count(1)
    await expect(messages(page).locator(".body")).to_have_text("Well, yes.")
    await expect(writing).to_have_count(0)


async def test_the_only_conversation_is_gone(host: Host, ada: Page, complaints: Complaints) -> None:
    complaints.excuse_lost_access()
    async with host.person("grace") as grace:
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
        await ada.evaluate(MADE, [{"user": "ada", "conversation": group.id}, {}])
        await expect(composer(ada)).to_be_visible()
        await ada.wait_for_function("heard.some(([, { status }]) => status === 'live')")
        await grace.remove_participant(group.id, "ada")
        await expect(ada.get_by_text("That conversation is not open to you.")).to_be_visible()
        await expect(composer(ada)).to_be_hidden()


async def test_in_the_page_from_its_beginning_it_has_one_stream(
    host: Host, open_page: Visit
) -> None:
    """Its attributes are told before it is connected; removed, it listens to nothing any more."""
    page = await open_page()
    await page.add_init_script(
        """
        window.streams = [];
        const Before = window.EventSource;
        window.EventSource = class extends Before {
          constructor(...given) {
            super(...given);
            window.streams.push(this);
          }
        };
        """
    )
    await host.visit(page, "ada")
    await expect(page.get_by_text("No conversations yet.")).to_be_visible()
    open_ones = "streams.filter((stream) => stream.readyState !== EventSource.CLOSED).length"
    await page.wait_for_function(f"{open_ones} === 1")
    assert await page.evaluate("streams.length") == 1
    await page.evaluate("document.querySelector('chat-aio').remove()")
    assert await page.evaluate(open_ones) == 0


async def test_a_login_that_ends_in_another_tab(
    host: Host, ada: Page, complaints: Complaints
) -> None:
    """Nothing is shown any more, until its user is logged in again."""
    complaints.excuse("401")
    async with host.person("grace") as grace:
        place = await grace.get_or_create_conversation("ada")
        await grace.send_message(place.id, "for Ada")
    await ada.evaluate(MADE, [{"user": "ada"}, {}])
    await expect(ada.get_by_text("for Ada")).to_be_visible()
    other = await ada.context.new_page()
    await host.empty(other, "ada")
    await other.evaluate(
        """async () => {
          const { Chat } = await import("/chat-aio/chat.js");
          globalThis.chat = new Chat("/api/chat");
          await new Promise((onOpen) => chat.stream({ userId: "ada", onOpen }));
        }"""
    )
    await ada.context.clear_cookies()
    await other.evaluate("chat.listConversations().catch(() => {})")
    await expect(ada.get_by_text("for Ada")).to_have_count(0)
    await expect(ada.get_by_text("You are not logged in.")).to_be_visible()
    await other.goto(f"{host.origin}/login?name=ada")
    await ada.evaluate("document.querySelector('chat-aio').store.reconnect()")
    await expect(ada.get_by_text("for Ada")).to_be_visible()
    await expect(ada.get_by_text("You are not logged in.")).to_be_hidden()
    await other.close()


@pytest.mark.parametrize("is_single", [False, True])
async def test_without_a_login_it_says_so_once_and_tells_its_host(
    host: Host, open_page: Visit, complaints: Complaints, is_single: bool
) -> None:
    complaints.excuse("401")
    page = await open_page()
    await host.empty(page, "ada")
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
    await page.context.clear_cookies()
    attributes = {"user": "ada", **({"conversation": direct.id} if is_single else {})}
    await page.evaluate(MADE, [attributes, {}])
    await page.wait_for_function("heard.some(([name]) => name === 'chat-aio:unauthorised')")
    await expect(page.get_by_text("You are not logged in.")).to_be_visible()
    # Later than the stream has given up.
    await page.wait_for_function("heard.some(([, { status }]) => status === 'reconnecting')")
    await expect(page.get_by_text("Connection lost")).to_be_hidden()
    await expect(page.get_by_text("Loading…")).to_be_hidden()


async def test_on_a_touch_screen_no_keyboard_covers_what_one_opens(
    host: Host, open_page: Visit
) -> None:
    page = await open_page(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    await host.empty(page, "ada")
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "hello")
    await page.evaluate(MADE, [{"user": "ada"}, {}])
    await page.get_by_role("link", name="hello").tap()
    await expect(page.get_by_role("log", name="Messages")).to_be_focused()


async def test_a_finger_hits_the_buttons_of_a_message(host: Host, open_page: Visit) -> None:
    """They cover no other message."""
    page = await open_page(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    await host.empty(page, "ada")
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        for body in ("one", "two"):
            await grace.send_message(direct.id, body)
    await page.evaluate(MADE, [{"user": "ada", "conversation": direct.id}, {}])
    await shown(page, "two").tap()
    buttons = messages(page).last.locator(".toolbar button:visible")
    await expect(buttons.first).to_be_visible()
    above = await messages(page).first.bounding_box()
    assert above is not None
    for button in await buttons.all():
        box = await button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) > 43.9
        assert box["y"] >= above["y"] + above["height"]
