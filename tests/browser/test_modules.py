"""The page's modules by themselves, where the order of events is hard to bring about."""

from typing import Any

import pytest
from playwright.async_api import Page

from tests.browser.conftest import Visit

pytestmark = pytest.mark.asyncio(loop_scope="session")

HELPERS = """
    const { Store } = await import("/static/store.js");
    const { Timeline } = await import("/static/timeline.js");
    const { ChatStream } = await import("/static/stream.js");
    const message = (seq, more = {}) => ({
      id: `m${seq}`, conversationId: "c", senderId: "grace", body: `body ${seq}`, seq,
      createdAt: "2026-01-31T09:30:00.000Z", editedAt: null, deletedAt: null,
      clientMessageId: null, ...more,
    });
    const pageOf = (from, to, nextCursor) => {
      const messages = [];
      for (let seq = to; seq >= from; seq -= 1) messages.push(message(seq));
      return { messages, nextCursor };
    };
    const conversation = (id, unreadCount) => ({ id, unreadCount, participants: [] });
"""


async def run(page: Page, script: str) -> Any:
    return await page.evaluate(f"async () => {{ {HELPERS} {script} }}")


@pytest.mark.parametrize(
    ("newest", "held", "cursor"),
    [
        ("pageOf(3, 6, 'further')", [1, 2, 3, 4, 5, 6], "first"),
        ("pageOf(5, 6, 'further')", [5, 6], "further"),
        ("pageOf(1, 6, null)", [1, 2, 3, 4, 5, 6], "first"),
    ],
)
async def test_a_timeline_has_no_gaps(
    visit: Visit, newest: str, held: list[int], cursor: str
) -> None:
    """Message 4 was missed; 5 came live before the newest page was asked for again."""
    script = f"""
        const timeline = new Timeline();
        timeline.isStale = false;
        timeline.addNewest(pageOf(1, 3, "first"));
        timeline.becomeStale();
        timeline.put(message(5));
        timeline.isStale = false;
        timeline.addNewest({newest});
        return [timeline.messages.map((each) => each.seq), timeline.olderCursor];
    """
    assert await run(await visit(""), script) == [held, cursor]


async def test_the_line_above_unread_messages_waits_for_them_and_stays(visit: Visit) -> None:
    script = """
        const timeline = new Timeline("ada");
        timeline.markUnread(3);
        timeline.isStale = false;
        timeline.addNewest(pageOf(5, 6, "further"));
        const lines = [timeline.firstUnreadId];
        timeline.put(message(7));
        timeline.addOlder(pageOf(1, 4, null));
        timeline.put(message(8));
        return [...lines, timeline.firstUnreadId];
    """
    assert await run(await visit(""), script) == [None, "m4"]


async def test_a_message_is_held_once_in_its_place_and_newest_state(visit: Visit) -> None:
    script = """
        const timeline = new Timeline();
        for (const seq of [2, 1, 3, 2]) timeline.put(message(seq));
        timeline.update(message(2, { body: "better", editedAt: "2026-01-31T10:00:00.000Z" }));
        timeline.put(message(2));
        timeline.update(message(3, { body: "", deletedAt: "2026-01-31T10:00:00.000Z" }));
        timeline.put(message(3, { editedAt: "2026-01-31T11:00:00.000Z" }));
        timeline.update(message(9));
        return timeline.messages.map((each) => each.body);
    """
    assert await run(await visit(""), script) == ["body 1", "better", ""]


async def test_a_repeated_message_counts_once_and_own_ones_do_not(visit: Visit) -> None:
    script = """
        const store = new Store("ada");
        store.setConversations([conversation("b", 0), conversation("c", 0)], null, store.now());
        for (const seq of [1, 1, 2]) store.receive(message(seq));
        store.receive(message(3, { senderId: "ada" }));
        return [store.conversation("c").unreadCount, store.conversations.map(({ id }) => id)];
    """
    assert await run(await visit(""), script) == [2, ["c", "b"]]


async def test_an_overtaken_answer_changes_nothing(visit: Visit) -> None:
    script = """
        const store = new Store("ada");
        store.setConversations([conversation("c", 2)], null, store.now());
        const asOf = store.now();
        store.setUnread("c", 0);
        store.outdateUnread("c");
        store.putConversation(conversation("d", 1));
        store.setConversations([conversation("c", 2)], null, asOf);
        return store.conversations.map(({ id, unreadCount }) => [id, unreadCount]);
    """
    assert await run(await visit(""), script) == [["d", 1], ["c", 0]]


async def test_a_draft_leaves_the_outbox_when_its_event_comes(visit: Visit) -> None:
    script = """
        const store = new Store("ada");
        const draft = { conversationId: "c", clientMessageId: "k", body: "hi" };
        store.putInOutbox({ ...draft, state: "pending" });
        store.receive(message(1, { clientMessageId: "k" }));
        const before = store.outbox.length;
        store.receive(message(2, { senderId: "ada", clientMessageId: "k" }));
        return [before, store.outbox.length];
    """
    assert await run(await visit(""), script) == [1, 0]


async def test_a_closed_stream_is_opened_again_at_the_newest_created_message(visit: Visit) -> None:
    script = """
        const sources = [];
        class Source extends EventTarget {
          static CLOSED = 2;
          constructor(url) { super(); this.url = url; this.readyState = 1; sources.push(this); }
          close() { this.readyState = 2; }
          tell(type, lastEventId, data) {
            this.dispatchEvent(new MessageEvent(type, { lastEventId, data: JSON.stringify(data) }));
          }
        }
        const told = [];
        const onStatus = (status) => told.push(status);
        const onEvent = ({ type }) => told.push(type);
        const stream = new ChatStream((id) => `at ${id}`, { onEvent, onStatus }, Source);
        const [first] = sources;
        first.dispatchEvent(new Event("open"));
        for (const seq of [8, 8]) {
          const created = { type: "message.created", message: message(seq) };
          first.tell("message.created", `c:${seq}`, created);
        }
        first.tell("message.updated", "c:1", { type: "message.updated", message: message(1) });
        first.close();
        first.dispatchEvent(new Event("error"));
        stream.reconnect();
        stream.close();
        return [sources.map((each) => each.url), told];
    """
    urls, told = await run(await visit(""), script)
    assert urls == ["at null", "at c:8"]
    assert told == [
        *("connecting", "live", "message.created", "message.updated", "reconnecting", "closed"),
    ]
