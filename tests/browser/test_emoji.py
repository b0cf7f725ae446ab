"""Emoji by their names: for reactions, and while one writes."""

import re

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.acting import act, main_list, message
from tests.browser.conftest import Visit
from tests.browser.looking import Looking
from tests.browser.serving import Demo
from tests.browser.speaking import GERMAN
from tests.browser.test_layout import PHONE

pytestmark = pytest.mark.asyncio(loop_scope="session")


def box(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


def picker(page: Page, name: str = "Emoji") -> Locator:
    return page.get_by_role("dialog", name=name)


async def test_a_reaction_is_found_by_name_and_comes_first_then(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", direct_id, "It flies", "It swims")
    linus = await visit("linus", direct_id)
    await act(message(main_list(linus), "It flies"), "React")
    first = picker(linus, "React").locator(".palette button").first
    await expect(first).to_have_text("👍")
    await linus.keyboard.type("butter")
    await expect(picker(linus, "React").locator(".palette button")).to_have_text(["🦋"])
    await linus.keyboard.press("Enter")
    await expect(main_list(linus).get_by_role("button", name="🦋 1")).to_be_visible()

    await linus.reload()
    await act(message(main_list(linus), "It swims"), "React")
    await expect(first).to_have_text("🦋")
    await expect(picker(linus, "React").get_by_role("button", name="🦋")).to_have_count(1)


async def test_the_arrows_move_among_the_emoji(visit: Visit, demo: Demo) -> None:
    linus = await visit("linus", await demo.direct("linus", "dennis"))
    await linus.get_by_role("button", name="Choose an emoji").press("Enter")
    search = picker(linus).get_by_label("Search, or another emoji")
    buttons = picker(linus).locator(".palette button")
    await expect(search).to_be_focused()
    for key, index in (("ArrowDown", 0), ("ArrowRight", 1), ("ArrowDown", 7), ("ArrowUp", 1)):
        await linus.keyboard.press(key)
        await expect(buttons.nth(index)).to_be_focused()
    await linus.keyboard.press("ArrowUp")
    await expect(search).to_be_focused()
    await linus.keyboard.press("Escape")
    await expect(picker(linus)).to_be_hidden()
    await expect(linus.get_by_role("button", name="Choose an emoji")).to_be_focused()


async def test_an_emoji_is_put_where_the_caret_is(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", direct_id)
    await box(linus).fill("before after")
    await box(linus).evaluate("node => node.setSelectionRange(7, 7)")
    await linus.get_by_role("button", name="Choose an emoji").click()
    await picker(linus).get_by_role("button", name="🔥").click()
    await expect(box(linus)).to_be_focused()
    await expect(box(linus)).to_have_value("before 🔥after")


async def test_a_name_is_completed_while_writing(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", direct_id)
    await box(linus).click()
    names = linus.get_by_role("listbox", name="Emoji")
    await linus.keyboard.type("Ship it :roc")
    await expect(names.get_by_role("option").first).to_have_text("🚀:rocket:")
    await linus.keyboard.press("Enter")
    await expect(box(linus)).to_have_value("Ship it 🚀 ")
    await linus.keyboard.type(":tada:")
    await expect(box(linus)).to_have_value("Ship it 🚀 🎉")
    await linus.keyboard.type(" at 10:30 :D")
    await expect(names).to_be_hidden()
    await linus.keyboard.press("Enter")
    await expect(main_list(linus).locator("[data-state=sent]")).to_have_count(1)
    assert await demo.bodies("linus", direct_id) == ["Ship it 🚀 🎉 at 10:30 :D"]


async def test_names_are_those_of_the_reader_s_language(visit: Visit, demo: Demo) -> None:
    """And the English ones, which are written everywhere."""
    direct_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", direct_id, language=GERMAN)
    written = linus.get_by_label(GERMAN.say("composer.message"), exact=True)
    names = linus.get_by_role("listbox", name="Emoji")
    await written.press_sequentially("Los :glü")
    await expect(names.get_by_role("option").first).to_have_text("💡:glühbirne:")
    await written.fill("")
    await written.press_sequentially("Los :rakete: :tada:")
    await expect(written).to_have_value("Los 🚀 🎉")
    await linus.get_by_role("button", name=GERMAN.say("composer.pickEmoji")).click()
    await expect(picker(linus).get_by_role("textbox")).to_be_focused()
    buttons = picker(linus).locator(".palette button")
    for wanted in ("schmett", "butterf"):
        await linus.keyboard.press("Control+A")
        await linus.keyboard.type(wanted)
        await expect(buttons).to_have_text(["🦋"])
        await expect(buttons).to_have_attribute("title", "schmetterling")


@pytest.mark.parametrize("is_phone", [False, pytest.param(True, marks=pytest.mark.long)])
async def test_everybody_can_choose(visit: Visit, demo: Demo, is_phone: bool) -> None:
    direct_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", direct_id, reduced_motion="reduce", **(PHONE if is_phone else {}))
    looking = Looking(is_phone=is_phone)
    await linus.get_by_role("button", name="Choose an emoji").click()
    palette = picker(linus).locator(".palette")
    assert await palette.evaluate("node => node.scrollWidth <= node.clientWidth")
    await looking.at(linus, "all emoji")
    await picker(linus).get_by_label("Search, or another emoji").fill("nonsense")
    await expect(picker(linus).get_by_text("No emoji with that name.")).to_be_visible()
    await looking.at(linus, "none found")
    await linus.keyboard.press("Escape")
    await box(linus).press_sequentially(":smi")
    await expect(linus.get_by_role("listbox", name="Emoji")).to_be_visible()
    await looking.at(linus, "names")
    assert not looking.faults, "\n".join(looking.faults)


async def test_the_exact_name_comes_first(visit: Visit, demo: Demo) -> None:
    """Then the shortest one; the picker shows which Enter takes."""
    direct_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", direct_id, "It flies")
    linus = await visit("linus", direct_id)
    await act(message(main_list(linus), "It flies"), "React")
    await expect(picker(linus, "React").get_by_label("Another emoji")).to_be_focused()
    marked = picker(linus, "React").locator("[data-first]")
    await expect(marked).to_have_count(0)
    await linus.keyboard.type("heart")
    await expect(marked).to_have_text("❤️")
    await linus.keyboard.press("Enter")
    await expect(main_list(linus).get_by_role("button", name="❤️ 1")).to_be_visible()
    await box(linus).press_sequentially(":hea")
    names = linus.get_by_role("listbox", name="Emoji")
    await expect(names.get_by_role("option").first).to_have_text("❤️:heart:")


async def test_pasted_names_become_emoji_when_they_are_sent(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    linus = await visit("linus", direct_id)
    await box(linus).fill("Done :tada: at 10:30: `:tada:` :unknown:")
    await linus.keyboard.press("Enter")
    await expect(main_list(linus).locator("[data-state=sent]")).to_have_count(1)
    assert await demo.bodies("linus", direct_id) == ["Done 🎉 at 10:30: `:tada:` :unknown:"]


async def test_the_demo_shows_emoji_in_colour(visit: Visit, demo: Demo) -> None:
    """By a font of its page, in the whole chat."""
    linus = await visit("linus", await demo.direct("linus", "dennis"))
    await expect(linus.locator(".root")).to_have_css("font-family", re.compile("^Coloured, "))
    await expect(box(linus)).to_have_css("font-family", re.compile("^Coloured, "))
