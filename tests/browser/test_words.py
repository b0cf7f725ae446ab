"""The page in other languages: chosen once and kept, German throughout, turned from the right."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.acting import act, panel
from tests.browser.conftest import Visit
from tests.browser.looking import fits
from tests.browser.serving import Complaints, Demo
from tests.browser.speaking import GERMAN, Foreign
from tests.browser.test_layout import PHONE

pytestmark = pytest.mark.asyncio(loop_scope="session")

say = GERMAN.say
MOMENT = re.compile(r"^\w+(tag|woch), \d+\. \w+ \d{4} um \d\d:\d\d$")
"""As in "Montag, 23. November 2026 um 18:05"."""


async def speaks(page: Page, language: str, direction: str) -> None:
    """The page is in this language, once its texts are loaded."""
    root = page.locator("html")
    await expect(root).to_have_attribute("lang", language)
    await expect(root).to_have_attribute("dir", direction)


async def write(page: Page, body: str, label: str = "composer.message") -> None:
    await page.get_by_label(say(label), exact=True).fill(body)
    await page.keyboard.press("Enter")


async def test_a_conversation_is_held_in_german(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    linus = await visit("linus", place, language=GERMAN)
    dennis = await visit("dennis", place, locale="de-AT")
    for page in (linus, dennis):
        await speaks(page, "de", "ltr")
    log = linus.get_by_role("log", name="Nachrichten", exact=True)
    await expect(log).to_contain_text("Das ist der Anfang deiner Unterhaltung mit Dennis.")
    await dennis.get_by_placeholder("Nachricht an Linus").press_sequentially("Guten")
    await expect(linus.locator("#typing")).to_have_text("Dennis schreibt…")
    await write(dennis, "Guten Tag")
    row = log.locator(".message").filter(has_text="Guten Tag")
    await expect(log.locator(".day")).to_have_text("Heute")
    await act(row, "Im Thread antworten")
    thread = panel(linus, "Thread")
    await expect(thread).to_contain_text("Noch keine Antworten")
    await write(linus, "Hallo", "thread.message")
    await expect(thread).to_contain_text("1 Antwort")
    await write(linus, "Moin", "thread.message")
    await expect(row.locator(".thread-link")).to_contain_text("2 Antworten · zuletzt ")
    await write(linus, "Wie geht's?")
    own = log.locator(".message").filter(has_text="Wie geht's?")
    await expect(own.locator(".ticks")).to_have_attribute("title", "Gelesen")
    await expect(own.locator("time")).to_have_attribute("title", MOMENT)
    await expect(linus.get_by_role("link", name="Dennis")).to_contain_text("Du: Wie geht's?")


async def test_what_happens_in_a_group_is_told_in_german(visit: Visit, demo: Demo) -> None:
    place = await demo.group("linus", "dennis", name="Kernel")
    await demo.send("linus", place, "Moin")
    linus = await visit("linus", place, language=GERMAN)
    dennis = await visit("dennis", place, language=GERMAN)
    for page in (linus, dennis):
        await expect(page.locator("#timeline .message")).to_have_count(1)
    path = f"/conversations/{place}"
    await demo.post("linus", f"{path}/participants", userIds=["ada", "grace"])
    # An event may show a later state, with the new name in it.
    for page in (linus, dennis):
        await expect(page.locator(".happening")).to_have_count(1)
    await demo.patch("linus", path, name="Kern")
    await demo.delete("ada", f"{path}/participants", userId="ada")
    for page, who in ((dennis, "Linus hat"), (linus, "Du hast")):
        told = [f"{who} Ada und Grace hinzugefügt", f"{who} die Gruppe „Kern“ genannt"]
        lines = page.locator(".happening")
        await expect(lines).to_have_text([*told, "Ada hat die Gruppe verlassen"])


async def test_refusals_are_told_in_german(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    """By what they are; a host's own reason stays as it is."""
    complaints.excuse("403")
    complaints.excuse("429")
    place = await demo.direct("linus", "dennis")
    linus = await visit("linus", place, language=GERMAN)
    await write(linus, "A casino")
    log = linus.locator("#timeline")
    await expect(log).to_contain_text(
        "Wartet auf die Moderation. This looks like advertising. A moderator looks."
    )
    await demo.post("dennis", "/moderation/blocks", targetUserId="linus")
    await write(linus, "Hallo?")
    blocked = (
        "Nicht gesendet. Ihr könnt einander nicht schreiben: Eine Person hat die andere blockiert."
    )
    await expect(log).to_contain_text(blocked)
    group = await demo.group("dennis", "linus", name="Kernel")
    await demo.patch("dennis", f"/conversations/{group}", slowModeSeconds=60)
    await linus.goto(linus.url.replace(place, group))
    words = "Langsamer Modus: jede Minute eine Nachricht."
    await expect(linus.get_by_placeholder(words)).to_be_visible()
    for body in ("Eins", "Zwei"):
        await write(linus, body)
    await expect(linus.get_by_role("timer").first).to_have_text(re.compile("^In [01]:[0-5][0-9] "))
    await expect(linus.locator("#body")).to_have_value("Zwei")


async def test_a_language_is_chosen_and_kept(visit: Visit) -> None:
    page = await visit("")
    await speaks(page, "en", "ltr")
    await page.get_by_role("combobox", name="Language").select_option("Deutsch")
    await expect(page.get_by_role("heading", name="Wer bist du heute?")).to_be_visible()
    await page.get_by_role("link", name="Grace").click()
    await expect(page.locator("#app")).to_have_attribute("data-status", "live")
    await expect(page.get_by_role("link", name="Kanäle")).to_be_visible()
    await page.reload()
    choice = page.locator("chat-aio").get_by_label("Sprache")
    await expect(choice).to_have_value("de")
    await choice.select_option("English")
    await expect(page.get_by_role("link", name="Channels")).to_be_visible()


async def test_an_address_asks_for_a_language_once(visit: Visit, demo: Demo) -> None:
    """It is kept, and not handed on with links; what the page does not have changes nothing."""
    page = await visit("linus", language=GERMAN)
    assert page.url == f"http://127.0.0.1:{demo.port}/#linus"
    await page.goto(f"http://127.0.0.1:{demo.port}/?lang=tlh#linus")
    await page.reload()
    await speaks(page, "de", "ltr")


async def test_names_of_the_other_direction_stay_in_their_place(visit: Visit, demo: Demo) -> None:
    place = await demo.group("linus", "dennis", name="אבא")
    linus = await visit("linus", place)
    await expect(linus.get_by_placeholder("Message \u2068אבא\u2069")).to_be_visible()
    await expect(linus.locator("#title")).to_have_text("אבא")
    title, head = [await left_of(linus, name) for name in ("#title", ".conversation .headings")]
    assert title == head


async def left_of(page: Page, selector: str) -> float:
    """Where the text of an element begins."""
    script = """
        (node) => {
          const range = document.createRange();
          range.selectNodeContents(node);
          return range.getBoundingClientRect().left;
        }
    """
    return float(await page.locator(selector).first.evaluate(script))


async def test_from_the_right_all_of_it_is_turned(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    await demo.send("dennis", place, "theirs")
    await demo.send("linus", place, "mine")
    linus = await visit("linus", place, language=Foreign())
    await speaks(linus, "he", "rtl")
    log = linus.locator("#timeline")
    await expect(log.locator(".message")).to_have_count(2)
    assert await fits(linus)
    assert await middle_of(linus, "#sidebar") > await middle_of(linus, "#timeline")
    theirs, mine = [f".message[data-from={name}] .bubble" for name in ("other", "me")]
    assert await middle_of(linus, mine) < await middle_of(linus, theirs)
    assert await middle_of(linus, ".send") < await middle_of(linus, "#body")
    await linus.goto(f"{linus.url}/details")
    await expect(linus.locator("#details")).to_be_visible()
    assert await middle_of(linus, "#details") < await middle_of(linus, "#timeline")
    assert await fits(linus)


@pytest.mark.long
async def test_from_the_right_on_a_phone(visit: Visit, demo: Demo) -> None:
    place = await demo.direct("linus", "dennis")
    await demo.send("linus", place, "mine")
    linus = await visit("linus", place, language=Foreign(), **PHONE)
    await expect(linus.locator("#timeline .message")).to_have_count(1)
    assert await fits(linus)
    back = linus.locator("main.conversation .back")
    assert await middle_of(linus, "main.conversation .back") > await middle_of(linus, "#title")
    assert await back.locator("svg").evaluate("node => getComputedStyle(node).scale") == "-1 1"
    row = linus.locator("#timeline .message")
    await row.tap()
    await row.locator(".toolbar [aria-haspopup]").tap()
    await expect(linus.get_by_role("menu")).to_be_in_viewport(ratio=1)
    assert await fits(linus)


async def middle_of(page: Page, selector: str) -> float:
    box = await page.locator(selector).first.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2
