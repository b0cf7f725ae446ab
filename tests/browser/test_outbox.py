"""What is on its way: in order within a conversation, whatever fails in between. The service is one
of the page's own here."""

from typing import Any

import pytest
from playwright.async_api import Page

from tests.browser.waiting import TIMERS, WAITING

pytestmark = pytest.mark.asyncio(loop_scope="session")

SERVICE = """
    const { ChatError } = await import("/browser/chat.js");
    const { Sender } = await import("/browser/sender.js");
    const { Store } = await import("/browser/store.js");
    const stored = [];
    const asked = [];
    const refused = [];
    const refusals = new Map();
    const slow = new Map();
    const refuse = (status, ...bodies) => {
      for (const body of bodies) refusals.set(body, { status, code: `E${status}`, message: "no" });
    };
    const chat = {
      async sendMessage(conversationId, { body, clientMessageId }) {
        asked.push(body);
        await slow.get(body);
        if (refusals.has(body)) throw new ChatError(refusals.get(body));
        stored.push(body);
        const seq = stored.length;
        return { id: `m${seq}`, seq, conversationId, senderId: "ada", body, clientMessageId };
      },
    };
    const store = new Store("ada");
    const sender = new Sender(chat, store, ({ body }, { code }) => refused.push([body, code]));
    const send = (...bodies) => bodies.map((body) => sender.send("c", { body }));
    const turn = () => new Promise((resolve) => setTimeout(resolve));
    const shown = () => store.outbox.map(({ body, state }) => `${body} ${state}`);
"""


async def run(page: Page, script: str) -> Any:
    return await page.evaluate(f"async () => {{ {SERVICE} {script} }}")


async def test_what_follows_a_failure_that_passes_waits_for_it(empty: Page) -> None:
    """In its conversation, threads included, and nowhere else. It was not refused itself."""
    script = """
        refuse(503, "A");
        send("A", "B");
        sender.send("c", { body: "reply", threadRootMessageId: "m0" });
        sender.send("d", { body: "elsewhere" });
        await turn();
        const held = [[...asked], [...stored], shown(), refused];
        const problems = store.outbox.map(({ problem }) => problem.code);
        const areWaiting = store.outbox.every((draft) => draft.state === "waiting");
        refusals.clear();
        sender.retryAll();
        await turn();
        return [...held, problems, areWaiting, stored, shown()];
    """
    assert await run(empty, script) == [
        ["A", "elsewhere"],
        ["elsewhere"],
        ["A waiting", "B waiting", "reply waiting"],
        [["A", "E503"]],
        ["E503", "E503", "E503"],
        True,
        ["elsewhere", "A", "B", "reply"],
        [],
    ]


@pytest.mark.parametrize(
    ("act", "order"),
    [
        ("sender.retry(a)", ["A", "B"]),
        ("sender.retry(b)", ["A", "B"]),
        ("sender.discard(a)", ["B"]),
        ("sender.takeBack(a)", ["B"]),
        ("send('C')", ["A", "B", "C"]),
        ("sender.discard(b)", []),
    ],
)
async def test_it_goes_on_where_it_stopped(empty: Page, act: str, order: list[str]) -> None:
    script = f"""
        refuse(503, "A");
        const [a, b] = send("A", "B");
        await turn();
        refusals.clear();
        {act};
        await turn();
        return stored;
    """
    assert await run(empty, script) == order


async def test_it_is_tried_again_while_the_stream_is_open(empty: Page) -> None:
    """Without one, opening it has everything sent that waits."""
    script = """
        const found = [];
        for (const status of ["reconnecting", "live"]) {
          store.set({ status });
          refuse(503, status);
          send(status, `${status}, too`);
          await turn();
          refusals.clear();
          for (let times = 0; times < 3; times += 1) await elapse();
          found.push([...stored]);
          sender.retryAll();
          await turn();
        }
        return found;
    """
    both = ["reconnecting", "reconnecting, too"]
    assert await run(empty, WAITING + TIMERS + script) == [[], [*both, "live", "live, too"]]


async def test_what_is_refused_for_good_holds_nothing(empty: Page) -> None:
    script = """
        refuse(422, "A");
        const [a] = send("A", "B");
        await turn();
        const seen = [stored.join(), shown(), refused];
        refusals.clear();
        sender.retryAll();
        await turn();
        seen.push(stored.join());
        sender.retry(a);
        await turn();
        return [...seen, stored.join()];
    """
    assert await run(empty, script) == ["B", ["A failed"], [["A", "E422"]], "B", "B,A"]


async def test_who_is_told_of_a_refusal_may_take_it_back(empty: Page) -> None:
    script = """
        refuse(429, "A");
        const taken = [];
        const eager = new Sender(chat, store, ({ clientMessageId }) => {
          taken.push(eager.takeBack(clientMessageId).body);
        });
        for (const body of ["A", "B"]) eager.send("c", { body });
        await turn();
        return [taken, stored, shown()];
    """
    assert await run(empty, script) == [["A"], ["B"], []]


@pytest.mark.parametrize("lost", [False, True])
async def test_what_waits_when_it_is_closed_is_sent_once_it_is_open_again(
    empty: Page, lost: bool
) -> None:
    """Behind a slow one that was asked for before, in its order, even if the answer to that one
    is lost."""
    script = f"""
        let answer;
        slow.set("A", new Promise((resolve) => {{ answer = resolve; }}));
        send("A", "B");
        sender.close();
        sender.open();
        sender.retryAll();
        await turn();
        const before = [[...asked], shown()];
        if ({str(lost).lower()}) refuse(0, "A");
        answer();
        slow.set("A", Promise.resolve().then(() => refusals.clear()));
        await turn();
        return [...before, stored, shown(), refused];
    """
    before = [["A"], ["A pending", "B pending"]]
    assert await run(empty, script) == [*before, ["A", "B"], [], []]


async def test_nothing_is_sent_while_it_is_closed(empty: Page) -> None:
    script = """
        sender.close();
        send("A", "B");
        await turn();
        const states = shown();
        sender.retryAll();
        await turn();
        const before = [...asked];
        sender.open();
        await turn();
        return [states, before, stored, refused];
    """
    assert await run(empty, script) == [["A waiting", "B waiting"], [], ["A", "B"], []]


async def test_what_arrived_though_its_answer_was_lost_holds_nothing(empty: Page) -> None:
    script = """
        refuse(0, "A");
        let lose;
        slow.set("A", new Promise((resolve) => { lose = resolve; }));
        const [clientMessageId] = send("A", "B");
        store.receive({ id: "m0", seq: 1, conversationId: "c", senderId: "ada", clientMessageId });
        lose();
        await turn();
        return [stored, shown(), refused];
    """
    assert await run(empty, script) == [["B"], [], []]


async def test_what_was_given_up_before_its_turn_is_not_sent(empty: Page) -> None:
    script = """
        const [, b] = send("A", "B");
        sender.discard(b);
        await turn();
        return [stored, shown()];
    """
    assert await run(empty, script) == [["A"], []]
