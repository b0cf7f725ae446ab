"""Images of a conversation, large: one after the other, by keys and by buttons."""

import asyncio

import pytest
from aiohttp import ClientSession, FormData
from playwright.async_api import Locator, Page, Route, ViewportSize, expect

from tests.browser.acting import main_list, message, thread
from tests.browser.conftest import Visit
from tests.browser.looking import Looking
from tests.browser.serving import Complaints, Demo
from tests.browser.test_layout import PHONE
from tests.browser.test_sending_files import png

pytestmark = pytest.mark.asyncio(loop_scope="session")

IN_WINDOW = """(image) => {
  const { top, left, bottom, right } = image.getBoundingClientRect();
  return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
}"""


SIZES = {"wide.png": (900, 40), "tall.png": (40, 900), "tiny.png": (4, 4)}


async def picture(demo: Demo, conversation_id: str, *names: str, **more: str) -> str:
    """Have Dennis send a message with images; its id."""
    path = f"/api/chat/conversations/{conversation_id}/attachments"
    ids = []
    async with ClientSession(f"http://127.0.0.1:{demo.port}") as http:
        for name in names:
            form = FormData()
            image = png(*SIZES.get(name, (600, 300)))
            form.add_field("file", image, filename=name, content_type="image/png")
            async with http.post(path, params={"as": "dennis"}, data=form) as answer:
                ids.append((await answer.json())["attachment"]["id"])
    body = f"with {names[0]}"
    return str((await demo.write("dennis", conversation_id, body, attachmentIds=ids, **more))["id"])


def shown(page: Page, name: str) -> Locator:
    return page.get_by_role("dialog", name=name, exact=True)


def link(place: Locator, name: str) -> Locator:
    return place.get_by_role("link", name=name)


@pytest.mark.parametrize("is_phone", [False, pytest.param(True, marks=pytest.mark.long)])
async def test_nothing_moves_when_an_image_comes(visit: Visit, demo: Demo, is_phone: bool) -> None:
    """What is at the end stays before the reader's eyes, and only that is read."""
    place = await demo.direct("linus", "dennis")
    await demo.fill(place, [("dennis", f"message {number}") for number in range(20)])
    await picture(demo, place, "one.png")
    await demo.send("dennis", place, "below it")
    await demo.read_all("linus", place)
    may_come = asyncio.Event()

    async def come_later(route: Route) -> None:
        await may_come.wait()
        await route.continue_()

    linus = await visit("linus", **(PHONE if is_phone else {}))
    await linus.route("**/thumbnail?*", come_later)
    async with linus.expect_request("**/thumbnail?*"):
        await linus.get_by_role("link", name="Dennis").click()
    last = message(main_list(linus), "below it")
    await expect(last).to_be_in_viewport(ratio=1)
    before = await last.bounding_box()
    may_come.set()
    image = link(main_list(linus), "one.png").get_by_role("img")
    await expect(image).to_have_js_property("complete", value=True)
    assert await image.evaluate("node => node.naturalWidth") > 0
    assert await last.bounding_box() == before


async def test_one_looks_through_the_images_of_a_conversation(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    await picture(demo, place, "one.png", "two.png")
    await demo.send("dennis", place, "between")
    await picture(demo, place, "three.png")
    linus = await visit("linus", place)
    await link(main_list(linus), "one.png").click()
    await expect(shown(linus, "one.png")).to_contain_text("Image 1 of 3")
    image = shown(linus, "one.png").get_by_role("img", name="one.png")
    await expect(image).to_have_js_property("naturalWidth", 600)
    await expect(shown(linus, "one.png").get_by_role("button", name="Previous")).to_be_disabled()
    await shown(linus, "one.png").get_by_role("button", name="Next").click()
    await expect(shown(linus, "two.png")).to_contain_text("Image 2 of 3")
    await linus.keyboard.press("ArrowRight")
    last = shown(linus, "three.png")
    await expect(last).to_contain_text("Image 3 of 3")
    await expect(last.get_by_role("button", name="Next")).to_be_disabled()
    await expect(last.get_by_role("button", name="Previous")).to_be_focused()
    await linus.keyboard.press("ArrowRight")
    await expect(last).to_be_visible()
    async with linus.expect_download() as download:
        await last.get_by_role("link", name="Download").click()
    assert (await download.value).suggested_filename == "three.png"
    await linus.keyboard.press("ArrowLeft")
    await expect(shown(linus, "two.png")).to_be_visible()
    await linus.keyboard.press("Escape")
    await expect(linus.get_by_role("dialog")).to_be_hidden()
    await expect(link(main_list(linus), "one.png")).to_be_focused()


@pytest.mark.parametrize("is_phone", [False, pytest.param(True, marks=pytest.mark.long)])
async def test_nothing_moves_from_image_to_image(visit: Visit, demo: Demo, is_phone: bool) -> None:
    """Whoever presses again at the same place goes on, though they have other sizes and names."""
    place = await demo.direct("linus", "dennis")
    names = ["one.png", *SIZES, f"{'a long name ' * 10}.png"]
    await picture(demo, place, *names)
    linus = await visit("linus", place, **(PHONE if is_phone else {}))
    await link(main_list(linus), "one.png").click()
    box = await shown(linus, "one.png").get_by_role("button", name="Next").bounding_box()
    assert box is not None
    for name in names[1:]:
        await linus.mouse.click(box["x"] + 5, box["y"] + 5)
        image = shown(linus, name).get_by_role("img", name=name)
        await expect(image).to_have_js_property("complete", value=True)
        assert await image.evaluate("node => node.naturalWidth") > 0
        assert await image.evaluate(IN_WINDOW)


async def test_it_is_opened_with_the_keyboard(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    await picture(demo, place, "one.png")
    linus = await visit("linus", place)
    await link(main_list(linus), "one.png").press("Enter")
    only = shown(linus, "one.png")
    await expect(only).to_contain_text("Image 1 of 1")
    await expect(only).to_contain_text("Dennis")
    await expect(only.get_by_role("button", name="Close")).to_be_focused()
    await linus.keyboard.press("Shift+Tab")
    await expect(only.get_by_role("link", name="Download")).to_be_focused()
    await linus.keyboard.press("Tab")
    await linus.keyboard.press("Enter")
    await expect(link(main_list(linus), "one.png")).to_be_focused()


async def test_images_are_loaded_when_they_are_looked_at(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    await picture(demo, place, "one.png", "two.png")
    linus = await visit("linus", place)
    await expect(link(main_list(linus), "two.png").locator("img")).to_have_attribute(
        "loading", "lazy"
    )
    asked: list[str] = []
    linus.on("request", lambda request: asked.append(request.url.split("?")[0]))
    await link(main_list(linus), "two.png").click()
    image = shown(linus, "two.png").get_by_role("img", name="two.png")
    await expect(image).to_have_js_property("naturalWidth", 600)
    whole = [url for url in asked if "/attachments/" in url and "thumbnail" not in url]
    assert len(whole) == 1


async def test_images_come_and_go_while_it_is_open(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    await picture(demo, place, "one.png")
    gone = await picture(demo, place, "two.png")
    linus = await visit("linus", place)
    await link(main_list(linus), "two.png").click()
    await expect(shown(linus, "two.png")).to_contain_text("Image 2 of 2")
    await picture(demo, place, "three.png")
    await expect(shown(linus, "two.png")).to_contain_text("Image 2 of 3")
    await demo.delete("dennis", f"/messages/{gone}")
    await expect(linus.get_by_role("dialog")).to_be_hidden()
    await expect(link(main_list(linus), "two.png")).to_have_count(0)


async def test_a_thread_has_images_of_its_own(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    root = await picture(demo, place, "root.png")
    await picture(demo, place, "reply.png", threadRootMessageId=root)
    await picture(demo, place, "elsewhere.png")
    linus = await visit("linus", f"{place}/{root}")
    await link(thread(linus), "reply.png").click()
    await expect(shown(linus, "reply.png")).to_contain_text("Image 2 of 2")
    await linus.keyboard.press("ArrowLeft")
    await expect(shown(linus, "root.png")).to_be_visible()


async def test_an_image_that_does_not_load_says_so(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("Failed to load resource")
    place = await demo.direct("linus", "dennis")
    await picture(demo, place, "one.png")
    linus = await visit("linus", place)
    await expect(message(main_list(linus), "with one.png").get_by_role("img")).to_be_visible()
    await linus.route("**/attachments/*?*", lambda route: route.abort())
    await link(main_list(linus), "one.png").click()
    alert = shown(linus, "one.png").get_by_role("alert")
    await expect(alert).to_have_text("This image did not load.")


@pytest.mark.parametrize("size", [{}, pytest.param(PHONE, marks=pytest.mark.long)])
async def test_everybody_can_use_it(visit: Visit, demo: Demo, size: dict[str, object]) -> None:
    place = await demo.direct("linus", "dennis")
    await picture(demo, place, "one.png", "two.png")
    linus = await visit("linus", place, **size)
    await link(main_list(linus), "one.png").click()
    image = shown(linus, "one.png").get_by_role("img", name="one.png")
    await expect(image).to_have_js_property("naturalWidth", 600)
    looking = Looking(is_phone=size is PHONE)
    await looking.at(linus, "the gallery")
    assert looking.faults == []
    usual = linus.viewport_size
    assert usual is not None
    low: ViewportSize = {"width": 360, "height": 500}
    for now in (usual, low, usual):
        await linus.set_viewport_size(now)
        close = shown(linus, "one.png").get_by_role("button", name="Close")
        await expect(close).to_be_in_viewport()
        await linus.wait_for_function(IN_WINDOW, arg=await image.element_handle())


async def test_an_image_is_made_larger_and_moved(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    await picture(demo, place, "one.png", "two.png")
    linus = await visit("linus", place)
    await link(main_list(linus), "one.png").click()
    image = shown(linus, "one.png").get_by_role("img", name="one.png")
    await expect(image).to_have_js_property("naturalWidth", 600)
    small = await image.bounding_box()
    assert small is not None
    await image.hover()
    await linus.mouse.wheel(0, -400)
    await expect(linus.locator(".gallery-image[data-larger]")).to_be_visible()
    large = await image.bounding_box()
    assert large is not None
    assert large["width"] > small["width"] * 2
    await linus.mouse.down()
    await linus.mouse.move(700, 400)
    await linus.mouse.up()
    moved = await image.bounding_box()
    assert moved is not None
    assert (moved["x"], moved["y"]) != (large["x"], large["y"])
    await linus.keyboard.press("0")
    assert await image.bounding_box() == small
    await linus.keyboard.press("+")
    await linus.keyboard.press("ArrowRight")
    other = shown(linus, "two.png").get_by_role("img", name="two.png")
    await expect(other).to_have_js_property("naturalWidth", 600)
    assert await other.bounding_box() == small
    # Around it there is nothing else.
    await linus.mouse.click(200, 200)
    await expect(linus.get_by_role("dialog")).to_be_hidden()
