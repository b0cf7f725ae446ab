"""Mentions: completed while writing, kept while editing, seen by those who are meant."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.acting import act, choose, main_list, message
from tests.browser.conftest import Visit
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def in_group(visit: Visit, demo: Demo) -> tuple[Page, str]:
    """Linus in a group with Dennis, Grace and Margaret."""
    group_id = await demo.group("linus", "dennis", "grace", "margaret", name="Kernel")
    linus = await visit("linus", group_id)
    await linus.get_by_label("Message", exact=True).click()
    return linus, group_id


async def test_a_mention_is_completed_by_keyboard(visit: Visit, demo: Demo) -> None:
    linus, group_id = await in_group(visit, demo)
    dennis = await visit("dennis", group_id)
    box = linus.get_by_label("Message", exact=True)
    people = linus.get_by_role("listbox", name="People to mention")
    await linus.keyboard.type("Ask @")
    await expect(people.get_by_role("option")).to_have_text(["DDennis", "GGrace", "MMargaret"])
    await linus.keyboard.press("ArrowDown")
    await expect(people.get_by_role("option", selected=True)).to_contain_text("Grace")
    await linus.keyboard.press("Enter")
    await expect(box).to_have_value("Ask @Grace ")
    await linus.keyboard.type("or @d")
    await expect(people.get_by_role("option")).to_have_text(["DDennis"])
    await linus.keyboard.press("Tab")
    await expect(people).to_be_hidden()
    await linus.keyboard.press("Enter")

    for page in (linus, dennis):
        row = message(main_list(page), "Ask @Grace or @Dennis")
        await expect(row.locator(".mention")).to_have_text(["@Grace", "@Dennis"])
    assert (await demo.newest("linus", group_id))["mentions"] == ["dennis", "grace"]
    row = message(main_list(dennis), "Ask @Grace")
    await expect(row.locator(".mention[data-me]")).to_have_text("@Dennis")
    await expect(row).to_have_attribute("data-mentions-me", "")
    await expect(message(main_list(linus), "Ask")).not_to_have_attribute("data-mentions-me", "")


async def test_only_who_is_still_in_the_text_is_mentioned(visit: Visit, demo: Demo) -> None:
    linus, group_id = await in_group(visit, demo)
    people = linus.get_by_role("listbox", name="People to mention")
    await linus.keyboard.type("@mar")
    await people.get_by_role("option", name="Margaret").click()
    await linus.keyboard.type("and @gr")
    await linus.keyboard.press("Enter")
    box = linus.get_by_label("Message", exact=True)
    await expect(box).to_have_value("@Margaret and @Grace ")
    await box.fill("@Margaretha and @Grace, mail me@dennis")
    await linus.keyboard.press("Enter")
    await expect(main_list(linus).locator("[data-state=sent] .mention")).to_have_text("@Grace")
    assert (await demo.newest("linus", group_id))["mentions"] == ["grace"]


async def test_who_begins_before_it_is_known_who_is_here_gets_the_list(empty: Page) -> None:
    script = """
        const { Completion } = await import("/browser/view/completion.js");
        const { Shell } = await import("/browser/view/shell.js");
        const { textsIn } = await import("/browser/texts.js");
        const input = document.createElement("textarea");
        const people = { pictureOfPerson: () => ({ initials: "M", hue: 0, shape: "round" }) };
        const shell = new Shell({ root: document.body, people, texts: await textsIn("en") });
        const completion = new Completion(shell, input, "list", () => {});
        const list = completion.node;
        document.body.replaceChildren(input, list);
        input.focus();
        input.value = "@mar";
        completion.update();
        const before = list.children.length;
        completion.candidates = [{ id: "margaret", name: "Margaret" }];
        return [before, list.children.length];
    """
    assert await empty.evaluate(f"async () => {{ {script} }}") == [0, 1]


async def test_escape_closes_the_list_only(visit: Visit, demo: Demo) -> None:
    linus, group_id = await in_group(visit, demo)
    await demo.send("dennis", group_id, "Who?")
    await act(message(main_list(linus), "Who?"), "Reply")
    people = linus.get_by_role("listbox", name="People to mention")
    await linus.keyboard.type("@")
    await expect(people).to_be_visible()
    await linus.keyboard.press("Escape")
    await expect(people).to_be_hidden()
    await linus.keyboard.type("grace")
    await expect(people).to_be_hidden()
    await expect(linus.get_by_text("Replying to Dennis")).to_be_visible()
    await linus.keyboard.press("Enter")
    await expect(main_list(linus).locator("[data-state=sent]").last).to_contain_text("@grace")


async def test_a_typed_name_mentions_who_alone_has_it(visit: Visit, demo: Demo) -> None:
    linus, group_id = await in_group(visit, demo)
    grace = await visit("grace", group_id)
    box = linus.get_by_label("Message", exact=True)
    await box.fill("Hi @grace, not @Ada and mail@dennis")
    await linus.keyboard.press("Enter")
    row = message(main_list(grace), "Hi @grace")
    await expect(row.locator(".mention[data-me]")).to_have_text("@grace")
    assert (await demo.newest("linus", group_id))["mentions"] == ["grace"]

    await choose(message(main_list(linus), "Hi @grace"), "Edit")
    await box.fill("Hi @grace and @DENNIS!")
    await linus.keyboard.press("Enter")
    await expect(row.locator(".mention")).to_have_text(["@grace", "@DENNIS"])
    edited = await demo.newest("linus", group_id)
    assert sorted(edited["mentions"]) == ["dennis", "grace"]


async def test_a_name_of_several_means_who_was_chosen(empty: Page) -> None:
    script = """
        const { mentionedIn, nameable } = await import("/browser/mentions.js");
        const people = [["g", "Grace"], ["h", "grace"], ["d", "Dennis"]]
          .map(([id, name]) => ({ id, name }));
        const text = "@Grace and @dennis";
        return [[], [people[1]]].map((chosen) => mentionedIn(text, nameable(chosen, people)));
    """
    assert await empty.evaluate(f"async () => {{ {script} }}") == [["d"], ["h", "d"]]


async def test_an_edit_keeps_and_changes_mentions(visit: Visit, demo: Demo) -> None:
    linus, group_id = await in_group(visit, demo)
    grace = await visit("grace", group_id)
    sent = await demo.write(
        "linus", group_id, "Hi @Dennis and @Grace", mentions=["dennis", "grace", "margaret"]
    )
    await choose(message(main_list(linus), "Hi @Dennis"), "Edit")
    box = linus.get_by_label("Message", exact=True)
    await box.fill("Hello @Grace and @")
    await linus.keyboard.press("End")
    await linus.keyboard.type("m")
    await linus.keyboard.press("Enter")
    await expect(box).to_have_value("Hello @Grace and @Margaret ")
    await linus.keyboard.press("Enter")

    row = message(main_list(grace), "Hello @Grace")
    await expect(row.locator(".mention")).to_have_text(["@Grace", "@Margaret"])
    await expect(row).to_have_attribute("data-mentions-me", "")
    edited = await demo.message("linus", group_id, sent["id"])
    assert sorted(edited["mentions"]) == ["grace", "margaret"]


async def test_a_mention_is_marked_in_the_list(visit: Visit, demo: Demo) -> None:
    """Also those from before the page was opened."""
    group_id = await demo.group("linus", "dennis", name="Kernel")
    await demo.write("linus", group_id, "@Dennis look", mentions=["dennis"])
    dennis = await visit("dennis")
    row = dennis.get_by_role("link", name="Kernel")
    await expect(row.locator(".mention-mark")).to_have_text("@ mention")
    await demo.send("linus", group_id, "and all of you")
    await demo.write("linus", group_id, "@Dennis again", mentions=["dennis"])
    await expect(row.locator(".mention-mark")).to_have_text("@ 2 mentions")
    await expect(row.locator(".badge")).to_have_text("3 unread")
    await row.click()
    await expect(row.locator(".mention-mark")).to_be_hidden()


async def test_a_conversation_is_named_behind_a_hash(visit: Visit, demo: Demo) -> None:
    """Who knows it sees its name, and goes there; to others it is an address."""
    kernel = await demo.group("linus", "dennis", name="Kernel work")
    place = await demo.group("linus", "dennis", "grace", name="Lobby")
    linus, dennis, grace = [await visit(name, place) for name in ("linus", "dennis", "grace")]
    field = linus.get_by_role("textbox", name="Message", exact=True)
    await field.press_sequentially("See #kern")
    option = linus.get_by_role("option", name="Kernel work")
    await expect(option).to_have_attribute("aria-selected", "true")
    await linus.keyboard.press("Enter")
    await linus.keyboard.press("Enter")
    link = main_list(dennis).get_by_role("link", name="#Kernel work")
    await expect(main_list(grace).get_by_role("link", name=kernel)).to_be_visible()
    await link.click()
    await expect(dennis.get_by_role("heading", name="Kernel work")).to_be_visible()
