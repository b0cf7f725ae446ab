"""<chat-aio> speaks the language of its place, or what its host says."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.embedding import MADE, messages
from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host
from tests.browser.serving import Complaints

pytestmark = pytest.mark.asyncio(loop_scope="session")

WITHIN = """async ([lang, attributes, words]) => {
  await import("/chat-aio/element.js");
  const place = document.createElement("div");
  place.lang = lang;
  const made = document.createElement("chat-aio");
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.words = words;
  place.append(made);
  document.body.append(place);
}"""


async def test_it_speaks_the_language_of_what_it_stands_in(host: Host, ada: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        root = await grace.send_message(direct.id, "Hallo!")
        for body in ("eins", "zwei"):
            await grace.send_message(direct.id, body, thread_root_message_id=root.id)
            given = {"user": "ada", "conversation": direct.id}
            await ada.evaluate(WITHIN, ["de-AT", given, {}])
            log = ada.get_by_role("log", name="Nachrichten")
            words = "1 Antwort · " if body == "eins" else "2 Antworten · "
            await expect(log.locator(".thread-link")).to_contain_text(words)
            await expect(log.get_by_text("Heute", exact=True)).to_be_visible()
            await expect(ada.get_by_role("button", name="Senden")).to_be_visible()
            await ada.evaluate("document.querySelector('chat-aio').remove()")


async def test_its_own_language_counts_more_and_another_is_told_in_english(
    host: Host, ada: Page
) -> None:
    for lang in ("en", "tlh", "en_US"):
        await ada.evaluate(WITHIN, ["de", {"user": "ada", "lang": lang}, {}])
        await expect(ada.get_by_text("No conversations yet.")).to_be_visible()
        await ada.evaluate("document.querySelector('chat-aio').remove()")


async def test_forms_of_a_hosts_words_are_those_of_its_language(host: Host, ada: Page) -> None:
    words = {
        "thread.replies": {
            "one": "{count} ответ",
            "few": "{count} ответа",
            "other": "{count} ответов",
        }
    }
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        root = await grace.send_message(direct.id, "Привет!")
        for number in range(2):
            await grace.send_message(direct.id, str(number), thread_root_message_id=root.id)
        given = {"user": "ada", "conversation": direct.id}
        await ada.evaluate(WITHIN, ["ru", given, words])
        await expect(messages(ada).first.locator(".thread-link")).to_contain_text("2 ответа")


async def test_what_is_refused_is_said_in_german_too(
    host: Host, ada: Page, complaints: Complaints
) -> None:
    complaints.excuse("403")
    async with host.person("grace") as grace:
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
        given = {"user": "ada", "conversation": group.id, "lang": "de"}
        await ada.evaluate(MADE, [given, {}])
        error = {"code": "DIRECT_INTERACTION_BLOCKED", "message": "in English"}
        await ada.route(
            "**/messages", lambda route: route.fulfill(status=403, json={"error": error})
        )
        field = ada.get_by_label("Nachricht", exact=True)
        await field.fill("Hallo!")
        await field.press("Enter")
        note = ada.locator(".note").filter(
            has_text="Nicht gesendet. Ihr könnt einander nicht schreiben"
        )
        await expect(note).to_be_visible()


async def test_at_midnight_what_was_today_is_yesterday(host: Host, ada: Page) -> None:
    """Though nothing else has changed; and so each night."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        root = await grace.send_message(direct.id, "Which engine?")
        reply = await grace.send_message(direct.id, "The first?", thread_root_message_id=root.id)
        at = reply.created_at.astimezone()
        await ada.clock.install(time=at.replace(hour=23, minute=59, second=0))
        await ada.evaluate(MADE, [{"user": "ada"}, {}])
        row = ada.get_by_role("link", name="Grace Hopper")
        await row.click()
        day = ada.locator("#timeline .day:not(.unread-mark)")
        await expect(day).to_have_text("Today")
        await ada.wait_for_function("heard.some(([, { status }]) => status === 'live')")
        await ada.clock.fast_forward(61_000)
        await expect(day).to_have_text("Yesterday")
        await expect(row.get_by_role("time")).to_have_text(f"{at:%a}")
        link = messages(ada).first.locator(".thread-link")
        await expect(link).to_have_text(f"1 reply · last {at:%a}")
        await ada.clock.fast_forward(24 * 3_600_000)
        await expect(day).to_have_text(f"{at:%A}, {at:%B} {at.day}")
