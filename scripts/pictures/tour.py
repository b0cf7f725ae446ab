"""Pictures of single features of the page, taken with the sample conversations."""

from playwright.async_api import Page, expect

from pictures.photographer import Photographer
from pictures.scene import Scene

ME = "ada"
ROOM = "Start here"
UNREAD = 38
SAID = (
    "Relay 70 again.",
    "It works when I look at it.",
    "I looked away.",
    "Now it does not.",
    "Taped, logged, closed.",
)


async def take_tour(photographer: Photographer, scene: Scene) -> None:
    """Over a demo whose story nobody has opened yet."""
    page = await photographer.open(ME)
    await expect(page.get_by_role("heading", name="First steps")).to_be_visible()
    await photographer.shoot(page, "first-steps")

    page = await _room_of(photographer, "margaret", query="?lang=de")
    await photographer.shoot(page, "german")

    page = await _room_of(photographer, ME)
    await page.get_by_role("button", name="Choose an emoji").click()
    await expect(page.get_by_role("dialog", name="Emoji")).to_be_visible()
    await photographer.shoot(page, "emoji")

    page = await photographer.open(ME)
    await page.get_by_role("link", name="Engine room").click()
    await page.get_by_role("link", name="moth.png").click()
    image = page.get_by_role("dialog").get_by_role("img")
    await expect(image).to_have_js_property("naturalWidth", 480)
    await photographer.shoot(page, "gallery")

    await _unread(photographer, scene)


async def _room_of(photographer: Photographer, user_id: str, query: str = "") -> Page:
    page = await photographer.open(user_id, query=query)
    await page.get_by_role("link", name=ROOM).click()
    await expect(page.locator("#timeline .message").last).to_be_attached()
    return page


async def _unread(photographer: Photographer, scene: Scene) -> None:
    place = await scene.direct("grace", ME)
    for number in range(UNREAD):
        await scene.say("grace", SAID[number % len(SAID)], place)
    page = await photographer.open(ME, place)
    await expect(page.locator("#timeline").get_by_text("new messages")).to_be_in_viewport()
    await photographer.shoot(page, "unread")
