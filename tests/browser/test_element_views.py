"""<chat-aio> shows as much as its attributes ask for, and what its host puts into it."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.embedding import MADE, composer, messages, say
from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host

pytestmark = pytest.mark.asyncio(loop_scope="session")

SLOTS = """(id) => {
  const chat = document.querySelector("chat-aio");
  for (const [slot, words] of [["empty", "Whom do you need?"], [`row:${id}`, "Support"]]) {
    const made = document.createElement("p");
    Object.assign(made, { slot, textContent: words });
    chat.append(made);
  }
}"""


async def test_a_list_has_the_parts_that_are_named(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
        await grace.send_message(group.id, "Hello!")
    await ada.evaluate(MADE, [{"user": "ada"}, {}])
    await ada.get_by_role("link", name="Engines").click()
    await expect(messages(ada)).to_have_count(1)
    await expect(ada.get_by_role("searchbox")).to_have_count(0)
    await expect(ada.get_by_role("link", name="Details")).to_have_count(0)
    script = "document.querySelector('chat-aio').setAttribute('features', 'details search')"
    await ada.evaluate(script)
    await expect(ada.get_by_role("searchbox", name="Search messages")).to_be_visible()
    await ada.get_by_role("link", name="Engines").click()
    await ada.get_by_role("link", name="Details").click()
    panel = ada.get_by_role("region", name="Details")
    await expect(panel.get_by_role("region", name="2 people")).to_contain_text("Grace Hopper")
    await ada.keyboard.press("Escape")
    await expect(panel).to_be_hidden()
    assert ada.url.endswith("/empty")


async def test_the_whole_chat_is_in_a_hosts_page(host: Host, ada: Page) -> None:
    """With people of the host, and its places in the address."""
    people = [{"id": "ada", "name": "Ada"}, {"id": "grace", "name": "Amazing Grace"}]
    attributes = {"view": "full", "features": "channels details search", "address": "chat"}
    await ada.evaluate(MADE, [{"user": "ada", **attributes}, {"people": people}])
    await expect(ada.get_by_role("status").get_by_text("Live")).to_be_visible()
    await ada.get_by_role("button", name="New message").click()
    await ada.get_by_role("dialog").get_by_role("button", name="Amazing Grace").click()
    await expect(ada.get_by_role("heading", level=1, name="Amazing Grace")).to_be_visible()
    await expect(ada).to_have_url(re.compile(r"/empty#chat/\w+$"))
    await say(ada, "Hello!")
    await expect(messages(ada)).to_have_count(1)
    await ada.get_by_role("link", name="Channels").click()
    await expect(ada.get_by_role("heading", level=1, name="Channels")).to_be_visible()
    await ada.go_back()
    await expect(composer(ada)).to_be_visible()


async def test_hosts_fill_slots(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "Hello!")
    await ada.evaluate(MADE, [{"user": "ada"}, {}])
    row = ada.get_by_role("link", name="Grace Hopper")
    await expect(row).to_be_visible()
    await ada.evaluate(SLOTS, direct.id)
    await expect(ada.get_by_text("Whom do you need?")).to_be_visible()
    await expect(ada.get_by_text("Pick a conversation")).to_be_hidden()
    await expect(ada.get_by_text("Support")).to_be_visible()
    await ada.get_by_text("Support").click()
    await expect(composer(ada)).to_be_visible()
    await expect(ada.get_by_text("Whom do you need?")).to_be_hidden()


async def test_what_a_page_opens_takes_the_place_of_all_else(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        groups = [
            await grace.create_group_conversation(user_ids=["ada"], name=name)
            for name in ("Engines", "Looms")
        ]
    await ada.evaluate(MADE, [{"user": "ada", "features": "channels details"}, {}])
    await ada.get_by_role("link", name="Engines").click()
    await ada.get_by_role("link", name="Details").click()
    panel = ada.get_by_role("region", name="Details")
    await expect(panel).to_be_visible()
    opened = "(id) => document.querySelector('chat-aio').open(id)"
    await ada.evaluate(opened, groups[1].id)
    await expect(ada.get_by_role("heading", name="Looms")).to_be_visible()
    await expect(panel).to_be_hidden()
    channels = ada.get_by_role("heading", name="Channels")
    for place in (groups[0].id, None):
        await ada.get_by_role("link", name="Channels").click()
        await expect(channels).to_be_visible()
        await ada.evaluate(opened, place)
        await expect(channels).to_be_hidden()
        await expect(composer(ada)).to_be_visible(visible=place is not None)


async def test_the_address_follows_what_a_page_opens(host: Host, ada: Page) -> None:
    """Before there is a user nothing can be opened."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
    await ada.evaluate(MADE, [{"address": "chat"}, {}])
    chat = "document.querySelector('chat-aio')"
    await ada.evaluate(f"{chat}.open({group.id!r})")
    await ada.evaluate(f"{chat}.openDirect('grace')")
    await ada.evaluate(f"{chat}.setAttribute('conversation', {group.id!r})")
    await ada.evaluate(f"{chat}.setAttribute('user', 'ada')")
    await expect(ada.get_by_role("heading", name="Engines")).to_be_visible()
    await ada.evaluate(f"{chat}.setAttribute('conversation', {direct.id!r})")
    await expect(ada.get_by_role("heading", name="Grace Hopper")).to_be_visible()
    await expect(ada).to_have_url(re.compile(f"/empty#chat/{direct.id}$"))
    await ada.evaluate(f"{chat}.open({group.id!r})")
    await expect(ada.get_by_role("heading", name="Engines")).to_be_visible()
    await ada.go_back()
    await expect(ada.get_by_role("heading", name="Grace Hopper")).to_be_visible()


async def test_a_conversation_alone_has_nothing_of_a_list(host: Host, ada: Page) -> None:
    """Whatever features are named."""
    async with host.person("grace") as grace:
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
        features = "channels details notifications presence search"
        given = {"user": "ada", "conversation": group.id, "features": features}
        await ada.evaluate(MADE, [given, {}])
        await say(ada, "Hello!")
        await expect(messages(ada)).to_have_count(1)
        await grace.send_message(group.id, "Hi!")
        await expect(messages(ada)).to_have_count(2)
        await ada.keyboard.press("Control+k")
        await expect(ada.get_by_role("dialog")).to_have_count(0)
        await expect(ada.get_by_role("navigation")).to_have_count(0)


async def test_unsent_text_is_kept_while_it_is_out_of_the_page(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
    await ada.evaluate(MADE, [{"user": "ada", "conversation": group.id}, {}])
    await composer(ada).fill("begun")
    await ada.evaluate("window.kept = document.querySelector('chat-aio'); kept.remove()")
    await expect(composer(ada)).to_have_count(0)
    await ada.evaluate("document.body.append(kept)")
    await expect(composer(ada)).to_have_value("begun")
    await ada.keyboard.press("Tab")
    await composer(ada).press("Enter")
    await expect(messages(ada)).to_have_count(1)


async def test_notifications_can_be_asked_for_next_to_a_list(host: Host, ada: Page) -> None:
    """As long as the browser has not been asked."""
    undecided = "Object.defineProperty(Notification, 'permission', { value: 'default' })"
    await ada.evaluate(f"() => {{ {undecided}; }}")
    await ada.evaluate(MADE, [{"user": "ada", "features": "notifications search"}, {}])
    await expect(ada.get_by_role("button", name="Notify me of messages")).to_be_visible()
    await ada.evaluate("document.querySelector('chat-aio').setAttribute('features', 'search')")
    await expect(ada.get_by_role("button", name="Notify me of messages")).to_have_count(0)
    await expect(ada.get_by_role("searchbox")).to_be_visible()


AROUND = """() => {
  const field = document.createElement("input");
  field.setAttribute("aria-label", "Your address");
  document.body.append(field);
  field.focus();
}"""


async def test_the_focus_is_not_taken_from_the_page_around_it(host: Host, ada: Page) -> None:
    """At the beginning, after a change of its language, by its places, and by a ban."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        root = await grace.send_message(direct.id, "Hello!")
        await grace.send_message(direct.id, "Again!", thread_root_message_id=root.id)
    chat = "document.querySelector('chat-aio')"
    await ada.evaluate(AROUND)
    field = ada.get_by_label("Your address")
    await ada.evaluate(f"location.hash = 'chat/{direct.id}'")
    await ada.evaluate(MADE, [{"user": "ada", "address": "chat"}, {}])
    await expect(messages(ada)).to_have_count(1)
    await expect(field).to_be_focused()
    await ada.evaluate(f"{chat}.setAttribute('lang', 'de')")
    await expect(ada.get_by_label("Nachricht", exact=True)).to_be_visible()
    await expect(field).to_be_focused()
    await ada.evaluate(f"location.hash = 'chat/{direct.id}/{root.id}'")
    await expect(ada.get_by_text("Again!")).to_be_visible()
    await expect(field).to_be_focused()
    await ada.evaluate(f"{chat}.refused({{ code: 'USER_BANNED' }})")
    await expect(ada.get_by_role("button", name="Erneut versuchen")).to_be_visible()
    await expect(field).to_be_focused()
    await ada.evaluate(f"location.hash = 'chat'; {chat}.setAttribute('lang', 'en')")
    await ada.get_by_role("link", name="Grace Hopper").click()
    await expect(composer(ada)).to_be_focused()


async def test_a_thread_in_the_address_is_left_by_the_keyboard(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        root = await grace.send_message(direct.id, "Hello!")
    await ada.evaluate(f"location.hash = 'chat/{direct.id}/{root.id}'")
    await ada.evaluate(MADE, [{"user": "ada", "address": "chat"}, {}])
    await expect(ada.get_by_label("Message in the thread", exact=True)).to_be_focused()
    await ada.keyboard.press("Escape")
    await expect(ada.get_by_role("region", name="Thread")).to_be_hidden()
    await expect(composer(ada)).to_be_focused()
