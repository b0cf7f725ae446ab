"""How it looks and is operated: on a phone, in the dark, with the keyboard."""

import asyncio
import re

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.acting import CHAT, act, choose, main_list, message, thread, write
from tests.browser.conftest import Visit
from tests.browser.fonts import BOTH_FONTS, Font
from tests.browser.looking import fits
from tests.browser.serving import Complaints, Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

PHONE_WIDTH = 360
PHONE = {"viewport": {"width": PHONE_WIDTH, "height": 740}, "has_touch": True, "is_mobile": True}
SHOWN_WITH = (
    *(("ink", ground) for ground in ("surface", "own", "other", "noticed", "marked", "chosen")),
    # The ground of what is a screen of its own on a phone.
    *((text, "paper") for text in ("ink", "soft", "accent", "danger")),
    *(("muted", ground) for ground in ("paper", "surface", "raised", "hover")),
    *(("soft", ground) for ground in ("own", "other", "noticed")),
    *(("accent", ground) for ground in ("surface", "own", "other", "noticed", "chosen")),
    *(("danger", "surface"), ("danger", "raised"), ("raised", "danger"), ("on-accent", "accent")),
)
READABLE = 4.5
FOCUSED = "(node) => node === node.getRootNode().activeElement"


@BOTH_FONTS
async def test_on_a_phone_there_are_two_screens(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", conversation_id, "unbreakable" * 30)
    linus = await visit("linus", **PHONE)
    conversations = linus.get_by_role("navigation", name="Conversations")
    await expect(conversations).to_be_visible()
    await expect(linus.get_by_role("log")).to_be_hidden()
    assert await fits(linus)

    await linus.get_by_role("link", name="Dennis").tap()
    await expect(linus.get_by_role("log")).to_contain_text("unbreakable")
    await expect(conversations).to_be_hidden()
    await expect(linus.get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)
    assert await fits(linus)

    await linus.get_by_role("link", name="Back to the conversations").tap()
    await expect(conversations).to_be_visible()
    await expect(linus.get_by_role("log")).to_be_hidden()

    await linus.go_back()
    await expect(linus.get_by_role("log")).to_contain_text("unbreakable")
    await linus.go_back()
    await expect(conversations).to_be_visible()


@BOTH_FONTS
async def test_on_a_phone_the_keyboard_leaves_room_to_write(visit: Visit, demo: Demo) -> None:
    """With it open the page is as high as what is left of the screen."""
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send(
        "dennis", conversation_id, *(f"line {number}" for number in range(20)), "the end"
    )
    await demo.read_all("linus", conversation_id)
    linus = await visit("linus", conversation_id, **PHONE)
    last = message(main_list(linus), "the end")
    await expect(last).to_be_in_viewport()
    await linus.get_by_label("Message", exact=True).tap()
    await linus.set_viewport_size({"width": PHONE_WIDTH, "height": 400})
    await expect(linus.get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)
    await expect(linus.get_by_label("Message", exact=True)).to_be_in_viewport(ratio=1)
    await expect(last).to_be_in_viewport(ratio=1)
    await expect(linus.get_by_role("link", name="Back")).to_be_in_viewport(ratio=1)
    assert await linus.evaluate("document.documentElement.scrollHeight <= innerHeight")


async def test_who_wants_no_motion_sees_none(visit: Visit) -> None:
    linus = await visit("linus", reduced_motion="reduce")
    moving = """
        (chat) => [...chat.shadowRoot.querySelectorAll("*")].filter((node) => {
          const { transitionDuration, animationDuration } = getComputedStyle(node);
          // What a slot has for nothing in it is not shown, and has none.
          return [transitionDuration, animationDuration].some((all) => !/^(0s(, )?)*$/.test(all));
        }).length
    """
    assert await linus.locator("chat-aio").evaluate(moving) == 0


@BOTH_FONTS
async def test_on_a_phone_a_thread_is_a_screen(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    root = await demo.write("dennis", conversation_id, "unbreakable" * 30)
    await demo.write("dennis", conversation_id, "indivisible" * 30, threadRootMessageId=root["id"])
    linus = await visit("linus", conversation_id, **PHONE)
    await main_list(linus).locator(".thread-link").tap()
    await expect(message(thread(linus), "indivisible")).to_be_visible()
    assert await fits(linus)
    width = await thread(linus).evaluate("node => node.getBoundingClientRect().width")
    assert width == PHONE_WIDTH
    await expect(main_list(linus)).to_be_hidden()

    await write(linus, "and divisible", in_thread=True)
    await expect(message(thread(linus), "and divisible")).to_be_in_viewport()
    await expect(thread(linus).get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)
    await thread(linus).get_by_role("link", name="Close the thread").tap()
    await expect(thread(linus)).to_be_hidden()
    await expect(main_list(linus)).to_be_visible()
    await expect(main_list(linus).locator(".thread-link")).to_contain_text("2 replies")
    assert await fits(linus)


@BOTH_FONTS
async def test_on_a_phone_a_tap_shows_what_one_can_do(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", conversation_id, "one", "two", "three")
    linus = await visit("linus", conversation_id, **PHONE)
    row = message(main_list(linus), "two")
    toolbar = row.locator(".toolbar")
    await expect(linus.get_by_text("three", exact=True).last).to_be_in_viewport()
    await expect(toolbar).to_be_hidden()
    places = "node => [...node.children].map(child => child.getBoundingClientRect().top)"
    before = await main_list(linus).evaluate(places)
    await row.locator(".body").tap()
    await expect(toolbar).to_be_in_viewport(ratio=1)
    assert await main_list(linus).evaluate(places) == before

    await toolbar.get_by_role("button", name="React").tap()
    picker = linus.get_by_role("dialog", name="React")
    await expect(picker).to_be_in_viewport(ratio=1)
    await picker.get_by_role("button", name="👍").tap()
    await expect(row.locator(".chip")).to_have_attribute("aria-pressed", "true")
    assert await fits(linus)


@BOTH_FONTS
async def test_on_a_phone_the_search_comes_before_the_conversation(
    visit: Visit, demo: Demo
) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", conversation_id, "findable " + "unbreakable" * 30)
    linus = await visit("linus", conversation_id, **PHONE)
    await linus.get_by_role("button", name="Search in this conversation").tap()
    await linus.get_by_label("Search messages").fill("findable")
    results = linus.get_by_role("region", name="Search results")
    await expect(results.locator("mark")).to_have_text("findable")
    await expect(main_list(linus)).to_be_hidden()
    assert await fits(linus)
    await results.get_by_role("listitem").get_by_role("button").tap()
    await expect(linus.locator("[data-pointed]")).to_be_in_viewport()
    await expect(results).to_be_hidden()


async def test_a_person_is_picked_first(visit: Visit) -> None:
    page = await visit("")
    await expect(page.get_by_role("heading", name="Who are you today?")).to_be_visible()
    await page.get_by_role("link", name="Grace").click()
    await expect(page.locator("#my-name")).to_have_text("Grace")
    await expect(page).to_have_url(re.compile(r"#grace$"))

    await page.get_by_role("link", name="Switch to someone else").click()
    await expect(page.get_by_role("heading", name="Who are you today?")).to_be_visible()


async def test_the_keyboard_is_enough(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", conversation_id, "hello")
    linus = await visit("linus")
    await linus.get_by_role("link", name="Dennis").focus()
    await linus.keyboard.press("Enter")
    await expect(linus.get_by_label("Message", exact=True)).to_be_focused()
    await linus.keyboard.type("hello to you")
    await linus.keyboard.press("Enter")
    await expect(linus.locator("[data-state=sent]").last).to_contain_text("hello to you")
    await expect(linus.get_by_label("Message", exact=True)).to_be_focused()
    await linus.keyboard.press("Shift+Tab")
    await expect(linus.get_by_role("log")).to_be_focused()

    await linus.get_by_role("button", name="New group").press("Enter")
    await expect(linus.get_by_role("dialog", name="New group")).to_be_visible()
    await linus.keyboard.press("Escape")
    await expect(linus.get_by_role("dialog")).to_be_hidden()
    await expect(linus.get_by_role("button", name="New group")).to_be_focused()


async def test_a_conversation_is_held_by_keyboard_and_by_ear(visit: Visit, demo: Demo) -> None:
    """Found, answered, reacted to, discussed in a thread: what a screen reader goes through."""
    group = await demo.group("dennis", "linus", name="Kernel")
    first = await demo.write("dennis", group, "Who takes the **scheduler**?")
    linus = await visit("linus")
    keys = linus.keyboard
    await keys.press("Control+k")
    await keys.type("kern")
    await expect(linus.get_by_role("option", name="Kernel")).to_be_visible()
    await keys.press("Enter")
    field = linus.get_by_label("Message", exact=True)
    await expect(field).to_be_focused()
    await expect(main_list(linus)).to_contain_text("scheduler")

    await keys.press("Shift+Tab")
    await keys.press("ArrowUp")
    await expect(linus.locator(f".message[data-id='{first['id']}']")).to_be_focused()
    for _ in range(10):
        await keys.press("Tab")
        if await linus.get_by_role("button", name="Reply", exact=True).first.evaluate(FOCUSED):
            break
    await keys.press("Enter")
    await expect(field).to_be_focused()
    await keys.type("I do")
    await keys.press("Enter")
    await expect(message(main_list(linus), "I do")).to_be_visible()
    await demo.post("dennis", f"/messages/{first['id']}/reactions", emoji="🎉")
    await expect(linus.get_by_role("button", name="🎉 1")).to_be_visible()
    reply = await demo.write("dennis", group, "in a thread", threadRootMessageId=first["id"])
    await expect(linus.get_by_role("button", name="1 reply")).to_be_visible()
    await demo.post("dennis", f"/conversations/{group}/read", messageId=reply["id"])
    await expect(linus.get_by_role("img", name="Read by 1 of 1")).to_be_attached()
    await expect(main_list(linus)).to_match_aria_snapshot("""
        - log "Messages":
          - text: This is the beginning of Kernel.
          - separator "Today"
          - article /Dennis, \\d+:\\d+ [AP]M/:
            - text: Dennis Who takes the
            - strong: scheduler
            - text: "?"
            - group "Reactions":
              - button "🎉 1"
            - button /1 reply · last/
            - time
          - article /You, \\d+:\\d+ [AP]M/:
            - text: You
            - button /Dennis Who takes the/
            - text: I do
            - time
            - img "Read by 1 of 1"
    """)


@BOTH_FONTS
async def test_at_twice_the_size_all_of_it_is_there(visit: Visit, demo: Demo) -> None:
    """A window of 1280 by 900 at 200 %, and at 400 %: what WCAG calls reflow."""
    group = await demo.group("dennis", "linus", name="Kernel")
    await demo.send("dennis", group, "word " * 60, "https://example.org/" + "x" * 300)
    for size in ({"width": 640, "height": 450}, {"width": 320, "height": 256}):
        linus = await visit("linus", group, viewport=size)
        field = linus.get_by_label("Message", exact=True)
        await expect(field).to_be_in_viewport(ratio=1)
        await expect(linus.get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)
        await expect(main_list(linus)).to_be_in_viewport()
        assert await fits(linus)
        await linus.get_by_role("link", name="Details").click()
        await expect(linus.get_by_role("heading", name="Details")).to_be_in_viewport()
        assert await fits(linus)


async def test_in_high_contrast_lines_say_what_colours_said(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, "theirs")
    await demo.send("linus", place, "mine")
    linus = await visit("linus", place, forced_colors="active")
    style = "(node) => getComputedStyle(node)"
    widths = [
        await message(main_list(linus), text).locator(".bubble").evaluate(f"{style}.borderWidth")
        for text in ("theirs", "mine")
    ]
    assert widths == ["1px", "2px"]
    row = linus.locator(".row[aria-current]")
    assert await row.evaluate(f"{style}.outlineStyle") == "solid"


@BOTH_FONTS
async def test_what_is_written_stays_in_view_beside_a_thread(visit: Visit, demo: Demo) -> None:
    """There is less room beside it: the text has more lines."""
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", conversation_id, "It swims")
    linus = await visit("linus", conversation_id)
    written = linus.get_by_label("Message", exact=True)
    await written.fill("It is nearly as long as one line is. " * 2)
    one_line = await written.evaluate("node => node.clientHeight")
    await act(message(main_list(linus), "It swims"), "Reply in thread")
    await expect(thread(linus)).to_be_visible()
    await linus.wait_for_function(
        f"""() => {{
          const field = {CHAT}.querySelector(".conversation textarea");
          return field.clientHeight === field.scrollHeight;
        }}"""
    )
    assert await written.evaluate("node => node.clientHeight") > one_line
    await linus.keyboard.press("Escape")
    await expect(thread(linus)).to_be_hidden()
    await expect(written).to_have_js_property("clientHeight", one_line)


async def test_a_draft_waits_in_its_conversation(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", conversation_id)
    await linus.get_by_label("Message", exact=True).fill("not yet")
    await linus.get_by_role("link", name="Engine room").click()
    await expect(linus.get_by_role("heading", name="Engine room")).to_be_visible()
    await expect(linus.get_by_label("Message", exact=True)).to_have_value("")

    await linus.go_back()
    await expect(linus.get_by_label("Message", exact=True)).to_have_value("not yet")


async def test_what_is_written_early_is_kept(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", conversation_id)
    is_held = asyncio.Event()

    async def hold(route: Route) -> None:
        await is_held.wait()
        await route.continue_()

    await linus.route(re.compile(r"/conversations(/\w+)?\?"), hold)
    await linus.reload()
    await linus.get_by_label("Message", exact=True).fill("early")
    await expect(linus.get_by_role("heading", name="Dennis")).to_have_count(0)
    is_held.set()
    await expect(linus.get_by_role("heading", name="Dennis")).to_be_visible()
    await expect(linus.get_by_label("Message", exact=True)).to_have_value("early")


async def test_a_conversation_of_others_is_not_shown(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    conversation_id = await demo.direct("ada", "grace")
    linus = await visit("linus", conversation_id)
    await expect(linus.locator("#notice")).to_have_text("That conversation is not open to you.")
    await expect(linus).to_have_url(re.compile(r"#linus$"))


async def test_text_can_be_read(visit: Visit) -> None:
    linus = await visit("linus", color_scheme="dark")
    grounds = []
    for color_scheme in ("dark", "light"):
        await linus.emulate_media(color_scheme=color_scheme)
        colors = await colors_of(linus)
        grounds.append(colors["surface"])
        for text, ground in SHOWN_WITH:
            ratio = contrast(colors[text], colors[ground])
            assert ratio >= READABLE, f"{color_scheme}: {text} on {ground} is {ratio:.2f}"
    assert grounds[0] != grounds[1]


async def colors_of(page: Page) -> dict[str, list[int]]:
    """The red, green and blue of custom properties, as the page resolves them."""
    script = """(node, names) => names.map((name) => {
        node.style.color = `var(--${name})`;
        return getComputedStyle(node).color;
    })"""
    names = sorted({name for pair in SHOWN_WITH for name in pair})
    found = await page.locator("#app").evaluate(script, names)
    return {
        name: [int(part) for part in re.findall(r"\d+", text)]
        for name, text in zip(names, found, strict=True)
    }


def contrast(first: list[int], second: list[int]) -> float:
    """As WCAG defines it: from 1 to 21."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: list[int]) -> float:
    parts = [channel / 255 for channel in color]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


async def test_a_dialog_closes_only_from_beside(visit: Visit, demo: Demo) -> None:
    """A text that is chosen there may end beside it."""
    linus = await visit("linus")
    await linus.get_by_role("button", name="New group").click()
    dialog = linus.get_by_role("dialog", name="New group")
    name = dialog.get_by_role("textbox").first
    await name.fill("Kernel")
    box = await name.bounding_box()
    assert box is not None
    mouse = linus.mouse
    await mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await mouse.down()
    await mouse.move(5, 5, steps=4)
    await mouse.up()
    await linus.evaluate("() => new Promise(requestAnimationFrame)")
    await expect(dialog).to_be_visible()
    await expect(name).to_have_value("Kernel")
    await mouse.click(5, 5)
    await expect(dialog).to_be_hidden()


@BOTH_FONTS
async def test_a_dialog_scrolls_inside_of_a_small_window(visit: Visit, demo: Demo) -> None:
    """A page that is enlarged has as many pixels less."""
    group_id = await demo.group("linus", "dennis", name="Kernel")
    await demo.write("dennis", group_id, "Something quite unkind, and long. " * 20)
    linus = await visit("linus", group_id, viewport={"width": 1280, "height": 800})
    await choose(message(main_list(linus), "unkind"), "Report")
    dialog = linus.get_by_role("dialog", name="Report this message")
    for width, height in ((360, 500), (180, 250)):
        await linus.set_viewport_size({"width": width, "height": height})
        await expect(dialog).to_be_in_viewport(ratio=1)
        assert await dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
        assert await fits(linus)
        for part in (
            dialog.get_by_role("heading"),
            dialog.get_by_label("What is wrong"),
            dialog.get_by_role("button", name="Cancel"),
            dialog.get_by_role("button", name="Report"),
        ):
            await part.scroll_into_view_if_needed()
            await expect(part).to_be_in_viewport()
    await linus.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()


@BOTH_FONTS
async def test_pages_have_one_font_whatever_the_machine_has(empty: Page, font: Font) -> None:
    """That of the test, which is narrow or wide."""
    measure = """
      (family) => {
        const context = document.createElement("canvas").getContext("2d");
        context.font = `100px ${family}`;
        return context.measureText("The quick brown fox").width;
      }
    """
    names = ("sans-serif", "serif", "'DejaVu Sans'")
    widths = {await empty.evaluate(measure, name) for name in names}
    assert len(widths) == 1
    assert (widths.pop() > 870) == (font == "wide")
