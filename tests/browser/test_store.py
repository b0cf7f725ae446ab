"""The store for frameworks: what it shows, what stays the same object, what people do with it."""

from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.hosting import Host
from tests.browser.serving import Complaints

pytestmark = pytest.mark.asyncio(loop_scope="session")

HELPERS = """
    const { Chat } = await import("/chat-aio/chat.js");
    const { ChatStore } = await import("/chat-aio/chat-store.js");
    const until = (store, isSo) => new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`not within 60 seconds: ${isSo}`)), 60_000);
      const look = () => {
        if (!isSo()) return false;
        resolve();
        return true;
      };
      const unsubscribe = store.subscribe(() => look() && unsubscribe());
      if (look()) unsubscribe();
    });
    const begun = async (options) => {
      const store = new ChatStore(new Chat("/api/chat"), { userId: "ada", ...options });
      store.start();
      await until(store, () => store.state().isListed && store.state().status === "live");
      return store;
    };
    const bodies = (store, id) => store.timeline(id).messages.map((message) => message.body);
"""


@pytest_asyncio.fixture(loop_scope="session")
async def page(host: Host, open_page: Visit) -> Page:
    """A page that nothing is in, logged in as Ada."""
    page = await open_page()
    await host.empty(page, "ada")
    return page


async def run(page: Page, script: str, given: Any = None) -> Any:
    return await page.evaluate(f"async (given) => {{ {HELPERS} {script} }}", given)


async def test_a_state_with_earlier_metadata_is_the_older_one(host: Host, page: Page) -> None:
    """A change of metadata does not set `editedAt`, which alone would make both states equal."""
    script = """
        const { isOlderState } = await import("/chat-aio/messages.js");
        const state = (editedAt, metadataVersion) => ({ editedAt, metadataVersion });
        const known = state("2026-01-31T12:00:00.000Z", 3);
        return [
          isOlderState(state("2026-01-31T12:00:00.000Z", 2), known),
          isOlderState(state("2026-01-31T12:00:00.000Z", 3), known),
          isOlderState(state("2026-01-31T12:00:00.000Z", 4), known),
          isOlderState(state("2026-01-31T12:00:01.000Z", 2), known),
          isOlderState(state(null, 9), known),
          isOlderState(state(null), state(null)),
        ];
    """
    assert await run(page, script) == [True, False, False, False, True, False]


async def test_a_snapshot_is_the_same_until_something_in_it_changes(host: Host, page: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
        await grace.send_message(direct.id, "one")
        await host.caught_up()
        # Its list is asked for once, when the stream is open: nothing is under way behind it.
        script = """
            const [direct, group] = given;
            const store = await begun({ isListShown: false });
            await store.open(direct);
            const taken = () => [
              store.state(), store.conversations(), store.conversation(direct),
              store.conversation(group), store.timeline(direct), store.timeline(direct).messages,
              store.timeline(direct).messages[0], store.timeline(direct).typing,
            ];
            const compare = (before) => taken().map((taking, at) => Object.is(taking, before[at]));
            let before = taken();
            const told = compare(before);
            let calls = 0;
            const unsubscribe = store.subscribe(() => { calls += 1; });
            store.send(direct, "two");
            await until(store, () => store.timeline(direct).messages[1]?.state === "sent");
            const changed = compare(before);
            unsubscribe();
            const before_calls = calls;
            await store.react(store.timeline(direct).messages[1], "👍");
            await until(store, () => store.timeline(direct).messages[1].reactions.length > 0);
            const frozen = [
              store.state(), store.timeline(direct).messages, store.timeline(direct).messages[0],
              store.conversation(direct), store.conversations(), store.user("ada"),
            ];
            const areFrozen = frozen.every(Object.isFrozen);
            return [told, changed, calls === before_calls && calls > 0, areFrozen];
        """
        told, changed, is_unsubscribed, are_frozen = await run(page, script, [direct.id, group.id])
        assert told == [True] * 8
        assert changed == [True, False, False, True, False, False, True, True]
        assert is_unsubscribed
        assert are_frozen


async def test_what_is_shown_of_conversations(host: Host, page: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "one", mentions=["ada"])
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
        script = """
            const store = await begun();
            const shown = store.conversations().map((row) => [
              row.id, row.name, row.others.map(({ name }) => name), row.unread,
              row.unreadMentions, row.lastMessage?.body ?? null, row.isMuted,
            ]);
            return [shown, store.state(), store.conversation("nowhere"), store.user("bob").name];
        """
        shown, state, nowhere, unknown = await run(page, script)
        assert shown == [
            [group.id, "Engines", ["Grace Hopper"], 0, 0, None, False],
            [direct.id, None, ["Grace Hopper"], 1, 1, "one", False],
        ]
        assert (nowhere, unknown) == (None, "bob")
        assert state == {
            "status": "live",
            "openId": None,
            "openThreadId": None,
            "isListed": True,
            "isBanned": False,
            "unread": 1,
            "hasMore": False,
            "problem": None,
            "problemCode": None,
        }


async def test_names_are_known_of_those_who_come_later(host: Host, page: Page) -> None:
    """The list was empty: no page has brought names."""
    script = """
        window.store = await begun();
        return store.conversations().length;
    """
    assert await run(page, script) == 0
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "Hello!")
        script = "await until(store, () => store.conversations()[0]?.others[0].name.includes(' '));"
        await run(page, f"{script} return true;")


async def test_messages_on_their_way_and_those_that_fail(host: Host, page: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        first = await grace.send_message(direct.id, "one")
        script = """
            const [id] = given;
            const asked = [];
            let isCut = true;
            const fetching = (url, options) => {
              const isSend = options.method === "POST" && String(url).endsWith("/messages");
              if (isSend) asked.push(JSON.parse(options.body).clientMessageId);
              return isSend && isCut ? Promise.reject(new TypeError("cut")) : fetch(url, options);
            };
            const store = new ChatStore(new Chat("/api/chat", { fetch: fetching, retries: 0 }),
              { userId: "ada" });
            store.start();
            await store.open(id);
            const [first] = store.timeline(id).messages;
            const key = store.send(id, { body: "two", replyTo: first });
            const seen = [];
            const entry = () => store.timeline(id).messages.at(-1);
            await until(store, () => entry().state === "pending");
            seen.push([entry().key, entry().id, entry().isOwn, entry().replyTo.body]);
            await until(store, () => entry().state === "waiting");
            seen.push([entry().key, entry().problem]);
            isCut = false;
            store.retry(key);
            await until(store, () => entry().state === "sent");
            seen.push([entry().key, entry().replyTo.excerpt]);
            isCut = true;
            store.discard(store.send(id, "three"));
            await until(store, () => store.timeline(id).messages.length === 2);
            return [key, seen, new Set(asked.slice(0, 2)).size];
        """
        key, seen, keys = await run(page, script, [direct.id])
        own = f"own:{key}"
        assert seen == [
            [own, None, True, "one"],
            [own, "The chat is out of reach."],
            [own, "one"],
        ]
        assert keys == 1
        assert (await grace.get_message(direct.id, first.id)).body == "one"


async def test_changing_reading_and_older_messages(
    host: Host, page: Page, complaints: Complaints
) -> None:
    complaints.excuse("404")
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        for number in range(60):
            await grace.send_message(direct.id, f"message {number}")
        script = """
            const [id] = given;
            const store = await begun();
            await store.open(id);
            const { messages, firstUnreadId, hasOlder } = store.timeline(id);
            const seen = [messages.length, messages[0].body, hasOlder];
            seen.push(messages.find((message) => message.id === firstUnreadId)?.body);
            await store.loadOlder(id);
            seen.push(store.state().unread);
            await store.markRead(id);
            seen.push(store.state().unread);
            const key = store.send(id, "own");
            const own = () =>
              store.timeline(id).messages.find((message) => message.key === `own:${key}`);
            await until(store, () => own().state === "sent");
            await store.edit(own().id, "own, better");
            await until(store, () => own().editedAt !== null);
            seen.push(own().body);
            await store.delete(own().id);
            await until(store, () => own().deletedAt !== null);
            const gone = await store.edit("nowhere", "x").catch(({ code }) => code);
            seen.push(own().body, gone);
            return seen;
        """
        seen = await run(page, script, [direct.id])
        assert seen == [60, "message 0", False, "message 0", 60, 0, "own, better", "", seen[-1]]
        assert seen[-1] == "MESSAGE_NOT_FOUND"
        assert (await grace.list_messages(direct.id)).messages[0].deleted_at is not None


async def test_what_is_read_while_it_comes(host: Host, page: Page) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        script = """
            window.heard = [];
            window.store = await begun({ onMessage: ({ body }) => heard.push(body) });
        """
        await run(page, script)
        await grace.send_message(direct.id, "one")
        script = """
            await until(store, () => store.state().unread === 1 && heard.length === 1);
            await store.open(given[0]);
            store.setViewing(true);
            await until(store, () => store.state().unread === 0);
        """
        await run(page, script, [direct.id])
        async with page.expect_response("**/read"):
            await grace.send_message(direct.id, "two")
        await run(
            page, "await until(store, () => bodies(store, given[0])[1] === 'two');", [direct.id]
        )
        async with host.person("ada") as ada:
            await page.evaluate("store.setViewing(false)")
            await grace.send_message(direct.id, "three")
            await run(page, "await until(store, () => store.state().unread === 1);")
            assert (await ada.get_conversation(direct.id)).unread_count == 1
        assert await page.evaluate("heard") == ["one", "three"]


async def test_it_can_begin_anew_and_hears_nothing_when_it_is_closed(
    host: Host, page: Page
) -> None:
    """As effects of React in its strict mode do."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        script = """
            window.store = await begun();
            store.close();
            await until(store, () => store.state().status === "closed");
            store.start();
            store.close();
            store.start();
            await until(store, () => store.state().status === "live");
        """
        await run(page, script)
        await grace.send_message(direct.id, "one")
        await run(page, "await until(store, () => store.state().unread === 1);")


async def test_a_ban_ends_it(host: Host, page: Page) -> None:
    await expect(page.locator("body")).to_be_empty()
    script = """
        const banned = { error: { code: "USER_BANNED", message: "You are banned." } };
        const fetch = async () => new Response(JSON.stringify(banned), { status: 403 });
        class Refused extends EventTarget {
          constructor() { super(); setTimeout(() => this.refuse()); }
          close() { this.readyState = 2; }
          refuse() { this.close(); this.dispatchEvent(new Event("error")); }
        }
        const chat = new Chat("/api/chat", { fetch, EventSource: Refused });
        const store = new ChatStore(chat, { userId: "ada" });
        store.start();
        await until(store, () => store.state().isBanned && store.state().status === "closed");
        return store.state().problem;
    """
    assert await run(page, script) == "You are banned."


async def test_what_a_service_does_not_have_is_asked_for_once(host: Host, page: Page) -> None:
    """Neither the plugin Typing nor profiles, and no word of drafts."""
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        await grace.send_message(direct.id, "Hello!")
        script = """
            const [id] = given;
            const asked = [];
            const refused = (status, code) => {
              return new Response(JSON.stringify({ error: { code, message: "" } }), { status });
            };
            const fetching = async (url, options) => {
              const { pathname } = new URL(url);
              asked.push(pathname.split("/").at(-1));
              if (pathname.endsWith("/typing")) return refused(404, "NOT_FOUND");
              if (pathname.endsWith("/users")) return refused(501, "UNSUPPORTED");
              return fetch(url, options);
            };
            const chat = new Chat("/api/chat", { fetch: fetching });
            const store = new ChatStore(chat, { userId: "ada" });
            store.start();
            await until(store, () => store.state().status === "live" && store.state().isListed);
            await store.open(id);
            for (const writer of ["bob", "eve"]) {
              store.user(writer);
              store.typed(id, writer);
              store.typed(id, "");
              await new Promise((resolve) => setTimeout(resolve, 100));
            }
            const count = (name) => asked.filter((request) => request === name).length;
            return [count("typing"), count("users"), count("drafts")];
        """
        assert await run(page, script, [direct.id]) == [1, 1, 0]


async def test_a_conversation_that_is_not_open_to_one_any_more(
    host: Host, page: Page, complaints: Complaints
) -> None:
    complaints.excuse_lost_access()
    async with host.person("grace") as grace:
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
        script = """
            window.gone = [];
            window.store = await begun({ onGone: (id) => gone.push(id) });
            await store.open(given[0]);
        """
        await run(page, script, [group.id])
        await grace.remove_participant(group.id, "ada")
        await run(page, "await until(store, () => store.state().openId === null);")
        assert await page.evaluate("gone") == [group.id]
        assert await page.evaluate("store.conversations().length") == 0


async def test_a_reply_that_comes_while_its_root_is_brought_is_counted(
    host: Host, page: Page
) -> None:
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        root = await grace.send_message(direct.id, "Which engine?")
        script = """
            const [id] = given;
            let asked;
            window.isAsked = new Promise((resolve) => { asked = resolve; });
            const isOpen = new Promise((resolve) => { window.letThrough = resolve; });
            const fetching = async (url, options) => {
              const answer = await fetch(url, options);
              if (!new URL(url).pathname.endsWith("/messages")) return answer;
              asked();
              await isOpen;
              return answer;
            };
            const store = new ChatStore(new Chat("/api/chat", { fetch: fetching }),
              { userId: "ada" });
            store.start();
            await until(store, () => store.state().status === "live");
            window.store = store;
            store.open(id);
            await window.isAsked;
        """
        await run(page, script, [direct.id])
        await grace.send_message(direct.id, "The first?", thread_root_message_id=root.id)
        script = """
            const [id] = given;
            await until(store, () => store.conversation(id)?.unread === 2);
            window.letThrough();
            await until(store, () => store.timeline(id).isLoaded);
            return store.timeline(id).messages[0].threadSummary?.replyCount;
        """
        assert await run(page, script, [direct.id]) == 1


async def test_a_thread_is_opened_and_closed(
    host: Host, page: Page, complaints: Complaints
) -> None:
    complaints.excuse("404")
    async with host.person("grace") as grace:
        direct = await grace.get_or_create_conversation("ada")
        root = await grace.send_message(direct.id, "Which engine?")
        await grace.send_message(direct.id, "The first?", thread_root_message_id=root.id)
        script = """
            const [id, rootId] = given;
            const store = await begun();
            await store.open(id);
            const before = store.thread();
            await store.openThread(rootId);
            await until(store, () => store.thread().isLoaded);
            const taken = store.thread();
            await until(store, () => store.thread() === taken);
            store.send(id, { body: "The second.", threadRootMessageId: rootId });
            const bodiesOf = (list) => list.messages.map((message) => message.body);
            await until(store, () => store.thread().messages.at(-1)?.state === "pending");
            const onTheirWay = [bodiesOf(store.thread()), bodies(store, id)];
            await until(store, () => store.thread().messages.at(-1)?.state === "sent");
            const sent = bodiesOf(store.thread());
            // The event counts it, which may come behind the answer.
            await until(store, () => store.thread().root.threadSummary.replyCount === 2);
            const shown = store.thread();
            const { root, isGone, hasOlder } = shown;
            const openThreadId = store.state().openThreadId;
            const areFrozen = [shown, root, shown.messages].every(Object.isFrozen);
            await store.openThread("000000000000000000000000");
            await until(store, () => store.thread()?.isGone);
            store.closeThread();
            return [before, onTheirWay, sent, root.threadSummary.replyCount, isGone, hasOlder,
              openThreadId, areFrozen, store.thread()];
        """
        found = await run(page, script, [direct.id, root.id])
        both = ["The first?", "The second."]
        assert found[:2] == [None, [both, ["Which engine?"]]]
        assert found[2:] == [both, 2, False, False, root.id, True, None]
