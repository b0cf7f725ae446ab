"""What happens in a group beside messages stands between them, for those who are there."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.acting import main_list
from tests.browser.conftest import Visit
from tests.browser.serving import Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def shown(first: Page, second: Page, words: str) -> None:
    for page in (first, second):
        await expect(main_list(page)).to_contain_text(words)


async def test_what_happens_before_the_first_message_stands_above_it(
    visit: Visit, demo: Demo
) -> None:
    place = await demo.group("linus", "dennis", name="Kernel")
    dennis, linus = await visit("dennis", place), await visit("linus", place)
    for page in (dennis, linus):
        await expect(main_list(page)).to_contain_text("This is the beginning of")
    path = f"/conversations/{place}/participants"
    await demo.post("linus", path, userIds=["grace"])
    await shown(dennis, linus, "added Grace")
    await demo.send("linus", place, "first")
    for page in (dennis, linus):
        await expect(main_list(page)).to_contain_text("first")
        texts = await main_list(page).inner_text()
        assert texts.index("the beginning") < texts.index("added Grace") < texts.index("first")


async def test_who_is_added_later_is_not_told_so_at_the_beginning(visit: Visit, demo: Demo) -> None:
    place = await demo.group("linus", "dennis", name="Kernel")
    await demo.send("linus", place, "first")
    grace = await visit("grace")
    await demo.post("linus", f"/conversations/{place}/participants", userIds=["grace"])
    await grace.get_by_role("link", name="Kernel").click()
    await expect(main_list(grace)).to_contain_text("This is the beginning of")
    await expect(main_list(grace)).to_contain_text("first")
    await expect(main_list(grace).locator(".happening")).to_have_count(0)


async def test_it_stands_where_it_happened(visit: Visit, demo: Demo) -> None:
    place = await demo.group("linus", "dennis", name="Kernel")
    await demo.send("linus", place, "before")
    dennis, linus = await visit("dennis", place), await visit("linus", place)
    for page in (dennis, linus):
        await expect(main_list(page)).to_contain_text("before")
    path = f"/conversations/{place}"
    await demo.post("linus", f"{path}/participants", userIds=["grace"])
    # An event may show a later state: what it shows already is not told once more.
    await shown(dennis, linus, "added Grace")
    await demo.patch("linus", path, name="Core")
    await shown(dennis, linus, "named the group")
    await demo.patch("linus", path, topic="what matters", frozen=True)
    await shown(dennis, linus, "froze the group")
    await demo.patch("linus", path, frozen=False)
    await shown(dennis, linus, "ended the freeze")
    newest = await demo.newest("linus", place)
    await demo.post("linus", f"{path}/pins", messageId=newest["id"])
    await shown(dennis, linus, "pinned a message")
    await demo.send("linus", place, "after")
    await demo.delete("grace", f"{path}/participants", userId="grace")
    told = [
        "added Grace",
        "named the group “Core”",
        "set the topic: what matters",
        "froze the group: only admins write",
        "ended the freeze: all may write again",
        "pinned a message",
    ]
    for page, who in ((dennis, "Linus"), (linus, "You")):
        lines = main_list(page).locator(".happening")
        await expect(lines).to_have_text([*(f"{who} {text}" for text in told), "Grace left"])
        texts = await main_list(page).locator(".happening, .message .body").all_text_contents()
        assert texts.index("before") == 0
        assert texts.index("after") == 7
    # Nothing of it is stored.
    await dennis.reload()
    await expect(main_list(dennis)).to_contain_text("after")
    await expect(main_list(dennis).locator(".happening")).to_have_count(0)
