"""The modules behind groups by themselves, where answers and events overtake each other."""

import pytest
from playwright.async_api import Page

from tests.browser.acting import stop_time
from tests.browser.test_modules import run

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_answer_does_not_undo_who_has_come_and_gone_since(empty: Page) -> None:
    script = """
        const store = new Store("ada");
        const group = (name, more = {}) => ({ ...conversation("g", 0), name, ...more });
        // Events have no count.
        const shown = (name) => group(name, { unreadCount: undefined });
        store.receiveConversation({ conversation: shown("first") });
        const asOf = store.now();
        store.receiveConversation({ conversation: shown("second") });
        store.putConversation(group("late", { unreadCount: 3 }), asOf);
        const { name, unreadCount } = store.conversation("g");
        store.removeConversation("g");
        store.putConversation(group("late"), asOf);
        store.setConversations([group("late"), conversation("c", 0)], null, asOf);
        const left = store.conversations.map(({ id }) => id);
        store.receiveConversation({ conversation: shown("back") });
        return [name, unreadCount, left, store.conversation("g").name];
    """
    assert await run(empty, script) == ["second", 3, ["c"], "back"]


async def test_pages_of_a_list_join_and_only_the_last_answer_counts(empty: Page) -> None:
    script = """
        const { Paged } = await import("/browser/paged.js");
        const answers = [];
        const load = () => new Promise((resolve) => answers.push(resolve));
        const list = new Paged({ load, keyOf: (item) => item, changed: () => {} });
        const answer = (index, items, nextCursor) => answers[index]({ items, nextCursor });
        const held = [];
        const first = list.reload();
        const second = list.reload();
        answer(1, ["a", "b"], "further");
        answer(0, ["old"], null);
        await Promise.all([first, second]);
        held.push(list.items);
        const third = list.more();
        answer(2, ["b", "c"], null);
        await third;
        held.push(list.items);
        const fourth = list.reload();
        list.drop("a");
        answer(3, ["a", "b", "c"], null);
        answer(4, ["b", "c"], null);
        await fourth;
        held.push(list.items);
        return held;
    """
    found = await run(empty, script)
    assert found == [["a", "b"], ["a", "b", "c"], ["b", "c"]]


async def test_more_of_a_list_follows_what_comes_anew(empty: Page) -> None:
    """Once, and what was asked for while more comes is that."""
    script = """
        const { Paged } = await import("/browser/paged.js");
        const answers = [];
        const asked = [];
        const load = ({ cursor }) => {
          asked.push(cursor);
          return new Promise((resolve) => answers.push(resolve));
        };
        const list = new Paged({ load, keyOf: (item) => item, changed: () => {} });
        const first = list.reload();
        list.more();
        list.more();
        answers[0]({ items: ["a"], nextCursor: "b" });
        while (asked.length < 2) await null;
        list.more();
        answers[1]({ items: ["b"], nextCursor: "c" });
        await first;
        const shown = [[...list.items]];
        const third = list.more();
        const anew = list.refresh();
        answers[2]({ items: ["c"], nextCursor: null });
        answers[3]({ items: ["a", "b"], nextCursor: "c" });
        while (asked.length < 5) await null;
        answers[4]({ items: ["c"], nextCursor: null });
        await Promise.all([third, anew]);
        return [asked, ...shown, list.items, list.isLoading];
    """
    asked = [None, "b", "c", None, "c"]
    assert await run(empty, script) == [asked, ["a", "b"], ["a", "b", "c"], False]


async def test_who_waits_in_many_groups_has_one_timer(empty: Page) -> None:
    """It runs as long as one waits anywhere; a group that is not slow any more has no wait."""
    await stop_time(empty)
    script = """
        const { SlowModeTimer } = await import("/browser/slow-mode-timer.js");
        let ticks = 0;
        globalThis.ticks = () => ticks;
        const waits = globalThis.waits = new SlowModeTimer(() => { ticks += 1; });
        for (const id of ["a", "b", "c"]) waits.begin(id, 3);
        const slow = (id, slowModeSeconds = 60) => waits.in({ id, slowModeSeconds });
        return [ticks, slow("a"), slow("a", 2), slow("a", 0), slow("d"), waits.in({ id: "a" })];
    """
    nothing = {"seconds": 0, "isOver": False}
    waiting = [{"seconds": value, "isOver": False} for value in (3, 2)]
    assert await run(empty, script) == [3, *waiting, nothing, nothing, nothing]
    await empty.clock.run_for(2_000)
    assert await run(empty, "return ticks()") == 5
    await empty.clock.run_for(60_000)
    found = "waits.end('b'); return ['a', 'b'].map((id) => waits.in({ id, slowModeSeconds: 60 }))"
    assert await run(empty, "return ticks()") == 6
    assert await run(empty, found) == [{"seconds": 0, "isOver": True}, nothing]
