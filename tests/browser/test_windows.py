"""Long conversations: the page holds a window of messages, and shows it without gaps."""

import asyncio

import pytest
from playwright.async_api import ElementHandle, Locator, Page, expect

from tests.browser.acting import main_list, thread
from tests.browser.conftest import Visit
from tests.browser.serving import Cable, Complaints, Demo
from tests.support.people import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="session")

COUNT = 560
WRITERS = ("linus", "dennis")
MOST_HELD = 400
NUMBERS = """(log) => [...log.querySelectorAll(".message .body")]
    .map((row) => row.textContent.match(/number (\\d+)/)?.[1])
    .filter((number) => number !== undefined)
    .map(Number)"""


async def filled(demo: Demo) -> tuple[str, list[str]]:
    """A conversation, and the ids of its messages."""
    place = await demo.direct("linus", "dennis")
    return place, await written_in(demo, place)


async def written_in(demo: Demo, place: str, **more: str) -> list[str]:
    messages = [(WRITERS[number % 2], f"number {number}") for number in range(COUNT)]
    written = await demo.fill(place, messages, **more)
    await demo.read_all("linus", place)
    return written


async def discussed(demo: Demo) -> tuple[str, list[str]]:
    """The address of a thread, and the ids of its replies."""
    place = await demo.direct("linus", "dennis")
    root = await demo.write("linus", place, "What do you think?")
    replies = await written_in(demo, place, thread_root_message_id=root["id"])
    return f"{place}/{root['id']}", replies


def replies_of(page: Page) -> Locator:
    return thread(page).get_by_role("log")


async def numbers_in(log: Locator | ElementHandle) -> list[int]:
    """The numbers of the messages that are held: they have no gaps."""
    numbers: list[int] = await log.evaluate(NUMBERS)
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert len(numbers) <= MOST_HELD
    return numbers


async def scroll(log: Locator, *, to: int) -> None:
    """Scroll up, or down, page by page, until a message is held."""
    # The node is looked for once: each look goes through all that hundreds of messages consist of.
    node = await log.element_handle()
    # A page may be live before its messages are there.
    await expect(log.locator(".message").first).to_be_attached()
    edge = "0" if to < (await numbers_in(node))[0] else "node.scrollHeight"
    while to not in (before := await numbers_in(node)):
        await node.evaluate(f"(node) => node.scrollTo(0, {edge})")
        await log.page.wait_for_function(
            f"([log, before]) => String(({NUMBERS})(log)) !== before",
            arg=[node, ",".join(map(str, before))],
        )


async def test_a_window_moves_through_a_long_conversation(visit: Visit, demo: Demo) -> None:
    """To its beginning and back to its end: what is let go comes again."""
    place, _ = await filled(demo)
    linus = await visit("linus", place)
    log = main_list(linus)
    await expect(log.get_by_text(f"number {COUNT - 1}", exact=True)).to_be_in_viewport()
    await scroll(log, to=0)
    await expect(log.get_by_text("This is the beginning")).to_be_attached()
    assert (await numbers_in(log))[-1] < COUNT - 1
    await demo.send("dennis", place, "just now")
    row = linus.locator(".row", has_text="just now")
    await expect(row.locator(".badge")).to_have_text("1 unread")
    await expect(log.get_by_text("just now")).to_have_count(0)
    await scroll(log, to=COUNT - 1)
    await log.evaluate("(node) => node.scrollTo(0, node.scrollHeight)")
    await expect(log.get_by_text("just now")).to_be_in_viewport()
    await expect(row.locator(".badge")).to_be_hidden()


async def test_one_step_leads_to_the_newest(visit: Visit, demo: Demo) -> None:
    place, ids = await filled(demo)
    linus = await visit("linus", place)
    log = main_list(linus)
    await scroll(log, to=100)
    await linus.get_by_role("button", name="to the newest message").click()
    await expect(log.get_by_text(f"number {COUNT - 1}", exact=True)).to_be_in_viewport()
    await numbers_in(log)
    await linus.goto(f"{linus.url}/message/{ids[100]}")
    await expect(log.get_by_text("number 100", exact=True)).to_be_in_viewport()
    assert (await numbers_in(log))[-1] < COUNT - 1
    await linus.get_by_role("textbox", name="Message", exact=True).fill(f"number {COUNT}")
    await linus.keyboard.press("Enter")
    await expect(log.get_by_text(f"number {COUNT}", exact=True)).to_be_in_viewport()
    await numbers_in(log)


async def test_a_link_leads_far_back_at_once(visit: Visit, demo: Demo) -> None:
    place, ids = await filled(demo)
    asked: list[str] = []
    linus = await visit("linus")
    linus.on("request", lambda request: asked.append(request.url))
    await linus.goto(f"{linus.url.partition('#')[0]}#linus/{place}/message/{ids[20]}")
    log = main_list(linus)
    await expect(log.get_by_text("number 20", exact=True)).to_be_in_viewport()
    assert len([url for url in asked if "/messages?" in url]) <= 2
    await numbers_in(log)


@pytest.mark.long
async def test_a_thread_is_a_window_too(visit: Visit, demo: Demo) -> None:
    place, _ = await discussed(demo)
    linus = await visit("linus", place)
    log = replies_of(linus)
    await expect(log.get_by_text(f"number {COUNT - 1}", exact=True)).to_be_in_viewport()
    await scroll(log, to=0)
    await expect(log.get_by_text(f"{COUNT} replies")).to_be_attached()
    assert (await numbers_in(log))[-1] < COUNT - 1
    await linus.get_by_label("Message in the thread", exact=True).fill(f"number {COUNT}")
    await linus.keyboard.press("Enter")
    await expect(log.get_by_text(f"number {COUNT}", exact=True)).to_be_in_viewport()
    await numbers_in(log)


async def test_a_link_leads_far_back_into_a_thread(visit: Visit, demo: Demo) -> None:
    """At once, not over all pages in between; who comes again begins at its end."""
    place, ids = await discussed(demo)
    asked: list[str] = []
    linus = await visit("linus")
    linus.on("request", lambda request: asked.append(request.url))
    address = linus.url.partition("#")[0]
    await linus.goto(f"{address}#linus/{place}/{ids[20]}")
    log = replies_of(linus)
    await expect(log.get_by_text("number 20", exact=True)).to_be_in_viewport()
    assert len([url for url in asked if "/threads/" in url]) <= 3
    await numbers_in(log)
    await linus.goto(f"{address}#linus/{place.partition('/')[0]}")
    await expect(thread(linus)).to_be_hidden()
    await linus.goto(f"{address}#linus/{place}")
    await expect(log.get_by_text(f"number {COUNT - 1}", exact=True)).to_be_in_viewport()
    await numbers_in(log)


@pytest.mark.usefixtures("quick_reconnects")
async def test_whoever_reads_old_messages_stays_there_when_the_line_breaks(
    visit: Visit, demo: Demo, cable: Cable, complaints: Complaints
) -> None:
    """And sees what has changed meanwhile."""
    complaints.excuse_network()
    place, ids = await filled(demo)
    linus = await visit("linus", place, port=cable.port)
    log = main_list(linus)
    await scroll(log, to=100)
    there = log.get_by_text("number 120", exact=True)
    await there.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
    await expect(there).to_be_in_viewport()
    await cable.cut()
    await expect(linus.locator("#status")).to_have_text("Reconnecting…")
    await demo.patch("dennis", f"/messages/{ids[121]}", body="number 121 is another")
    await cable.mend()
    await expect(log.get_by_text("number 121 is another")).to_be_in_viewport()
    await expect(there).to_be_in_viewport()
    await numbers_in(log)


async def test_what_comes_while_one_reads_old_messages_is_bounded(empty: Page) -> None:
    """At the end the oldest are let go; further up the newest, and asked for again."""
    script = """async () => {
        const { Timeline } = await import("/browser/timeline.js");
        const message = (seq) => ({ id: `m${seq}`, senderId: "grace", seq, body: "" });
        const page = { messages: [message(1)], nextCursor: null };
        const held = (isFollowed) => {
          const timeline = new Timeline("ada");
          timeline.isStale = false;
          timeline.addNewest(page);
          timeline.isFollowed = isFollowed;
          for (let seq = 2; seq <= 1_000; seq += 1) timeline.receive(message(seq));
          const { messages, older, newer } = timeline;
          return [messages[0].seq, messages.at(-1).seq, older, newer];
        };
        return [held(true), held(false)];
    }"""
    followed, left = await empty.evaluate(script)
    first = followed[0]
    assert first > 500
    assert followed == [first, 1_000, {"around": f"m{first}"}, None]
    assert left == [1, 300, None, {"after": "m300"}]


@pytest.mark.parametrize("place", ["newer", "around"])
async def test_what_comes_while_a_page_is_on_its_way_is_not_lost(empty: Page, place: str) -> None:
    """The page ends where the newest message was when it was asked for."""
    add = {"newer": "addNewer", "around": "addAround"}[place]
    script = f"""async () => {{
        const {{ Timeline }} = await import("/browser/timeline.js");
        const message = (seq) => ({{ id: `m${{seq}}`, senderId: "grace", seq, body: "" }});
        const timeline = new Timeline("ada");
        timeline.isStale = false;
        const messages = [message(2), message(1)];
        timeline.addAround({{ messages, nextCursor: null, previousCursor: "more" }});
        timeline.receive(message(8));
        timeline.loading = "newer";
        timeline.receive(message(5));
        timeline.loading = null;
        timeline.{add}({{ messages: [message(4), message(3)], nextCursor: null }});
        return timeline.messages.map((message) => message.seq);
    }}"""
    assert await empty.evaluate(script) == ([1, 2, 3, 4, 5] if place == "newer" else [3, 4, 5])


async def listed(demo: Demo, count: int) -> list[str]:
    """Groups of linus, the latest first."""
    made = [
        await demo.group("linus", "grace", name=f"Group {number:03}") for number in range(count)
    ]
    return made[::-1]


async def test_of_many_conversations_those_in_view_are_there(visit: Visit, demo: Demo) -> None:
    await listed(demo, 170)
    linus = await visit("linus")
    rows = linus.locator("#conversations .row")
    await expect(rows.first).to_contain_text("Group 169")
    names = {await rows.first.locator(".row-title").inner_text()}
    nav = linus.locator("#list")
    last = linus.get_by_role("link", name="Group 000")
    async with asyncio.timeout(PATIENCE):
        while not await last.count():
            assert await rows.count() < 150
            shown = await rows.locator(".row-title").all_inner_texts()
            assert shown == sorted(shown, reverse=True), "in their order, without gaps"
            names |= set(shown)
            await nav.evaluate("(node) => node.scrollBy(0, 900)")
            await linus.evaluate("() => new Promise(requestAnimationFrame)")
    names |= set(await rows.locator(".row-title").all_inner_texts())
    assert names >= {f"Group {number:03}" for number in range(170)}
    place = linus.locator("#conversations li", has=last)
    await expect(place).to_have_attribute("aria-posinset", "170")
    await nav.evaluate("(node) => node.scrollTo(0, 0)")
    await expect(rows.first).to_contain_text("Group 169")
    await expect(rows.first).to_be_in_viewport()
    assert await rows.count() < 150


async def test_a_row_that_has_the_focus_keeps_it(visit: Visit, demo: Demo) -> None:
    """However far one scrolls, and wherever it moves when something is said in it."""
    groups = await listed(demo, 170)
    linus = await visit("linus")
    nav = linus.locator("#list")
    row = linus.locator(f"#conversations li[data-id='{groups[30]}']")
    await row.locator("a").focus()
    top = await row.evaluate("node => node.offsetTop")
    async with asyncio.timeout(PATIENCE):
        while not await linus.get_by_role("link", name="Group 000").count():
            await nav.evaluate("(node) => node.scrollBy(0, 900)")
            await linus.evaluate("() => new Promise(requestAnimationFrame)")
    await expect(row).to_have_attribute("data-apart", "")
    await expect(row.locator("a")).to_be_focused()
    assert await row.evaluate("node => node.offsetTop") == top
    # Back again, nothing jumps: neither when the row comes back, nor when others do.
    tops = await nav.evaluate(
        """async (node) => {
          const tops = [];
          while (node.scrollTop > 300) {
            tops.push([node.scrollTop - 300]);
            node.scrollBy(0, -300);
            for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
            tops.at(-1).push(node.scrollTop);
            if (tops.at(-1)[0] !== node.scrollTop) break;
          }
          return tops;
        }"""
    )
    assert [expected for expected, _ in tops] == [found for _, found in tops]
    assert len(tops) > 10
    await expect(row).not_to_have_attribute("data-apart", "")
    await expect(row.locator("a")).to_be_focused()
    await nav.evaluate("(node) => node.scrollTo(0, node.scrollHeight)")
    await expect(row).to_have_attribute("data-apart", "")
    await demo.send("grace", groups[30], "It moves to the top")
    await expect(row).to_have_attribute("aria-posinset", "1")
    await expect(row.locator("a")).to_be_focused()
    await row.locator("a").blur()
    await row.locator("a").focus()
    await expect(row).to_be_in_viewport()
    await expect(row).not_to_have_attribute("data-apart", "")
    assert await row.evaluate("node => node.offsetTop") < top
    await expect(linus.locator("#conversations [data-apart]")).to_have_count(0)


async def test_what_a_link_opens_keeps_its_place_in_the_list(visit: Visit, demo: Demo) -> None:
    """Further down than the list is loaded, it is not listed until its place is."""
    groups = await listed(demo, 60)
    linus = await visit("linus", groups[-1])
    await expect(linus.get_by_role("heading", name="Group 000")).to_be_visible()
    rows = linus.locator("#conversations .row")
    await expect(rows.first).to_contain_text("Group 059")
    await expect(linus.get_by_role("link", name="Group 000")).to_have_count(0)
    await linus.locator("#list").evaluate("(node) => node.scrollTo(0, node.scrollHeight)")
    place = linus.locator("#conversations li", has=linus.locator("[aria-current=page]"))
    await expect(place).to_contain_text("Group 000")
    page = await demo.get("linus", "/conversations", limit="100")
    ids = [conversation["id"] for conversation in page["conversations"]]
    await expect(place).to_have_attribute("aria-posinset", str(ids.index(groups[-1]) + 1))
    await demo.send("grace", groups[-1], "here")
    await linus.locator("#list").evaluate("(node) => node.scrollTo(0, 0)")
    await expect(rows.first).to_contain_text("Group 000")
