"""<chat-aio>: what a page sets of it."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_what_is_set_one_after_the_other_is_one_beginning(host: Host, ada: Page) -> None:
    """Also in a page that it is in already; it can be asked for its store at once."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        streams: list[str] = []
        asked: list[str] = []
        path = f"/conversations/{direct.id}"
        ada.on(
            "request",
            lambda request: streams.append(request.url) if "/stream?" in request.url else None,
        )
        ada.on(
            "request",
            lambda request: asked.append(request.url) if request.url.endswith(path) else None,
        )
        is_settled = await ada.evaluate(
            """async (id) => {
              await import("/chat-aio/element.js");
              const { Chat } = await import("/chat-aio/chat.js");
              const made = document.createElement("chat-aio");
              document.body.append(made);
              made.setAttribute("user", "ada");
              made.setAttribute("conversation", id);
              made.setAttribute("lang", "en");
              made.setAttribute("features", "files");
              made.words = { "composer.message": "Say it" };
              made.chat = new Chat("/api/chat");
              const first = made.store;
              await Promise.resolve();
              return first !== null && first === made.store;
            }""",
            direct.id,
        )
        assert is_settled
        await expect(ada.get_by_label("Say it", exact=True)).to_be_visible()
        live = "document.querySelector('chat-aio').store.state().status === 'live'"
        await ada.wait_for_function(live)
        assert len(streams) == 1
        assert len(asked) == 1
        other = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
        begun = await ada.evaluate(
            """async (id) => {
              const made = document.querySelector("chat-aio");
              let begun = 0;
              made.addEventListener("chat-aio:status", () => { begun += 1; });
              made.setAttribute("lang", "de");
              made.setAttribute("conversation", id);
              made.words = { "composer.message": "Sag es" };
              await Promise.resolve();
              return begun;
            }""",
            other.id,
        )
        assert begun == 1
        await expect(ada.get_by_label("Sag es", exact=True)).to_be_visible()
        await expect(ada.get_by_role("heading", name="Engines")).to_be_visible()
        await ada.wait_for_function(live)
        assert len(streams) == 2
