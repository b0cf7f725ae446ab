"""The page's modules by themselves, where the order of events is hard to bring about."""

from typing import Any

import pytest
from playwright.async_api import Page

pytestmark = pytest.mark.asyncio(loop_scope="session")

HELPERS = """
    const { Store } = await import("/browser/store.js");
    const { Timeline } = await import("/browser/timeline.js");
    const { highlighted } = await import("/browser/terms.js");
    const { begunAt, mentionedIn } = await import("/browser/mentions.js");
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
    empty: Page, newest: str, held: list[int], cursor: str
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
        return [timeline.messages.map((message) => message.seq), timeline.older?.cursor];
    """
    assert await run(empty, script) == [held, cursor]


async def test_the_line_above_unread_messages_waits_for_them_and_stays(empty: Page) -> None:
    script = """
        const timeline = new Timeline("ada");
        timeline.unread.mark({ count: 3 });
        timeline.isStale = false;
        timeline.addNewest(pageOf(5, 6, "further"));
        const lines = [timeline.unread.firstId];
        timeline.put(message(7));
        timeline.addOlder(pageOf(1, 4, null));
        timeline.put(message(8));
        return [...lines, timeline.unread.firstId];
    """
    assert await run(empty, script) == [None, "m4"]


async def test_a_message_is_held_once_in_its_place_and_newest_state(empty: Page) -> None:
    script = """
        const timeline = new Timeline();
        for (const seq of [2, 1, 3, 2]) timeline.put(message(seq));
        timeline.update(message(2, { body: "better", editedAt: "2026-01-31T10:00:00.000Z" }));
        timeline.put(message(2));
        timeline.update(message(3, { body: "", deletedAt: "2026-01-31T10:00:00.000Z" }));
        timeline.put(message(3, { editedAt: "2026-01-31T11:00:00.000Z" }));
        timeline.update(message(9));
        return timeline.messages.map((message) => message.body);
    """
    assert await run(empty, script) == ["body 1", "better", ""]


async def test_a_repeated_message_counts_once_and_own_ones_do_not(empty: Page) -> None:
    script = """
        const store = new Store("ada");
        store.setConversations([conversation("b", 0), conversation("c", 0)], null, store.now());
        for (const seq of [1, 1, 2]) store.receive(message(seq));
        store.receive(message(3, { senderId: "ada" }));
        return [store.conversation("c").unreadCount, store.conversations.map(({ id }) => id)];
    """
    assert await run(empty, script) == [2, ["c", "b"]]


async def test_an_overtaken_answer_changes_nothing(empty: Page) -> None:
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
    assert await run(empty, script) == [["d", 1], ["c", 0]]


async def test_a_message_that_its_page_brought_before_its_event_is_counted(empty: Page) -> None:
    script = """
        const { Session } = await import("/browser/session.js");
        const store = new Store("ada");
        const conversations = [conversation("c", 0)];
        let page = pageOf(1, 1, null);
        let handlers;
        const none = { blocks: [], mutes: [], nextCursor: null };
        const answers = {
          stream: (given) => { handlers = given; return { close() {} }; },
          listConversations: async () => ({ conversations, nextCursor: null }),
          listMessages: async () => page,
          getConversation: async () => conversation("c", 1),
        };
        const chat = new Proxy(answers, { get: (all, name) => all[name] ?? (async () => none) });
        const session = new Session(chat, store, { onGone() {} });
        session.start();
        await session.sync();
        page = pageOf(1, 2, null);
        await session.open("c");
        const before = store.conversation("c").unreadCount;
        const counted = new Promise((resolve, reject) => {
          setTimeout(() => reject(new Error("not counted within 30 seconds")), 30_000);
          store.subscribe(() => store.conversation("c").unreadCount && resolve());
        });
        handlers.onEvent({ type: "message.created", message: message(2) });
        await counted;
        return [before, store.conversation("c").unreadCount];
    """
    assert await run(empty, script) == [0, 1]


async def test_a_draft_leaves_the_outbox_when_its_event_comes(empty: Page) -> None:
    script = """
        const store = new Store("ada");
        const draft = { conversationId: "c", clientMessageId: "k", body: "hi" };
        store.putInOutbox({ ...draft, state: "pending" });
        store.receive(message(1, { clientMessageId: "k" }));
        const before = store.outbox.length;
        store.receive(message(2, { senderId: "ada", clientMessageId: "k" }));
        return [before, store.outbox.length];
    """
    assert await run(empty, script) == [1, 0]


async def test_a_reply_is_counted_once_at_its_root(empty: Page) -> None:
    """Whether the page that brought the root had counted it, or an event does."""
    script = """
        const at = (second) => `2026-01-31T10:00:0${second}.000Z`;
        const reply = (seq, second) =>
          message(seq, { threadRootMessageId: "m1", createdAt: at(second) });
        const timeline = new Timeline();
        const threadSummary = { replyCount: 2, lastReplyAt: at(2) };
        timeline.put(message(1, { threadSummary }));
        const counts = [];
        const count = () => counts.push(timeline.get("m1").threadSummary.replyCount);
        for (const answer of [reply(2, 1), reply(3, 2), reply(4, 3), reply(5, 3), reply(5, 3)]) {
          timeline.countReply(answer);
          count();
        }
        timeline.put(message(1, { threadSummary }));
        count();
        timeline.update(message(1, { threadSummary: { replyCount: 5, lastReplyAt: at(4) } }));
        timeline.countReply(reply(6, 4));
        count();
        return counts;
    """
    assert await run(empty, script) == [2, 2, 3, 4, 4, 4, 5]


async def test_a_reply_to_a_thread_only_stays_out_of_the_main_list(empty: Page) -> None:
    script = """
        const store = new Store("ada");
        store.setConversations([conversation("c", 0)], null, store.now());
        store.timeline("c");
        const thread = store.thread("c", "m1");
        for (const [seq, alsoSendToMain] of [[2, false], [3, true]]) {
          store.receive(message(seq, { threadRootMessageId: "m1", alsoSendToMain }));
        }
        const ids = (timeline) => timeline.messages.map(({ id }) => id);
        const { unreadCount, lastMessage } = store.conversation("c");
        return [ids(store.timeline("c")), ids(thread.timeline), unreadCount, lastMessage.id];
    """
    assert await run(empty, script) == [["m3"], ["m2", "m3"], 2, "m3"]


async def test_an_answer_does_not_undo_what_was_told_since(empty: Page) -> None:
    script = """
        const store = new Store("ada");
        const liked = (...userIds) => message(1, {
          reactions: userIds.length ? [{ emoji: "+", count: userIds.length, userIds }] : [],
        });
        const list = store.timeline("c");
        list.put(liked());
        const asOf = store.now();
        store.update(liked("ada", "grace"));
        store.update(liked("ada"), asOf);
        store.addNewest(list, { messages: [liked()], nextCursor: null }, asOf);
        const before = list.get("m1").reactions[0].userIds;
        store.update(liked("ada"), store.now());
        return [before, list.get("m1").reactions[0].userIds];
    """
    assert await run(empty, script) == [["ada", "grace"], ["ada"]]


async def test_what_a_moderator_restores_is_there_again(empty: Page) -> None:
    """Whether that is told, or an answer says so that was asked for later; no repetition does."""
    script = """
        const list = (store) => store.timeline("c");
        const page = { messages: [message(1)], nextCursor: null };
        const gone = message(1, { body: "", deletedAt: "2026-01-31T10:00:00.000Z" });
        const shown = (act) => {
          const store = new Store("ada");
          const before = store.now();
          store.addNewest(list(store), { messages: [message(1)], nextCursor: null }, before);
          act(store, before);
          return list(store).get("m1").body;
        };
        return [
          shown((store) => { store.update(gone); store.update(message(1)); }),
          shown((store) => {
            store.update(gone);
            store.addNewest(list(store), page, store.now());
          }),
          shown((store) => {
            store.addNewest(list(store), { messages: [gone], nextCursor: null }, store.now());
            store.update(message(1));
          }),
          shown((store, before) => {
            store.addNewest(list(store), { messages: [gone], nextCursor: null }, store.now());
            store.addNewest(list(store), page, before);
          }),
          shown((store) => { store.update(gone); store.receive(message(1)); }),
        ];
    """
    assert await run(empty, script) == ["body 1", "body 1", "body 1", "", ""]


@pytest.mark.parametrize(
    ("act", "shown"),
    [
        # Deleted, then the list that was asked for before, or what one's own reaction answered.
        ("store.update(gone); store.addHeads(heads(message(1)), before);", ""),
        ("store.update(gone); store.setPreview('c', message(1), before);", ""),
        ("store.update(gone); store.update(message(1), before);", ""),
        ("store.update(message(1, edited)); store.addHeads(heads(message(1)), before);", "better"),
        ("store.addHeads(heads(gone), store.now()); store.update(message(1), before);", ""),
        ("store.update(message(1, edited)); store.update(message(1));", "better"),
        # What was asked for later, or is told by a moderator's restoring, is newer.
        ("store.update(gone); store.addHeads(heads(message(1)), store.now());", "body 1"),
        ("store.update(gone); store.update(message(1));", "body 1"),
        ("store.addHeads(heads(message(1, edited)), store.now());", "better"),
        ("store.update(gone); store.update(message(1)); store.update(gone, before);", "body 1"),
        ("store.addNewest(list, page, before); store.update(message(1, edited), later);", "better"),
        # Another message has a history of its own.
        ("store.update(gone); store.receive(message(2));", "body 2"),
        (
            "store.update(gone); store.receive(message(2)); "
            "store.setPreview('c', message(2, edited), before);",
            "better",
        ),
        ("store.receive(message(2)); store.setPreview('c', message(1));", "body 2"),
    ],
)
async def test_a_row_of_the_list_shows_the_newest_state_of_its_message(
    empty: Page, act: str, shown: str
) -> None:
    script = f"""
        const store = new Store("ada");
        const gone = message(1, {{ body: "", deletedAt: "2026-01-31T11:00:00.000Z" }});
        const edited = {{ body: "better", editedAt: "2026-01-31T10:00:00.000Z" }};
        const heads = (last) => {{
          return {{ conversations: [{{ id: "c" }}], lastMessages: {{ c: last }} }};
        }};
        store.setConversations([conversation("c", 0)], null, store.now());
        store.addHeads(heads(message(1)), store.now());
        const list = store.timeline("c");
        const page = {{ messages: [message(1)], nextCursor: null }};
        const [before, later] = [store.now(), store.now()];
        {act}
        return store.conversation("c").lastMessage.body;
    """
    assert await run(empty, script) == shown


async def test_a_row_that_asks_for_its_message_does_not_undo_what_was_told_since(
    empty: Page,
) -> None:
    script = """
        const { Session } = await import("/browser/session.js");
        const store = new Store("ada");
        let answer;
        const asked = new Promise((resolve) => { answer = resolve; });
        const session = new Session({ listMessages: () => asked }, store, {});
        store.setConversations([conversation("c", 0)], null, store.now());
        store.receive(message(1));
        const isShown = session.loadPreview("c");
        store.update(message(1, { body: "", deletedAt: "2026-01-31T11:00:00.000Z" }));
        answer(pageOf(1, 1, null));
        await isShown;
        const { lastMessage, hasPreview } = store.conversation("c");
        return [lastMessage.body, hasPreview];
    """
    assert await run(empty, script) == ["", True]


async def test_a_preview_follows_its_parent_also_where_that_is_not_held(empty: Page) -> None:
    script = """
        const store = new Store("ada");
        store.timeline("c");
        const replyTo = { id: "m1", senderId: "grace", excerpt: "body 1", deleted: false };
        store.receive(message(9, { replyToMessageId: "m1", replyTo }));
        const shown = () => store.timeline("c").get("m9").replyTo;
        store.update(message(1, { body: "é".repeat(141), editedAt: "2026-01-31T10:00:00.000Z" }));
        const edited = shown().excerpt;
        store.update(message(1, { body: "", deletedAt: "2026-01-31T11:00:00.000Z" }));
        return [edited, shown().excerpt, shown().deleted];
    """
    assert await run(empty, script) == ["é" * 140 + "…", "", True]


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("Luna, lunar; LUNAR", "lunar", ["lunar", "LUNAR"]),
        ("ＡＢＣ abc ﬁn", "Abc fin", ["ＡＢＣ", "abc", "ﬁn"]),
        ("Café café", "CAFÉ", ["Café", "café"]),
        ("東京都庁と京都", "京都", ["京都", "京都"]),
        ("a.b+c", "b", ["b"]),
        ("nothing", "not", ["not"]),
        ("nothing", "not ", []),
        ("Compilers decompile", "the compil", ["Compil"]),
        ("an apple", "ap", []),
    ],
)
async def test_found_terms_are_marked_as_the_service_finds_them(
    empty: Page, text: str, query: str, found: list[str]
) -> None:
    script = f"""
        const pieces = highlighted({text!r}, {query!r});
        if (pieces.map((piece) => piece.text).join("") !== {text!r}) return "changed";
        return pieces.filter((piece) => piece.isFound).map((piece) => piece.text);
    """
    assert await run(empty, script) == found


@pytest.mark.parametrize(
    ("text", "query"),
    [("@", ""), ("hi @Gra", "Gra"), ("(@Grace Ho", "Grace Ho"), ("me@home", None), ("@a\n", None)],
)
async def test_a_mention_begins_at_a_word(empty: Page, text: str, query: str | None) -> None:
    script = f"return begunAt({text!r}, {text!r}.length)?.query ?? null;"
    assert await run(empty, script) == query


async def test_a_longer_name_is_not_a_shorter_one(empty: Page) -> None:
    script = """
        const people = [{ id: "g", name: "Grace" }, { id: "h", name: "Grace Hopper (USN)" }];
        const texts = ["@Grace Hopper (USN)!", "@Grace, @Grace", "@Gracee", "x@Grace"];
        return texts.map((text) => mentionedIn(text, people));
    """
    assert await run(empty, script) == [["h"], ["g"], [], []]


async def test_an_answer_from_before_the_end_of_a_login_does_not_count(empty: Page) -> None:
    script = """
        const store = new Store("ada");
        const asOf = store.now();
        store.putConversation(conversation("a", 1));
        store.clear();
        const counts = [store.conversations.length];
        store.setConversations([conversation("a", 1)], null, asOf);
        store.addConversations([conversation("b", 1)], null, asOf);
        store.putConversation(conversation("c", 1), asOf);
        counts.push(store.conversations.length);
        store.setConversations([conversation("a", 1)], null, store.now());
        return [...counts, store.conversations.length];
    """
    assert await run(empty, script) == [0, 0, 1]
