"""What a store does not do any more once it is closed: somebody else may be logged in by then. The
service is one of the page's own here."""

from typing import Any

import pytest
from playwright.async_api import Page

from tests.browser.waiting import WAITING

pytestmark = pytest.mark.asyncio(loop_scope="session")

SERVICE = """
    const { Chat } = await import("/browser/chat.js");
    const { ChatStore } = await import("/browser/chat-store.js");
    let caller = "ada";
    const told = [];
    let isRefusing = false;
    const message = (seq, more = {}) => ({
      id: `m${seq}`, conversationId: "c", senderId: "grace", body: `body ${seq}`, seq,
      createdAt: new Date(1.7e12 + seq * 1_000).toISOString(), editedAt: null, deletedAt: null,
      clientMessageId: null, mentions: [], ...more,
    });
    const participants = [{ userId: "ada", lastReadMessageId: null }, { userId: "grace" }];
    const conversation = {
      id: "c", unreadCount: 3, type: "group", createdAt: "2026-01-31T09:30:00.000Z", participants,
    };
    const answers = {
      thread: { messages: [message(3), message(2)], nextCursor: null },
      messages: { messages: [message(1)], nextCursor: null },
      conversations: { conversations: [conversation], nextCursor: null, users: {} },
    };
    const fetch = async (url, { method, body }) => {
      const path = url.pathname.replace(/.*chat/, "");
      if (method === "POST") told.push([caller, path, JSON.parse(body).body ?? ""]);
      if (isRefusing && method === "POST") {
        const error = { code: "STORAGE_UNAVAILABLE", message: "later" };
        return new Response(JSON.stringify({ error }), { status: 503 });
      }
      const kind = Object.keys(answers).find((key) => path.endsWith(key));
      const made = method === "POST" ? { message: message(9, JSON.parse(body)) } : answers[kind];
      return new Response(JSON.stringify(made ?? { message: message(1), conversation }));
    };
    const streams = [];
    class EventSource extends EventTarget {
      constructor() { super(); streams.push(this); }
      close() {}
    }
    const chat = new Chat(`${location.origin}/api/chat`, { fetch, EventSource });
    const store = new ChatStore(chat, { userId: "ada", hasInbox: true });
    const open = async () => {
      const count = streams.length;
      store.start();
      await until(() => streams.length > count);
      streams.at(-1).dispatchEvent(new Event("open"));
      await until(() => store.state().isListed);
    };
    const bodies = () => told.filter(([, path]) => path.endsWith("/messages"));
    const marks = () => told.filter(([, path]) => path.includes("/read"));
"""


async def run(page: Page, script: str) -> Any:
    return await page.evaluate(f"async () => {{ {WAITING} {SERVICE} {script} }}")


async def test_what_is_not_sent_yet_is_not_sent_as_somebody_else(empty: Page) -> None:
    """It is sent when its own user is back."""
    sent, pending, later = await run(
        empty,
        """
        await open();
        isRefusing = true;
        store.send("c", "one");
        store.send("c", "two");
        await until(() => bodies().length > 0);
        store.close();
        isRefusing = false;
        caller = "ben";
        const isPending = (message) => message.state === "pending";
        await until(() => !store.timeline("c").messages.some(isPending));
        const sent = bodies();
        const states = store.timeline("c").messages.map((message) => message.state);
        caller = "ada";
        await open();
        await until(() => bodies().length >= 3);
        return [sent, states, bodies().slice(1)];
        """,
    )
    path = "/conversations/c/messages"
    assert sent == [["ada", path, "one"]]
    assert set(pending) == {"waiting"}
    assert later == [["ada", path, "one"], ["ada", path, "two"]]


async def test_what_is_written_meanwhile_is_sent_when_it_has_begun_anew(empty: Page) -> None:
    """Without waiting for the stream to open."""
    before, states, after = await run(
        empty,
        """
        await open();
        store.close();
        store.send("c", "one");
        store.send("c", "two");
        await pass(50);
        const before = bodies();
        const states = store.timeline("c").messages.map((message) => message.state);
        store.start();
        await until(() => bodies().length >= 2);
        return [before, states, bodies()];
        """,
    )
    path = "/conversations/c/messages"
    assert (before, states) == ([], ["waiting", "waiting"])
    assert after == [["ada", path, "one"], ["ada", path, "two"]]


async def test_what_was_being_read_is_not_read_by_somebody_else(empty: Page) -> None:
    """Neither in a thread, where reading takes a second, nor in the main list."""
    found = await run(
        empty,
        """
        await open();
        await store.open("c");
        await store.openThread("m1");
        const timers = [];
        const { setTimeout: start } = globalThis;
        globalThis.setTimeout = (work, ms) =>
          start(() => { timers.push(ms); work(); }, ms / 10);
        store.setThreadReading(true);
        store.close();
        caller = "ben";
        // A page that is taken away may still tell so.
        store.setViewing(true);
        store.setThreadReading(true);
        await until(() => timers.includes(1_000));
        await pass(0);
        return marks();
        """,
    )
    assert found == []


async def test_a_thread_is_read_though_much_happens_elsewhere(empty: Page) -> None:
    """The second in which it is seen does not begin anew with what happens in other places."""
    found = await run(
        empty,
        """
        await open();
        await store.open("c");
        await store.openThread("m1");
        // A tenth of a second, with as many interruptions.
        globalThis.setTimeout = (work, ms) => inTime(work, ms / 10);
        store.setThreadReading(true);
        const begun = performance.now();
        let isReading = false;
        const ofThreads = () => marks().filter(([, path]) => path.includes("/threads/"));
        while (ofThreads().length === 0 && performance.now() - begun < 30_000) {
          isReading = !isReading;
          store.setViewing(isReading);
          await pass(30);
        }
        return ofThreads();
        """,
    )
    assert found == [["ada", "/conversations/c/threads/m1/read", ""]]


async def test_a_thread_that_is_left_at_once_is_not_read(empty: Page) -> None:
    """Be it hidden, closed, or another one opened: then that one's second begins."""
    leaving = [
        "store.setThreadReading(false)",
        "store.closeThread()",
        "store.open(null)",
        "store.openThread('m7')",
    ]
    for leave in leaving:
        found = await run(
            empty,
            f"""
            await open();
            await store.open("c");
            await store.openThread("m1");
            await until(() => store.thread().isLoaded);
            const timers = [];
            const {{ setTimeout: start }} = globalThis;
            globalThis.setTimeout = (work, ms) =>
              start(() => {{ timers.push(ms); work(); }}, ms / 10);
            store.setThreadReading(true);
            {leave};
            await until(() => timers.includes(1_000));
            await pass(0);
            globalThis.setTimeout = start;
            store.close();
            return marks();
            """,
        )
        assert found == [], leave


async def test_one_that_is_started_twice_has_one_stream(empty: Page) -> None:
    """Which ends when it is closed; then it can be started again."""
    counts = await run(
        empty,
        """
        let closed = 0;
        const { close } = EventSource.prototype;
        EventSource.prototype.close = function () { closed += 1; close.call(this); };
        await open();
        store.start();
        store.close();
        const ended = closed;
        await open();
        store.close();
        return [ended, streams.length, closed];
        """,
    )
    assert counts == [1, 2, 2]


async def test_what_is_opened_last_stays_open(empty: Page) -> None:
    """Though the conversation with somebody else is there only later."""
    found = await run(
        empty,
        """
        await open();
        const gates = new Map();
        chat.getOrCreateConversation = async (userId) => {
          await new Promise((resolve) => { gates.set(userId, resolve); });
          return { ...conversation, id: userId };
        };
        const first = store.openDirect("slow");
        const second = store.openDirect("quick");
        gates.get("quick")();
        await second;
        const seen = [store.state().openId];
        gates.get("slow")();
        seen.push(await first, store.state().openId);
        const third = store.openDirect("slow");
        await store.open("c");
        gates.get("slow")();
        seen.push(await third, store.state().openId);
        const [fourth, fifth] = ["slow", "quick"].map((name) => store.openDirect(name));
        gates.get("slow")();
        seen.push(await fourth, store.state().openId);
        gates.get("quick")();
        seen.push(await fifth, store.state().openId);
        store.close();
        return seen;
        """,
    )
    assert found == ["quick", "slow", "quick", "slow", "c", "slow", "c", "quick", "quick"]
