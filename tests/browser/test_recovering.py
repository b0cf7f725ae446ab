"""What a store does when the service, or something in front of it, fails for a while, and when
answers come late. The service is one of the page's own here."""

from typing import Any

import pytest
from playwright.async_api import Page

from tests.browser.waiting import TIMERS, WAITING

pytestmark = pytest.mark.asyncio(loop_scope="session")

SERVICE = """
    const { ChatError } = await import("/browser/chat.js");
    const { ChatStore } = await import("/browser/chat-store.js");
    const asked = [];
    const countOf = (name) => asked.filter((request) => request === name).length;
    const failure = (status, code, retryAfter = null) =>
      new ChatError({ status, code, message: code, retryAfter });
    const AWAY = failure(503, "STORAGE_UNAVAILABLE");
    const conversation = (id, unreadCount = 0) => ({
      id, unreadCount, type: "direct", name: null, createdAt: "2026-01-31T09:30:00.000Z",
      metadata: {}, participants: [{ userId: "ada", lastReadMessageId: null }, { userId: "bob" }],
    });
    const message = (conversationId, seq, more = {}) => ({
      id: `${conversationId}-${seq}`, conversationId, seq, senderId: "bob", body: `body ${seq}`,
      createdAt: new Date(1.7e12 + seq * 1_000).toISOString(), editedAt: null, deletedAt: null,
      clientMessageId: null, mentions: [], reactions: [], ...more,
    });
    let stream = null;
    /** How the service answers; a test puts its own answers here. */
    const answers = {
      listConversations: async () => ({ conversations: [conversation("c")], nextCursor: null }),
      getConversation: async (id) => conversation(id),
      getOrCreateConversation: async (id) => conversation(id),
      listMessages: async (id) => ({ messages: [message(id, 1)], nextCursor: null }),
      listThread: async () => ({ messages: [], nextCursor: null }),
      getMessage: async (conversationId, id) => message(conversationId, 1, { id }),
      findUsers: async ({ ids }) => ids.map((id) => ({ id, name: id, avatarUrl: null })),
      markRead: async () => ({ ok: true }),
    };
    const chat = {
      moderation: {
        listBlockedUsers: async () => ({ blocks: [], nextCursor: null }),
        listMutedConversations: async () => ({ mutes: [], nextCursor: null }),
      },
      stream: (given) => {
        stream = given;
        return { close: () => given.onStatus("closed"), reconnect() {} };
      },
    };
    for (const name of Object.keys(answers)) {
      chat[name] = (...given) => {
        asked.push(name);
        return answers[name](...given);
      };
    }
    const gone = [];
    const store = new ChatStore(chat, { userId: "ada", onGone: (id) => gone.push(id) });
    const live = () => {
      stream.onStatus("live");
      stream.onOpen();
    };
    const tell = (told) => {
      const { conversationId } = told;
      stream.onEvent({ type: "message.created", conversationId, message: told });
    };
    /** The next call of `name` waits for what is returned, and then answers as it is now. */
    const held = (name) => {
      const before = answers[name];
      let release;
      const isReleased = new Promise((resolve) => { release = resolve; });
      answers[name] = async (...given) => {
        answers[name] = before;
        const answer = await before(...given);
        await isReleased;
        return answer;
      };
      return release;
    };
    const failsOnce = (name, error) => {
      const before = answers[name];
      answers[name] = async () => {
        answers[name] = before;
        throw error;
      };
    };
    const unread = (id) => store.conversation(id)?.unread;
    const begin = async () => {
      store.start();
      live();
      await until(() => store.state().isListed);
    };
"""


async def run(page: Page, script: str) -> Any:
    return await page.evaluate(f"async () => {{ {WAITING} {TIMERS} {SERVICE} {script} }}")


async def test_a_list_that_fails_is_asked_for_again(empty: Page) -> None:
    """By itself after a pause; at once by `reconnect` and `loadMore`, however long the pause is."""
    found = await run(
        empty,
        """
        pace = 10;
        failsOnce("listConversations", AWAY);
        store.start();
        live();
        await until(() => store.state().problemCode !== null);
        const problems = [store.state().problemCode];
        await until(() => store.state().isListed);
        problems.push(store.state().problemCode);
        for (const again of ["reconnect", "loadMore"]) {
          failsOnce("listConversations", failure(429, "RATE_LIMITED", 3_600));
          live();
          await until(() => store.state().problemCode !== null);
          store[again]();
          await until(() => store.state().problemCode === null);
        }
        return [problems, countOf("listConversations")];
        """,
    )
    assert found == [["STORAGE_UNAVAILABLE", None], 6]


async def test_a_closed_store_does_not_ask_again(empty: Page) -> None:
    """Neither for the list, nor for counts, people, or to mark as read."""
    found = await run(
        empty,
        """
        await begin();
        tell(message("c", 2, { senderId: "stranger" }));
        answers.findUsers = async () => { throw AWAY; };
        store.user("stranger");
        answers.listConversations = async () => { throw AWAY; };
        live();
        await until(() => store.state().problemCode !== null && countOf("findUsers") > 0);
        store.close();
        const count = asked.length;
        await store.markRead("c");
        for (let times = 0; times < 3; times += 1) await elapse();
        return asked.slice(count);
        """,
    )
    assert found == []


async def test_a_closed_store_does_not_ask_for_the_next_page_again(empty: Page) -> None:
    found = await run(
        empty,
        """
        const page = { conversations: [conversation("c")], nextCursor: "next" };
        answers.listConversations = async () => page;
        await begin();
        answers.listConversations = async () => { throw AWAY; };
        await store.loadMore();
        store.close();
        const count = asked.length;
        for (let times = 0; times < 3; times += 1) await elapse();
        return asked.slice(count);
        """,
    )
    assert found == []


@pytest.mark.parametrize("late", ["listConversations", "getOrCreateConversation"])
async def test_a_late_answer_does_not_undo_a_count(empty: Page, late: str) -> None:
    """It was asked for before a message had come, whose count has been confirmed since."""
    found = await run(
        empty,
        f"""
        pace = 10;
        await begin();
        const release = held("{late}");
        if ("{late}" === "listConversations") live();
        const opened = "{late}" === "listConversations" ? null : store.openDirect("c");
        answers.getConversation = async (id) => conversation(id, 1);
        tell(message("c", 2));
        const before = countOf("getConversation");
        await until(() => countOf("getConversation") > before);
        const counts = [unread("c")];
        release();
        await opened;
        await pass(0);
        return [...counts, unread("c")];
        """,
    )
    assert found == [1, 1]


async def test_what_was_read_stays_read_when_a_conversation_comes_late(empty: Page) -> None:
    found = await run(
        empty,
        """
        answers.listConversations = async () =>
          ({ conversations: [conversation("c", 3)], nextCursor: null });
        answers.getOrCreateConversation = async (id) => conversation(id, 3);
        await begin();
        const release = held("getOrCreateConversation");
        const opened = store.openDirect("c");
        answers.getConversation = async (id) => conversation(id, 0);
        await store.markRead("c");
        release();
        await opened;
        return unread("c");
        """,
    )
    assert found == 0


async def test_many_messages_of_an_unknown_conversation_ask_for_it_once(empty: Page) -> None:
    """And once more for its count."""
    found = await run(
        empty,
        """
        pace = 10;
        await begin();
        answers.getConversation = async (id) => conversation(id, 100);
        for (let seq = 1; seq <= 100; seq += 1) tell(message("far", seq));
        await until(() => unread("far") === 100);
        await until(() => countOf("getConversation") === 2);
        await elapse();
        return [countOf("getConversation"), store.conversation("far").lastMessage.seq];
        """,
    )
    assert found == [2, 100]


async def test_counts_of_many_conversations_are_one_list(empty: Page) -> None:
    found = await run(
        empty,
        """
        pace = 10;
        const ids = [...Array(50).keys()].map((number) => `c${number}`);
        answers.listConversations = async () =>
          ({ conversations: ids.map((id) => conversation(id, 1)), nextCursor: null });
        await begin();
        const before = countOf("listConversations");
        for (const id of ids) tell(message(id, 2));
        await until(() => countOf("listConversations") > before);
        await until(() => store.state().unread === 50);
        return [countOf("listConversations") - before, countOf("getConversation")];
        """,
    )
    assert found == [1, 0]


async def test_counts_are_confirmed_while_messages_keep_coming(empty: Page) -> None:
    """Not for each of them, and not only after the last."""
    seq, count = await run(
        empty,
        """
        await begin();
        const due = new Map();
        let now = performance.now();
        performance.now = () => now;
        globalThis.setTimeout = (work, ms) => {
          due.set(work, now + ms);
          return work;
        };
        globalThis.clearTimeout = (work) => due.delete(work);
        let seq = 1;
        while (countOf("getConversation") === 0 && seq < 1_000) {
          tell(message("c", seq += 1));
          now += 100;
          for (const [work, at] of due) if (at <= now && due.delete(work)) work();
        }
        return [seq, countOf("getConversation")];
        """,
    )
    assert 10 < seq < 1_000
    assert count == 1


async def test_a_conversation_that_cannot_be_brought_is_brought_later(empty: Page) -> None:
    found = await run(
        empty,
        """
        pace = 10;
        await begin();
        failsOnce("getConversation", AWAY);
        await store.open("far");
        const isThere = store.conversation("far") !== null;
        await until(() => store.timeline("far").messages.length > 0);
        return [isThere, store.state().openId, gone];
        """,
    )
    assert found == [False, "far", []]


async def test_a_thread_without_its_root_can_be_brought_again(empty: Page) -> None:
    found = await run(
        empty,
        """
        await begin();
        await store.open("c");
        answers.listMessages = async () => ({ messages: [], nextCursor: null });
        failsOnce("getMessage", AWAY);
        await store.openThread("far-1");
        const { root, hasFailed, isGone } = store.thread();
        await store.loadOlderReplies();
        const now = store.thread();
        return [root, hasFailed, isGone, now.root?.body ?? null, now.hasFailed];
        """,
    )
    assert found == [None, True, False, "body 1", False]


async def test_messages_that_fail_are_loaded_again(empty: Page) -> None:
    """Automatically after a pause: the newest, older ones, replies, and a thread's root."""
    found = await run(
        empty,
        """
        const page = (id, { cursor }) => cursor
          ? { messages: [message(id, 1)], nextCursor: null }
          : { messages: [message(id, 2)], nextCursor: "older" };
        answers.listMessages = async (id, options) => page(id, options);
        answers.listThread = async () => ({ messages: [message("c", 3)], nextCursor: null });
        await begin();
        const states = [];
        const note = ({ hasFailed, isLoading, messages }) =>
          states.push([hasFailed, isLoading, messages.length]);
        const failsAndRecovers = async (name, read, load) => {
          failsOnce(name, AWAY);
          await load();
          note(read());
          const release = held(name);
          await elapse();
          note(read());
          release();
          await until(() => !read().hasFailed);
          note(read());
        };
        const timeline = () => store.timeline("c");
        await failsAndRecovers("listMessages", timeline, () => store.open("c"));
        await failsAndRecovers("listMessages", timeline, () => store.loadOlder("c"));
        await failsAndRecovers("listThread", () => store.thread(), () => store.openThread("c-2"));
        await store.openThread(null);
        failsOnce("getMessage", AWAY);
        await store.openThread("far-1");
        states.push([store.thread().hasFailed, store.thread().root]);
        await elapse();
        await until(() => store.thread().root !== null);
        states.push([store.thread().hasFailed, store.thread().root.id]);
        return states;
        """,
    )
    assert found == [
        *([True, False, 0], [True, True, 0], [False, False, 1]),
        *([True, False, 1], [True, True, 1], [False, False, 2]),
        *([True, False, 0], [True, True, 0], [False, False, 1]),
        *([True, None], [False, "far-1"]),
    ]


@pytest.mark.parametrize("status", ["live", "reconnecting"])
async def test_messages_that_fail_are_loaded_when_the_stream_opens(
    empty: Page, status: str
) -> None:
    """At once, whether there would be no other attempt, or one after an hour."""
    found = await run(
        empty,
        f"""
        await begin();
        stream.onStatus("{status}");
        const works = {{ ...answers }};
        for (const name of ["listMessages", "listThread", "getMessage"]) {{
          answers[name] = async () => {{ throw failure(503, "STORAGE_UNAVAILABLE", 3_600); }};
        }}
        const states = [];
        const note = () => {{
          const lists = [store.timeline("c"), store.thread()];
          states.push(lists.map((list) => [list.hasFailed, list.isLoaded]));
        }};
        await store.open("c");
        await store.openThread("c-1");
        note();
        Object.assign(answers, works);
        live();
        await until(() => store.thread().isLoaded && store.thread().root);
        note();
        return states;
        """,
    )
    assert found == [[[True, False]] * 2, [[False, True]] * 2]


async def test_messages_are_loaded_again_only_while_they_are_open(empty: Page) -> None:
    """Not after the reader has left, not after the store was closed, not what was refused."""
    found = await run(
        empty,
        """
        await begin();
        const counts = [];
        const fails = async (error, leave) => {
          failsOnce("listMessages", error);
          await store.open("c");
          await leave();
          const before = countOf("listMessages");
          await elapse();
          counts.push(countOf("listMessages") - before);
        };
        await fails(failure(400, "INVALID_INPUT"), () => {});
        await fails(AWAY, () => store.open(null));
        await fails(AWAY, () => store.close());
        return counts;
        """,
    )
    assert found == [0, 0, 0]


async def test_a_reading_that_fails_is_told_again(empty: Page) -> None:
    found = await run(
        empty,
        """
        pace = 10;
        answers.listConversations = async () =>
          ({ conversations: [conversation("c", 1)], nextCursor: null });
        answers.getConversation = async (id) => conversation(id, countOf("markRead") > 1 ? 0 : 1);
        await begin();
        failsOnce("markRead", AWAY);
        await store.open("c");
        store.setViewing(true);
        await until(() => countOf("markRead") === 2);
        await elapse();
        return [unread("c"), countOf("markRead")];
        """,
    )
    assert found == [0, 2]


@pytest.mark.parametrize(("status", "code"), [(404, "UNEXPECTED_ANSWER"), (403, "UNKNOWN")])
async def test_what_stands_in_front_of_the_service_throws_nobody_out(
    empty: Page, status: int, code: str
) -> None:
    """A proxy's own answers say nothing of a conversation; those of the service do."""
    found = await run(
        empty,
        f"""
        pace = 10;
        await begin();
        await store.open("c");
        answers.getConversation = async () => {{ throw failure({status}, "{code}"); }};
        tell(message("c", 2));
        await until(() => countOf("getConversation") > 0);
        await pass(0);
        const opened = [store.state().openId, ...gone];
        answers.getConversation = async () => {{ throw failure(403, "FORBIDDEN_READ"); }};
        tell(message("c", 3));
        await until(() => gone.length > 0);
        return [opened, store.state().openId, gone];
        """,
    )
    assert found == [["c"], None, ["c"]]


async def test_who_is_no_longer_banned_begins_anew(empty: Page) -> None:
    found = await run(
        empty,
        """
        failsOnce("listConversations", failure(403, "USER_BANNED"));
        store.start();
        live();
        await until(() => store.state().isBanned);
        await begin();
        return store.state().isBanned;
        """,
    )
    assert found is False


async def test_mentions_are_no_more_than_what_is_unread(empty: Page) -> None:
    """How many of them were read elsewhere is not told."""
    found = await run(
        empty,
        """
        answers.listConversations = async () => ({
          conversations: [conversation("c", 3)], nextCursor: null,
          unreadSummaries: { c: { seq: 3, firstUnreadSeq: 1, unreadMentionCount: 2 } },
        });
        await begin();
        await until(() => store.conversation("c").unreadMentions === 2);
        stream.onEvent({ type: "read.updated", conversationId: "c", unreadCount: 1 });
        await pass(0);
        const shown = store.conversation("c");
        return [shown.unread, shown.unreadMentions];
        """,
    )
    assert found == [1, 1]
