"""What a host's page holds of messages is bounded, however long it stays and whatever comes."""

from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.browser.acting import become, stop_time
from tests.browser.conftest import Visit
from tests.browser.embedding import MADE
from tests.browser.embedding import ada as ada
from tests.browser.hosting import Host
from tests.browser.serving import Demo
from tests.browser.test_element_threads import LIVE, MADE_IN_DEMO
from tests.browser.test_window_races import SERVICE
from tests.browser.test_windows import numbers_in, written_in

pytestmark = pytest.mark.asyncio(loop_scope="session")

HELPERS = """
    const begun = async (count) => {
      service.conversations = many(count);
      service.newest = 50;
      const { listMessages } = service;
      service.listMessages = async (id, page) => {
        const found = await listMessages.call(service, id, page);
        const here = (row) => ({ ...row, id: `${id} ${row.id}`, conversationId: id });
        return { ...found, messages: found.messages.map(here) };
      };
      const shown = new ChatStore(service, { userId: "ada", hasInbox: true });
      shown.start();
      service.handlers.onOpen();
      for (let isListed = false; !isListed; isListed = shown.state().isListed) await turn();
      return shown;
    };
    const come = (from, to, more = {}) => {
      for (let seq = from; seq <= to; seq += 1) {
        const sent = message(seq, { conversationId: "c0", ...more });
        service.handlers.onEvent({ type: "message.created", message: sent });
      }
    };
    const heldIn = (shown, id = "c0") => shown.timeline(id).messages;
"""


async def run(page: Page, script: str) -> Any:
    return await page.evaluate(f"async () => {{ {SERVICE} {HELPERS} {script} }}")


@pytest.mark.parametrize(
    "reading",
    ["shown.setViewing(true)", "shown.setViewing(false, { isAtEnd: true })"],
    ids=["before the reader's eyes", "in a hidden tab"],
)
async def test_at_the_end_of_a_list_the_oldest_messages_are_let_go(
    empty: Page, reading: str
) -> None:
    script = f"""
        const shown = await begun(1);
        await shown.open("c0");
        {reading};
        come(51, 3_000);
        await turn();
        const {{ hasOlder }} = shown.timeline("c0");
        const found = [heldIn(shown).length, heldIn(shown).at(-1).seq, hasOlder];
        shown.close();
        return found;
    """
    count, last, has_older = await run(empty, script)
    assert count <= 400
    assert (last, has_older) == (3_000, True)


async def test_who_is_not_at_the_end_keeps_what_is_looked_at_for_long(empty: Page) -> None:
    """Not for ever: a page may be left like that for a week."""
    script = """
        const shown = await begun(1);
        await shown.open("c0");
        shown.setViewing(false);
        come(51, 2_050);
        await turn();
        const first = heldIn(shown)[0].seq;
        const counts = [];
        for (let from = 2_051; from < 12_000; from += 50) {
          come(from, from + 49);
          await turn();
          counts.push(heldIn(shown).length);
        }
        const found = [first, counts, heldIn(shown).at(-1).seq];
        shown.close();
        return found;
    """
    first, counts, last = await run(empty, script)
    assert (first, last) == (1, 12_000)
    assert max(counts) < 2_500
    assert max(counts[20:]) > 2_000, "and again for as long"


async def test_a_list_that_is_not_open_any_more_is_bounded(empty: Page) -> None:
    """Also one that was left while older messages were looked at."""
    script = """
        const shown = await begun(2);
        await shown.open("c0");
        shown.setViewing(false);
        come(51, 1_000);
        await shown.open("c1");
        come(1_001, 1_001);
        await turn();
        const found = heldIn(shown).length;
        shown.close();
        return found;
    """
    assert await run(empty, script) <= 400


async def test_a_thread_is_bounded_and_reaches_the_newest_reply(empty: Page) -> None:
    script = """
        const shown = await begun(1);
        const inThread = { threadRootMessageId: "c0 m1" };
        service.listThread = async () => ({ messages: [message(51, inThread)], nextCursor: null });
        service.getMessage = async () => message(1, { id: "c0 m1", conversationId: "c0" });
        await shown.open("c0");
        await shown.openThread("c0 m1");
        for (let isLoaded = false; !isLoaded; isLoaded = shown.thread().isLoaded) await turn();
        const seqs = () => shown.thread().messages.map((message) => message.seq);
        shown.setThreadReading(false);
        come(52, 1_000, inThread);
        await turn();
        const kept = [seqs()[0], seqs().at(-1)];
        shown.setThreadReading(false, { isAtEnd: true });
        come(1_001, 2_000, inThread);
        await turn();
        const found = [kept, seqs().length, seqs().at(-1)];
        shown.setThreadReading(false);
        come(2_001, 3_000, inThread);
        shown.closeThread();
        await shown.openThread("c0 m1");
        come(3_001, 3_001, inThread);
        await turn();
        const left = seqs().length;
        shown.close();
        return [...found, left];
    """
    kept, count, last, left = await run(empty, script)
    assert kept == [51, 1_000]
    assert count <= 400
    assert last == 2_000
    assert left <= 400


async def test_what_was_told_of_messages_that_are_let_go_is_forgotten(empty: Page) -> None:
    """No request is on its way, so no answer is older than what was told."""
    script = """
        const { Timeline } = await import("/browser/timeline.js");
        const timeline = new Timeline("ada", { now: () => 1 });
        timeline.isStale = false;
        timeline.addNewest({ messages: [message(1)], nextCursor: null });
        timeline.update(message(1, { editedAt: "2026-01-31T09:30:00.000Z", body: "told" }));
        for (let seq = 2; seq <= 500; seq += 1) timeline.receive(message(seq));
        const isLetGo = !timeline.has("m1");
        timeline.addOlder({ messages: [message(1)], nextCursor: null });
        return [isLetGo, timeline.get("m1").body];
    """
    assert await run(empty, script) == [True, "body 1"]


async def test_what_was_shown_of_lists_that_are_let_go_is_let_go(empty: Page) -> None:
    """Twelve lists are held. Once the store is closed nothing is kept of what was shown."""
    script = """
        const shown = await begun(40);
        const shownOnce = [];
        for (let number = 0; number < 40; number += 1) {
          await shown.open(`c${number}`);
          await turn();
          shownOnce.push(new WeakRef(heldIn(shown, `c${number}`)));
        }
        window.alive = () => shownOnce.filter((reference) => reference.deref()).length;
        window.shown = shown;
    """
    session = await empty.context.new_cdp_session(empty)
    await run(empty, script)
    await session.send("HeapProfiler.collectGarbage")
    assert await empty.evaluate("alive()") <= 13
    await empty.evaluate("shown.close()")
    await session.send("HeapProfiler.collectGarbage")
    assert await empty.evaluate("alive()") == 0


async def test_in_a_hidden_tab_the_element_is_as_large_as_in_one_that_is_seen(
    demo: Demo, open_page: Visit
) -> None:
    place = await demo.direct("linus", "dennis")
    page = await open_page()
    await page.goto(f"http://127.0.0.1:{demo.port}/people")
    await page.evaluate(MADE_IN_DEMO, ["linus", place])
    await page.wait_for_function(LIVE)
    # Otherwise it would begin at the first unread message.
    await expect(page.get_by_text("This is the beginning of")).to_be_attached()
    await become(page, "hidden")
    await written_in(demo, place)
    log = page.get_by_role("log", name="Messages")
    await expect(log.get_by_text("number 559", exact=True)).to_be_in_viewport()
    assert (await numbers_in(log))[0] > 150


async def test_a_hidden_tab_is_drawn_once_for_several_events(host: Host, ada: Page) -> None:
    """What it knows is up to date, and a tab that becomes visible is drawn at once."""
    chat = "document.querySelector('chat-aio')"
    totals = "() => heard.filter(([type]) => type === 'chat-aio:unread').map(([, it]) => it.total)"
    async with host.person("grace") as grace:
        group = await grace.create_group_conversation(user_ids=["ada"], name="Engines")
        await grace.send_message(group.id, "first")
        await ada.evaluate(MADE, [{"user": "ada"}, {}])
        await expect(ada.get_by_role("link", name="Engines")).to_contain_text("1")
        await ada.wait_for_function(f"{chat}.store.state().status === 'live'")
        await stop_time(ada)
        await become(ada, "hidden")
        for count in (2, 3, 4):
            await grace.send_message(group.id, f"message {count}")
            await ada.wait_for_function(f"{chat}.store.state().unread === {count}")
        assert (await ada.evaluate(totals))[-1] == 1
        await ada.clock.run_for(300)
        assert (await ada.evaluate(totals))[-2:] == [1, 4]
        await grace.send_message(group.id, "the last one")
        await ada.wait_for_function(f"{chat}.store.state().unread === 5")
        await become(ada, "visible")
        assert (await ada.evaluate(totals))[-2:] == [4, 5]
