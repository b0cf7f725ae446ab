"""<chat-aio>: the focus stays near when what has it goes, and keys of input methods are theirs."""

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.conftest import Visit
from tests.browser.embedding import MADE, composer, messages, say, shown
from tests.browser.embedding import ada as ada
from tests.browser.failing import Failing, keeps_its_focus
from tests.browser.hosting import Host
from tests.browser.serving import Cable, Complaints

pytestmark = pytest.mark.asyncio(loop_scope="session")

REFUSED = {"error": {"code": "FORBIDDEN_BY_HOST", "message": "Not now."}}


async def refuse(route: Route) -> None:
    await route.fulfill(status=403, json=REFUSED)


async def embed(page: Page, conversation_id: str) -> None:
    await page.evaluate(MADE, [{"user": "ada", "conversation": conversation_id}, {}])
    await expect(composer(page)).to_be_visible()


async def press(page: Page, name: str) -> None:
    button = page.get_by_role("button", name=name, exact=True)
    await button.focus()
    await expect(button).to_be_focused()
    await page.keyboard.press("Enter")


@pytest.mark.parametrize("choice", ["Discard", "Retry"])
async def test_after_what_is_done_with_an_unsent_message(
    host: Host, ada: Page, complaints: Complaints, choice: str
) -> None:
    """Its row has the focus as long as it is there, else all of them."""
    complaints.excuse("403")
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
    await embed(ada, direct.id)
    await expect(ada.get_by_text("This is the beginning.")).to_be_visible()
    held: list[Route] = []
    is_held = False

    async def answer(route: Route) -> None:
        if route.request.method != "POST":
            await route.continue_()
        elif is_held:
            held.append(route)
        else:
            await refuse(route)

    await ada.route("**/conversations/*/messages*", answer)
    await say(ada, "one")
    row = messages(ada).first
    await expect(row).to_contain_text("Not sent")
    is_held = True
    await press(ada, choice)
    if choice == "Discard":
        await expect(messages(ada)).to_have_count(0)
        await expect(ada.get_by_role("log")).to_be_focused()
        return
    await expect(row).to_have_attribute("data-state", "pending")
    await expect(row).to_be_focused()
    for request in held:
        await request.continue_()
    await expect(row).to_have_attribute("data-state", "sent")
    await expect(row).to_be_focused()


async def test_after_a_reaction_is_taken_back(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace, host.person("ada") as herself:
        direct = await grace.get_or_create_conversation("ada")
        sent = await grace.send_message(direct.id, "Hello!")
        await herself.add_reaction(sent.id, "👍")
        await embed(ada, direct.id)
        await press(ada, "👍 1: You")
        await expect(ada.locator(".chip")).to_have_count(0)
        await expect(messages(ada).first).to_be_focused()


async def test_while_messages_are_loaded_again(
    host: Host, ada: Page, complaints: Complaints
) -> None:
    """The button keeps the focus until they are there, however often they fail."""
    complaints.excuse("500")
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "Hello!")
    requests = Failing()
    await ada.route("**/conversations/*/messages?*", requests.answer)
    await embed(ada, direct.id)
    await keeps_its_focus(ada, ada.get_by_role("log"), requests)
    await expect(shown(ada, "Hello!")).to_be_visible()
    await expect(ada.get_by_role("log")).to_be_focused()


async def test_after_more_conversations_are_asked_for(host: Host, ada: Page) -> None:
    """The button stays until it is known that there are no more."""
    async with host.person("grace") as grace:
        for number in range(51):
            await grace.create_group_conversation(user_ids=["ada"], name=f"Group {number:02}")
    held: list[Route] = []

    async def hold(route: Route) -> None:
        held.append(route)

    await ada.route("**/conversations?*cursor=*", hold)
    await ada.evaluate(MADE, [{"user": "ada"}, {}])
    async with ada.expect_request("**/conversations?*cursor=*"):
        await press(ada, "More conversations")
    button = ada.get_by_role("button", name="More conversations")
    await expect(button).to_have_attribute("aria-disabled", "true")
    await expect(button).to_be_focused()
    await ada.keyboard.press("Enter")
    (asked,) = held
    await asked.continue_()
    last = ada.get_by_role("navigation").get_by_role("listitem").last
    await expect(last).to_contain_text("Group 00")
    await expect(button).to_be_hidden()
    await expect(last.get_by_role("button")).to_be_focused()


async def test_after_one_has_gone_to_the_newest_message(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        for number in range(30):
            await grace.send_message(direct.id, f"message {number}")
        await embed(ada, direct.id)
        log = ada.get_by_role("log")
        await expect(messages(ada)).to_have_count(30)
        await log.evaluate("log => { log.scrollTop = 0; }")
        button = ada.locator(".talk .to-newest")
        await expect(button).to_be_visible()
        await button.focus()
        await ada.keyboard.press("Enter")
        await expect(button).to_be_hidden()
        await expect(log).to_be_focused()


async def test_when_the_connection_is_back(
    host: Host, open_page: Visit, host_cable: Cable, complaints: Complaints
) -> None:
    complaints.excuse("ERR_")
    complaints.excuse("Failed to load resource")
    page = await open_page()
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
    await host.empty(page, "ada", port=host_cable.port)
    await embed(page, direct.id)
    await page.wait_for_function("heard.some(([, { status }]) => status === 'live')")
    await host_cable.cut()
    banner = page.get_by_role("status").filter(has_text="No connection. Trying again…")
    button = banner.get_by_role("button", name="Try again")
    await button.focus()
    await host_cable.mend()
    await page.keyboard.press("Enter")
    await expect(button).to_be_hidden()
    await expect(composer(page)).to_be_focused()


async def test_enter_at_the_end_of_a_composed_word_sends_nothing(host: Host, ada: Page) -> None:
    """In some browsers it comes behind the end of the composition, with its key code."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await embed(ada, direct.id)
        await composer(ada).fill("にほん")
        press_enter = """(field, keyCode) => field.dispatchEvent(
            new KeyboardEvent("keydown", { key: "Enter", keyCode, bubbles: true, cancelable: true })
        )"""
        assert await composer(ada).evaluate(press_enter, 229), "it is the browser's"
        await expect(composer(ada)).to_have_value("にほん")
        await expect(messages(ada)).to_have_count(0)
        assert not await composer(ada).evaluate(press_enter, 13)
        await expect(messages(ada)).to_have_count(1)
