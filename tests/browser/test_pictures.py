"""What stands for people: their pictures, where the host has some, and else their initials."""

import pytest
from playwright.async_api import Locator, Route, expect

from tests.browser.acting import main_list
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")


def image(place: Locator) -> Locator:
    return place.locator(".avatar img")


async def test_people_are_shown_by_their_pictures(visit: Visit, demo: Demo) -> None:
    with_grace = await demo.direct("linus", "grace")
    await demo.send("grace", with_grace, "A moth")
    await demo.send("dennis", await demo.direct("linus", "dennis"), "In C")
    linus = await visit("linus", with_grace)
    for place in (linus.get_by_role("link", name="Grace"), main_list(linus)):
        await expect(image(place)).to_have_attribute("src", "/demo/static/people.svg#grace")
        await expect(image(place)).to_have_css("opacity", "1")
        assert await image(place).evaluate("node => node.naturalWidth") > 0
    own = linus.locator("#my-avatar img")
    await expect(own).to_have_attribute("src", "/demo/static/people.svg#linus")
    # Who has none, and groups, are shown by initials.
    for name, initials in (("Dennis", "D"), ("Engine room", "ER")):
        row = linus.get_by_role("link", name=name)
        await expect(row.locator(".avatar")).to_have_text(initials)
        await expect(image(row)).to_have_count(0)


async def test_one_whose_picture_does_not_come_is_shown_by_initials(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("ERR_FAILED")
    await demo.send("grace", await demo.direct("linus", "grace"), "A moth")
    linus = await visit("linus")
    asked: list[str] = []

    async def refuse(route: Route) -> None:
        asked.append(route.request.url)
        await route.abort()

    await linus.route("**/people.svg", refuse)
    await linus.reload()
    row = linus.get_by_role("link", name="Grace")
    await expect(row.locator(".avatar")).to_have_text("G")
    await expect(image(row)).to_have_css("opacity", "0")
    assert asked


async def test_a_picture_follows_its_person(visit: Visit, complaints: Complaints) -> None:
    """A host may show another one from now on."""
    complaints.excuse("404")
    linus = await visit("linus")
    shown = await linus.evaluate("""async () => {
        const { avatar, setAvatar } = await import("/browser/dom.js");
        const target = avatar();
        const sources = () => [...target.querySelectorAll("img")].map((image) => image.src);
        const picture = { initials: "G", hue: 0, shape: "round" };
        const found = [];
        for (const image of [null, "/a.png", "/a.png", "/b.png", null]) {
          const before = target.querySelector("img");
          setAvatar(target, { ...picture, image });
          const isSame = before === target.querySelector("img");
          found.push([sources().map((source) => new URL(source).pathname), isSame]);
        }
        return found;
    }""")
    assert shown == [
        [[], True],
        [["/a.png"], False],
        [["/a.png"], True],
        [["/b.png"], False],
        [[], False],
    ]


async def test_a_choice_of_a_user_looks_as_in_a_chat(demo: Demo, open_page: Visit) -> None:
    page = await open_page()
    await page.goto(f"http://127.0.0.1:{demo.port}/")
    choice = page.get_by_role("link", name="Linus")
    await expect(choice).to_have_css("display", "flex")
    await expect(choice.locator(".avatar")).to_have_css("border-radius", "50%")
