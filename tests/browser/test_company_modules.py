"""The modules behind presence, receipts and readings, where the order of events matters."""

import pytest
from playwright.async_api import Page

from tests.browser.test_modules import run

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_presence_is_asked_for_in_parts_and_once(empty: Page) -> None:
    script = """
        const { Presence } = await import("/browser/presence.js");
        const store = new Store("ada");
        const asked = [];
        const answers = [];
        const getPresence = (ids) => {
          asked.push(ids.length);
          return new Promise((resolve) => answers.push(resolve));
        };
        const presence = new Presence({ getPresence }, store);
        const ids = Array.from({ length: 60 }, (_, index) => `user ${index}`);
        presence.watch("list", [...ids.slice(0, 40), "ada"]);
        presence.watch("members", ids.slice(30));
        const early = asked.length;
        store.set({ status: "live" });
        presence.becomeStale();
        const at = "2026-01-31T09:30:00.000Z";
        const told = { senderId: "user 1", payload: { online: false, lastSeenAt: at } };
        presence.receive({ type: "presence.offline", ...told });
        const here = { online: true, lastSeenAt: at };
        answers[0]({ "user 0": here, "user 1": here });
        await new Promise((resolve) => setTimeout(resolve));
        answers[1]({});
        presence.watch("list", ids.slice(0, 40));
        const isOnline = (id) => presence.of(id).online;
        const online = ["ada", "user 0", "user 1", "user 2"].map(isOnline);
        store.set({ status: "reconnecting" });
        return [early, asked, online, isOnline("user 0")];
    """
    found = await run(empty, script)
    assert found == [0, [50, 10], [True, True, False, False], False]


async def test_receipts_count_each_reader_once_and_never_back(empty: Page) -> None:
    script = """
        const { Receipts } = await import("/browser/receipts.js");
        const store = new Store("ada");
        const receipts = new Receipts({ getMessage: async () => { throw new Error(); } }, store);
        const group = (lastReadMessageId) => ({
          ...conversation("c", 0), type: "group",
          participants: ["ada", "grace", "linus"].map((userId) => ({ userId, lastReadMessageId })),
        });
        store.putConversation(group(null));
        const words = [];
        const say = () => words.push(
          [2, 3].map((seq) => {
            const { mark, count } = receipts.standingIn(store.conversation("c"))(message(seq));
            return mark && [mark, count];
          }),
        );
        const tell = (type, senderId, seq) => {
          const payload = { messageId: `m${seq}` };
          receipts.receive({ type: `receipt.${type}`, conversationId: "c", senderId, payload });
        };
        store.timeline("c");
        for (const seq of [1, 2, 3]) store.receive(message(seq, { senderId: "ada" }));
        for (const user of ["grace", "grace"]) tell("delivered", user, 3);
        say();
        tell("read", "grace", 4);
        say();
        tell("read", "grace", 2);
        tell("read", "grace", 1);
        say();
        tell("read", "linus", 4);
        store.receive(message(4));
        say();
        store.putConversation(group("m9"));
        say();
        return words;
    """
    found = await run(empty, script)
    delivered, read_by_one, read_by_both = ["delivered", 1], ["read", 1], ["read", 2]
    assert found == [
        [None, delivered],
        [None, delivered],
        [read_by_one, delivered],
        [read_by_both, read_by_one],
        [read_by_both, read_by_one],
    ]


async def test_a_window_that_reads_is_not_told_what_it_has_read(empty: Page) -> None:
    """Else a count that stays above zero would be answered by reading again, without an end."""
    script = """
        const { Session } = await import("/browser/session.js");
        const store = new Store("ada");
        let handlers;
        const answers = {
          stream: (given) => { handlers = given; return { close() {} }; },
          getConversation: async (id) => conversation(id, 3),
          listConversations: () => new Promise(() => {}),
        };
        const chat = new Proxy(answers, { get: (all, name) => all[name] ?? (async () => ({})) });
        const session = new Session(chat, store, { onGone() {}, onJoinRequest() {} });
        session.start();
        for (const id of ["c", "d"]) store.putConversation(conversation(id, 7));
        store.set({ openId: "c", isReading: true });
        for (const conversationId of ["c", "d"]) {
          handlers.onEvent({ type: "read.updated", conversationId, unreadCount: 2 });
        }
        const counts = () => ["c", "d"].map((id) => store.conversation(id).unreadCount);
        const told = counts();
        // It may be older than a message that came before it: the service is asked.
        await new Promise((resolve, reject) => {
          setTimeout(() => reject(new Error("not asked within 30 seconds")), 30_000);
          store.subscribe(() => store.conversation("d").unreadCount === 3 && resolve());
        });
        return [told, counts()];
    """
    assert await run(empty, script) == [[7, 2], [7, 3]]


async def test_names_that_did_not_come_are_asked_for_again(empty: Page) -> None:
    """A while later, together with those that are wanted meanwhile; of a service that has none to
    show they are asked for once."""
    script = """
        const { Users } = await import("/browser/users.js");
        const waiting = [];
        globalThis.setTimeout = (work, ms) => waiting.push([work, ms]);
        const pass = async () => {
          const [[work, ms]] = waiting.splice(0, 1);
          work();
          await new Promise(requestAnimationFrame);
          return ms;
        };
        const asked = [];
        let status = 503;
        let changes = 0;
        const findUsers = async ({ ids }) => {
          asked.push(ids);
          const isTemporary = status === 503;
          if (status !== 200) throw Object.assign(new Error("no"), { status, isTemporary });
          return ids.map((id) => ({ id, name: `${id}!`, avatarUrl: null, isBot: false }));
        };
        const users = new Users({ findUsers }, () => { changes += 1; });
        const before = [users.get("grace"), users.get("grace")];
        const pauses = [await pass()];
        status = 200;
        users.get("linus");
        pauses.push(await pass());
        pauses.push(await pass());
        const names = ["grace", "linus"].map((id) => users.get(id).name);
        status = 501;
        const none = new Users({ findUsers }, () => {});
        none.get("ada");
        await pass();
        none.get("dennis");
        while (waiting.length > 0) await pass();
        const isSame = before[0] === before[1] && before[0].name === "grace";
        return [asked, pauses, names, changes, isSame];
    """
    asked, pauses, names, changes, is_same = await run(empty, script)
    assert asked == [["grace"], ["grace", "linus"], ["ada"]]
    assert pauses == [20, pauses[1], 20]
    assert 500 <= pauses[1] <= 1_000
    assert (names, changes, is_same) == (["grace!", "linus!"], 1, True)
