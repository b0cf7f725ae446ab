"""Windows of messages and of the list where answers, events and broken lines cross: no gaps,
nothing lost. The service is one of the page's own here, so that each order can be brought about."""

from typing import Any

import pytest
from playwright.async_api import Page

pytestmark = pytest.mark.asyncio(loop_scope="session")

SERVICE = """
    const { ChatStore } = await import("/browser/chat-store.js");
    const { History } = await import("/browser/history.js");
    const { Session } = await import("/browser/session.js");
    const { Store } = await import("/browser/store.js");
    const message = (seq, more = {}) => ({
      id: `m${seq}`, conversationId: "c", senderId: "grace", body: `body ${seq}`, seq,
      createdAt: new Date(1.7e12 + seq * 1_000).toISOString(), editedAt: null, deletedAt: null,
      clientMessageId: null, mentions: [], ...more,
    });
    const conversation = (id, unreadCount = 0, lastReadMessageId = null) => ({
      id, unreadCount, type: "group", createdAt: "2026-01-31T09:30:00.000Z",
      participants: [{ userId: "ada", lastReadMessageId }],
    });
    const many = (count) => Array.from({ length: count }, (_, at) => conversation(`c${at}`));
    const held = () => {
      let open;
      const gate = new Promise((resolve) => { open = resolve; });
      return { gate, open };
    };
    class Service {
      newest = 560;
      asked = [];
      isBroken = false;
      isMarkBroken = false;
      conversations = [];
      gateOf = () => null;
      drafts = { list: async () => [] };
      async #answer() {
        const { isBroken } = this;
        await this.gateOf(this.asked.at(-1));
        if (isBroken) throw Object.assign(new Error("broken"), { status: 503 });
      }
      async listMessages(_, { limit = 50, cursor = "", around, after } = {}) {
        const { newest } = this;
        const [kind, place] = cursor.split(" ");
        const seq = Number((around ?? after ?? "").slice(1));
        let [low, high] = [newest - limit + 1, newest];
        if (around) [low, high] = [seq - limit / 2 + 1, seq + limit / 2];
        else if (after) [low, high] = [seq + 1, seq + limit];
        else if (kind === "older") [low, high] = [Number(place) - limit, Number(place) - 1];
        else if (kind === "newer") [low, high] = [Number(place) + 1, Number(place) + limit];
        [low, high] = [Math.max(1, low), Math.min(newest, high)];
        const more = around || after ? [around ? `around ${around}` : `after ${after}`] : [];
        this.asked.push(...more, ...(more.length ? [] : [cursor || "newest"]));
        await this.#answer();
        const messages = [];
        for (let seq = high; seq >= low; seq -= 1) messages.push(message(seq));
        const isInside = around || after || kind === "newer";
        return {
          messages, nextCursor: low > 1 ? `older ${low}` : null,
          ...(isInside && high < newest ? { previousCursor: `newer ${high}` } : {}),
        };
      }
      async listConversations({ limit = 50, cursor, unread } = {}) {
        const from = Number(cursor ?? 0);
        const all = this.conversations.filter(({ unreadCount }) => !unread || unreadCount);
        const page = structuredClone(all.slice(from, from + limit));
        this.asked.push(unread ? "unread" : `list ${from}`);
        await this.#answer();
        const nextCursor = from + limit < all.length ? String(from + limit) : null;
        return { conversations: page, nextCursor, users: {} };
      }
      async getConversation(id) {
        this.asked.push(`conversation ${id}`);
        await this.#answer();
        return structuredClone(this.conversations.find((conversation) => conversation.id === id));
      }
      async getMessage(_, id) { return message(Number(id.slice(1))); }
      async markRead(id, messageId) {
        this.asked.push(`mark ${messageId}`);
        if (this.isMarkBroken) throw Object.assign(new Error("broken"), { status: 503 });
      }
      async listBlocks() { return { blocks: [], nextCursor: null }; }
      async listMutes() { return { mutes: [], nextCursor: null }; }
      async getPresence() { return {}; }
      stream(handlers) {
        this.handlers = handlers;
        return { close() {}, reconnect() {} };
      }
    }
    const service = new Service();
    const store = new Store("ada");
    const history = new History(service, store, () => {});
    const told = { onGone() {}, onJoinRequest() {}, onBan() {}, onReports() {}, hasDrafts: false };
    const session = new Session(service, store, told);
    const list = store.timeline("c");
    const rangesOf = ({ messages }) => {
      const ranges = [];
      for (const { seq } of messages) {
        if (ranges.at(-1)?.[1] === seq - 1) ranges.at(-1)[1] = seq;
        else ranges.push([seq, seq]);
      }
      return ranges;
    };
    const turn = () => new Promise((resolve) => setTimeout(resolve));
"""


async def run(page: Page, script: str) -> Any:
    return await page.evaluate(f"async () => {{ {SERVICE} {script} }}")


MESSAGES: dict[str, tuple[str, Any]] = {
    "a link after a broken line, then the newest": (
        """
        await history.loadNewest(list);
        store.becomeStale();
        await history.find(list, "m100");
        const there = rangesOf(list);
        await history.loadLatest(list);
        return [there, rangesOf(list), list.newer];
        """,
        [[[51, 150]], [[511, 560]], None],
    ),
    "the newest while an older page is on its way, and the view says where the reader is": (
        """
        await history.loadNewest(list);
        await history.find(list, "m100");
        store.subscribe(() => { list.seenId = "m100"; });
        const older = history.loadOlder(list);
        const latest = history.loadLatest(list);
        await Promise.all([older, latest]);
        return [rangesOf(list), list.newer];
        """,
        [[[511, 560]], None],
    ),
    "a newer page that did not come is asked for again": (
        """
        await history.loadNewest(list);
        await history.find(list, "m30");
        service.isBroken = true;
        await history.loadNewer(list);
        const failed = [list.loading, list.failed];
        service.isBroken = false;
        await history.loadAgain(list);
        return [failed, rangesOf(list)];
        """,
        [["failed", "newer"], [[1, 130]]],
    ),
    "who reads older messages stays there after a broken line, though many were missed": (
        """
        await history.loadNewest(list);
        await history.loadOlder(list);
        list.seenId = "m480";
        store.becomeStale();
        service.newest = 640;
        await history.loadNewest(list);
        return [rangesOf(list), list.has("m480")];
        """,
        [[[431, 530]], True],
    ),
    "the line breaks again while one stays": (
        """
        await history.loadNewest(list);
        await history.find(list, "m100");
        store.becomeStale();
        service.isBroken = true;
        await history.loadNewest(list);
        const kept = [rangesOf(list), list.loading, list.isStale];
        service.isBroken = false;
        await history.loadNewest(list);
        return [kept, rangesOf(list), list.loading];
        """,
        [[[[51, 150]], "failed", True], [[51, 150]], None],
    ),
    "what came while a page failed is not put behind a later one": (
        """
        await history.loadNewest(list);
        service.isBroken = true;
        const older = history.loadOlder(list);
        list.receive(message(561));
        await older;
        service.isBroken = false;
        store.becomeStale();
        service.newest = 760;
        await history.loadNewest(list);
        return rangesOf(list);
        """,
        [[711, 760]],
    ),
    "what comes while an older page is on its way does not cut where that begins": (
        """
        service.newest = 1_000;
        await history.loadNewest(list);
        for (let page = 0; page < 7; page += 1) await history.loadOlder(list);
        const older = history.loadOlder(list);
        list.receive(message(1_001));
        await older;
        return rangesOf(list).length;
        """,
        1,
    ),
    "a page of other messages while one looks at a link's": (
        """
        service.conversations = [conversation("c", 300, "m260")];
        await session.sync();
        await session.open("c");
        const there = await session.history.find(list, "m540");
        return [there, rangesOf(list).length];
        """,
        [True, 1],
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
async def test_a_window_has_no_gaps_and_stays_where_one_reads(empty: Page, case: str) -> None:
    script, expected = MESSAGES[case]
    assert await run(empty, script) == expected


OPENED_MEANWHILE = """
    const { gate, open } = held();
    service.gateOf = (asked) => (asked === "%s" ? gate : null);
    const opened = session.open("c");
    await turn();
    session.start();
    service.handlers.onOpen();
    await session.sync();
    open();
    await opened;
    session.close();
"""
UNREAD = {
    "the stream opens, and the list comes, before it is known": OPENED_MEANWHILE % "conversation c",
    "the stream opens while its messages are on their way": OPENED_MEANWHILE % "newest",
    "it could not be asked for at first": """
        service.isBroken = true;
        await session.open("c");
        service.isBroken = false;
        await session.sync();
    """,
    "it can be asked for only after the list has come": """
        const { gate, open } = held();
        service.gateOf = (asked) => (asked === "conversation c" ? gate : null);
        service.conversations.unshift(...many(60));
        service.isBroken = true;
        const opened = session.open("c");
        await turn();
        service.isBroken = false;
        await session.sync();
        service.gateOf = () => null;
        open();
        await opened;
    """,
    "its messages fail that were asked for before the stream opened": """
        await session.sync();
        const { gate, open } = held();
        service.gateOf = (asked) => (asked === "newest" ? gate : null);
        service.isBroken = true;
        const opened = session.open("c");
        await turn();
        service.isBroken = false;
        store.becomeStale();
        await session.sync();
        service.gateOf = () => null;
        open();
        await opened;
    """,
    "it was read before, and is stale": """
        service.newest = 40;
        service.conversations = [conversation("c", 0)];
        await session.sync();
        await session.open("c");
        await session.open(null);
        store.becomeStale();
        service.newest = 60;
        service.conversations = [conversation("c", 20, "m40")];
        await session.sync();
        const opened = session.open("c");
        lines.clear();
        await opened;
    """,
    "its messages could not be asked for at first": """
        await session.sync();
        service.isBroken = true;
        await session.open("c");
        service.isBroken = false;
        store.becomeStale();
        await session.sync();
    """,
}


@pytest.mark.parametrize("case", UNREAD)
async def test_messages_come_with_the_line_above_the_unread_ones(empty: Page, case: str) -> None:
    """Where they are shown first, the reader stays: a line that comes later is out of sight."""
    begun = """
        service.newest = 60;
        service.conversations = [conversation("c", 20)];
        const lines = new Set();
        store.subscribe(() => { if (list.isReady) lines.add(list.unread.firstId); });
    """
    ended = "return [[...lines], rangesOf(list), list.isStale];"
    lines, ranges, is_stale = await run(empty, begun + UNREAD[case] + ended)
    assert lines == ["m41"]
    assert [last for _, last in ranges] == [60], "all of it, without gaps"
    assert not is_stale


LISTS: dict[str, tuple[str, Any]] = {
    "what moves up while the list is asked for stays there": (
        """
        service.conversations = many(120);
        await session.sync();
        await session.loadMoreConversations();
        await session.loadMoreConversations();
        store.listedDownTo = 20;
        const { gate, open } = held();
        service.gateOf = (asked) => (asked === "list 0" ? gate : null);
        const synced = session.sync();
        await turn();
        for (const id of ["c110", "c20"]) store.receive(message(9, { conversationId: id }));
        open();
        await synced;
        return store.conversations.slice(0, 3).map(({ id }) => id);
        """,
        ["c20", "c110", "c0"],
    ),
    "a page of an earlier list does not go on from the new one": (
        """
        service.conversations = many(300);
        await session.sync();
        await session.loadMoreConversations();
        store.listedDownTo = 20;
        const { gate, open } = held();
        service.gateOf = (asked) => (asked === "list 100" ? gate : null);
        const more = session.loadMoreConversations();
        await turn();
        await session.sync();
        open();
        await more;
        return [store.conversations.length, store.nextCursor];
        """,
        [50, "50"],
    ),
    "while the end of the list is visible, what failed is requested after a pause": (
        """
        const away = Object.assign(new Error("away"), { status: 503, isTemporary: true });
        // Without a limit, a loop of requests would leave the test no turn.
        const fail = () => (service.asked.length < 50 ? Promise.reject(away) : null);
        service.conversations = many(120);
        await session.sync();
        store.set({ status: "live" });
        store.subscribe(() => session.reachedEnd());
        service.gateOf = fail;
        const requests = [];
        for (const work of [() => store.changed(), () => session.sync()]) {
          service.asked = [];
          work();
          for (let number = 0; number < 5; number += 1) {
            await turn();
            store.changed();
          }
          requests.push([...service.asked]);
        }
        // Users who ask for it do not wait.
        await session.loadMoreConversations();
        session.close();
        return [...requests, service.asked];
        """,
        [["list 50"], ["list 0"], ["list 0", "list 0"]],
    ),
    "an opening asks once": (
        """
        service.conversations = many(60);
        session.start();
        service.handlers.onOpen();
        await session.sync();
        await turn();
        const lists = service.asked.filter((request) => request === "list 0").length;
        session.close();
        return lists <= 2;
        """,
        True,
    ),
    "an event of a conversation further down does not take its unread messages away": (
        """
        service.conversations = many(100);
        service.conversations[80].unreadCount = 5;
        session.start();
        await session.sync();
        const { unreadCount, ...snapshot } = service.conversations[80];
        const known = new Promise((resolve) => {
          store.subscribe(() => store.conversation("c80")?.unreadCount === 5 && resolve());
        });
        service.handlers.onEvent({
          type: "conversation.updated", conversationId: "c80", actorId: "grace",
          conversation: { ...snapshot, name: "renamed" }, affectedUserIds: [],
        });
        await known;
        session.close();
        return [store.totalUnread, store.conversations.length];
        """,
        [5, 50],
    ),
    "a mark that fails is not tried again and again": (
        """
        service.conversations = [conversation("c", 3)];
        service.isMarkBroken = true;
        await session.sync();
        await session.open("c");
        store.set({ isReading: true });
        await session.readings.read();
        for (let number = 0; number < 5; number += 1) {
          store.setUnread("c", 3);
          await session.readings.read();
        }
        const marks = () => service.asked.filter((request) => request.startsWith("mark")).length;
        const before = marks();
        service.newest = 561;
        session.start();
        service.handlers.onEvent({ type: "message.created", message: message(561) });
        await session.readings.read();
        session.close();
        return [before, marks()];
        """,
        [1, 2],
    ),
    "what was seen and could not be marked is marked with the next message": (
        """
        service.conversations = [conversation("c", 300, "m260")];
        await session.sync();
        await session.open("c");
        const paused = [];
        globalThis.setTimeout = (work) => paused.push(work);
        const pass = async () => { for (const work of paused.splice(0)) await work(); };
        const marks = () => service.asked.filter((request) => request.startsWith("mark")).length;
        service.isMarkBroken = true;
        for (let number = 0; number < 5; number += 1) {
          session.readings.saw(list, "m290");
          await pass();
        }
        const before = marks();
        service.isMarkBroken = false;
        session.start();
        service.handlers.onEvent({ type: "message.created", message: message(561) });
        session.readings.saw(list, "m290");
        await pass();
        return [before, marks()];
        """,
        [1, 2],
    ),
    "all is marked as read, though the newest message is not held": (
        """
        service.conversations = [...many(60), conversation("c", 300, "m260")];
        await session.sync();
        await session.open("c");
        const hasNewest = list.has("m560");
        await session.readings.readAll();
        return [hasNewest, service.asked.at(-1)];
        """,
        [False, "mark m560"],
    ),
    "looking at the lists of others lets the open one stay": (
        """
        service.conversations = many(20);
        const shown = new ChatStore(service, { userId: "ada" });
        await shown.open("c0");
        for (let number = 1; number < 15; number += 1) shown.timeline(`c${number}`);
        for (let number = 1; number < 15; number += 1) shown.typed(`c${number}`, "");
        return [shown.timeline("c0").isLoaded, shown.timeline("c0").messages.length];
        """,
        [True, 50],
    ),
}


@pytest.mark.parametrize("case", LISTS)
async def test_the_list_is_whole_and_counts_are_right(empty: Page, case: str) -> None:
    script, expected = LISTS[case]
    assert await run(empty, script) == expected


async def test_who_reads_older_messages_of_a_hosts_page_keeps_them(empty: Page) -> None:
    script = """
        service.conversations = [conversation("c")];
        service.newest = 1_000;
        const shown = new ChatStore(service, { userId: "ada" });
        shown.start();
        await shown.open("c");
        for (let page = 0; page < 10; page += 1) await shown.loadOlder("c");
        shown.setViewing(false);
        service.handlers.onEvent({ type: "message.created", message: message(1_001) });
        const kept = shown.timeline("c").messages.length;
        shown.setViewing(true);
        service.handlers.onEvent({ type: "message.created", message: message(1_002) });
        await turn();
        const cut = shown.timeline("c").messages;
        shown.close();
        return [kept, cut.length, cut.at(-1).seq];
    """
    kept, cut, last = await run(empty, script)
    assert (kept, last) == (551, 1_002)
    assert cut < 400
