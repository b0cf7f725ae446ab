"""chat.js by itself, as a host copies it: every route, its types, sending, the stream."""

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect
from pydantic.alias_generators import to_camel

from chat_aio.actions.api import (
    ConversationsAPI,
    InboxAPI,
    ModerationAPI,
    ModerationToolsAPI,
    RoomsAPI,
    ServerAPI,
)
from chat_aio.plugins import (
    Attachments,
    Drafts,
    Filter,
    Notifications,
    Presence,
    Receipts,
    Typing,
)
from chat_aio.schema import inbox, models, moderation_tools, wire
from chat_aio.web.browser_files import BROWSER
from chat_aio.web.optional_routes import routes_with
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo
from tests.support.conforming import EVERYTHING

pytestmark = pytest.mark.asyncio(loop_scope="session")

CHAT_JS = (BROWSER / "chat.js").read_text()
COPIED = {
    name: (BROWSER / name).read_text()
    for name in ("fetch-stream.js", "push.js", "shared-stream.js")
}
DOCS = Path(__file__).parents[2] / "docs"
GUIDES = ("pages", "react", "chat-js")
GUIDE = "\n".join((DOCS / f"guides/{name}.md").read_text() for name in GUIDES)
SHAPES_OF_THE_WIRE = 35
PLUGINS = (
    *(Typing(), Presence(), Receipts(), Filter(), Notifications()),
    *(Drafts(), Attachments()),
)
IN_PROCESS = {
    "createGroup",
    "findConversation",
    "findConversations",
    "getOrCreateGroup",
    "setMetadata",
}
NOT_IN_HTTP = {"moderation", "listMessagesAfter", *IN_PROCESS}
"""`list_messages_after` has no route."""

HELPERS = """
    const { Chat, ChatError } = await import("/browser/chat.js");
    const asked = [];
    const answer = (status, body, headers) =>
      new Response(JSON.stringify(body), { status, headers });
    const answers = [];
    const fetch = async (url, options) => {
      asked.push({ url: new URL(url), ...options });
      return (answers.shift() ?? (() => answer(200, {})))();
    };
    const sources = [];
    class Source extends EventTarget {
      constructor(url) { super(); Object.assign(this, { url, readyState: 1 }); sources.push(this); }
      close() { this.readyState = 2; }
      tell(type, lastEventId, data) {
        const given = { lastEventId, data: JSON.stringify({ type, ...data }) };
        this.dispatchEvent(new MessageEvent(type, given));
      }
      refuse() { this.close(); this.dispatchEvent(new Event("error")); }
    }
    const waits = [];
    const ready = [];
    const run = globalThis.setTimeout;
    globalThis.setTimeout = (act, ms) => { waits.push(ms); ready.push(act); return ready.length; };
    globalThis.clearTimeout = (id) => { ready[id - 1] = () => {}; };
    Math.random = () => 1;
    const moment = () => new Promise((resolve) => run(resolve, 0));
"""


async def try_out(empty: Page, script: str) -> Any:
    return await empty.evaluate(f"async () => {{ {HELPERS} {script} }}")


async def test_every_route_has_its_method(empty: Page) -> None:
    script = """
        const answering = (...given) => {
          answers.push(() => answer(200, { unmuted: {} }));
          return fetch(...given);
        };
        const chat = new Chat("http://chat/", { fetch: answering, EventSource: Source });
        const { moderation, rooms, inbox, moderationTools, drafts } = chat;
        const { attachments, conversations } = chat;
        const { enablePush, disablePush, ...notifications } = chat.notifications;
        const apis = [chat, moderation, rooms, inbox, moderationTools, drafts];
        apis.push(notifications, attachments, conversations);
        const methods = apis.flatMap(Object.values);
        for (const method of methods) {
          // An array of one reads as its only element wherever a text is expected.
          const isRoute = method instanceof Function && method !== chat.signedOut;
          if (isRoute) await method(["{}"], ["{}"], ["{}"]);
        }
        await moment();
        for (const { url } of sources) asked.push({ method: "GET", url });
        return asked.map(({ method, url }) => [method, decodeURIComponent(url.pathname)]);
    """
    asked = [tuple(request) for request in await try_out(empty, script)]
    routes = [
        *routes_with(EVERYTHING, PLUGINS, can_delete=True),
        *(route for plugin in PLUGINS for route in plugin.routes),
    ]
    expected = [(route.method, re.sub(r"\{\w+\}", "{}", route.path)) for route in routes]
    assert sorted(asked) == sorted(expected)


async def test_conversations_are_listed_by_metadata_and_ids(empty: Page) -> None:
    script = """
        const chat = new Chat("http://chat/", { fetch });
        const metadata = { orderId: 7, "is open": true };
        await chat.listConversations({ metadata, ids: ["a", "b"], limit: 5 });
        return Object.fromEntries(asked[0].url.searchParams);
    """
    assert await try_out(empty, script) == {
        "metadata.orderId": "7",
        "metadata.is open": "true",
        "ids": "a,b",
        "limit": "5",
    }


async def test_methods_are_named_as_in_the_server_api(empty: Page) -> None:
    script = """
        const chat = new Chat();
        const rooms = ["updateConversation", ...Object.keys(chat.rooms)];
        const { moderation, inbox, moderationTools } = chat;
        return [Object.keys(chat), Object.keys(moderation), rooms, Object.keys(inbox),
          Object.keys(moderationTools), [...Object.keys(chat), ...Object.keys(chat.conversations)]];
    """
    apis = (ServerAPI, ModerationAPI, RoomsAPI, InboxAPI, ModerationToolsAPI, ConversationsAPI)
    for found, api in zip(await try_out(empty, script), apis, strict=True):
        named = {to_camel(name) for name in vars(api) if not name.startswith("_")}
        assert named - NOT_IN_HTTP <= set(found)


SHAPES = {
    match["name"]: set(re.findall(r"(\w+)\??:", match["body"]))
    for match in re.finditer(r"@typedef \{(?P<body>[^@]*?)\} (?P<name>\w+)", CHAT_JS)
}
WIRE = {
    name: model
    for name, model in (vars(models) | vars(inbox) | vars(moderation_tools)).items()
    if inspect.isclass(model) and issubclass(model, wire.Wire) and name in SHAPES
}


async def test_types_have_the_fields_of_the_wire() -> None:
    shapes = {**SHAPES, "ConversationWithUnread": SHAPES["Conversation"] | {"unreadCount", "view"}}
    named = {
        name: {to_camel(model_field) for model_field in model.model_fields}
        for name, model in WIRE.items()
    }
    named["Participant"] = {to_camel(field.name) for field in fields(models.Participant)}
    assert {name: shapes[name] for name in named} == named
    assert len(named) == SHAPES_OF_THE_WIRE


async def test_it_can_be_copied_with_the_files_that_it_imports() -> None:
    """These import nothing."""
    assert re.findall(r'^import .* from "\./(.*)";$', CHAT_JS, re.MULTILINE) == [*COPIED]
    for text in (re.sub(r"^import .*\n", "", CHAT_JS, flags=re.MULTILINE), *COPIED.values()):
        assert not re.search(r"^\s*(import|export .* from)\b", text, re.MULTILINE)
        assert "import(" not in text


async def test_a_send_that_may_have_arrived_is_repeated_under_its_key(empty: Page) -> None:
    script = """
        const chat = new Chat("/api/chat", { fetch });
        const busy = (seconds) => () =>
          answer(503, { error: { code: "BUSY", message: "busy" } }, { "Retry-After": seconds });
        const lost = () => { throw new TypeError("lost"); };
        const turns = async (sent) => {
          let isOver = false;
          const over = sent.then((made) => made?.id, (error) => `${error.status} ${error.code}`);
          over.then(() => { isOver = true; });
          while (!isOver) { await moment(); ready.splice(0).forEach((act) => act()); }
          return [await over, waits.splice(0)];
        };
        const stored = () => answer(201, { message: { id: "m" } });
        const refused = () => answer(422, { error: { code: "NO", message: "no" } });
        const outcomes = [];
        for (const given of [
          [lost, busy("2"), stored], [lost, lost, lost], [refused], [busy("60")], [stored],
        ]) {
          answers.splice(0, Infinity, ...given);
          const keys = asked.length;
          const sent = chat.sendMessage("c", { body: "hi" });
          outcomes.push(await turns(sent));
          const used = asked.slice(keys).map(({ body }) => JSON.parse(body).clientMessageId);
          outcomes.at(-1).push(used.length, new Set(used).size, used[0].length);
        }
        const all = new Set(asked.map(({ body }) => JSON.parse(body).clientMessageId));
        return [outcomes, all.size];
    """
    outcomes, keys = await try_out(empty, script)
    assert outcomes == [
        ["m", [400, 2_000], 3, 1, 32],
        ["0 UNREACHABLE", [400, 1_200], 3, 1, 32],
        ["422 NO", [], 1, 1, 32],
        ["503 BUSY", [], 1, 1, 32],
        ["m", [], 1, 1, 32],
    ]
    assert keys == len(outcomes)


async def test_only_what_is_safe_is_repeated_and_every_failure_is_told(empty: Page) -> None:
    script = """
        const told = [];
        const onError = ({ code, isTemporary }) => told.push([code, isTemporary]);
        const chat = new Chat("/api/chat", { fetch, onError });
        const failing = (status) => () => answer(status, { error: { code: status, message: "" } });
        answers.push(failing(503), failing(501), failing(403), () => new Response("<html>"));
        for (const _ of [1, 2, 3, 4]) {
          const caught = await chat.createInvite("c").catch((error) => error);
          if (!(caught instanceof ChatError)) told.push("resolved");
        }
        return [told, asked.length];
    """
    told = [[503, True], [501, False], [403, False], ["UNEXPECTED_ANSWER", True]]
    assert await try_out(empty, script) == [told, len(told)]


async def test_who_is_calling_goes_with_requests_and_the_stream(empty: Page) -> None:
    script = """
        let turn = 0;
        const chat = new Chat("/api/chat", {
          ...{ fetch, EventSource: Source },
          token: async () => `t${(turn += 1)}`,
          headers: { "X-CSRF": "c" },
          query: () => ({ tenant: "a b" }),
        });
        await chat.getMessage("a/b", "ü");
        chat.stream();
        await moment();
        sources[0].refuse();
        ready.pop()();
        await moment();
        const [{ url, headers }] = asked;
        return [url.pathname, url.search, headers, ...sources.map((source) => source.url.search)];
    """
    assert await try_out(empty, script) == [
        *("/api/chat/conversations/a%2Fb/messages/%C3%BC", "?tenant=a+b"),
        {"Authorization": "Bearer t1", "X-CSRF": "c"},
        *[f"?access_token={token}&heartbeat=event&tenant=a+b" for token in ("t2", "t3")],
    ]


async def test_a_refused_stream_comes_back_at_its_position(empty: Page) -> None:
    script = """
        const told = [];
        const stream = new Chat("/api/chat", { EventSource: Source }).stream({
          onStatus: (status) => told.push(status),
          onEvent: ({ type }) => told.push(type),
          onOpen: () => told.push("open"),
          onReset: ({ reason }) => told.push(reason),
          onRefused: () => told.push("refused"),
          types: ["poll.opened"],
        });
        await moment();
        const [first] = sources;
        first.dispatchEvent(new Event("open"));
        for (const id of ["m8", "m8"]) first.tell("message.created", "c:8", { message: { id } });
        first.tell("message.updated", "c:1", { message: { id: "m1" } });
        first.tell("poll.opened", "c:8");
        first.tell("stream.reset", "", { reason: "too_many_missed" });
        first.dispatchEvent(new Event("error"));
        first.refuse();
        for (let number = 0; number < 6; number += 1) {
          ready.at(-1)();
          await moment();
          sources.at(-1).refuse();
        }
        stream.reconnect();
        await moment();
        sources.at(-1).dispatchEvent(new Event("open"));
        sources.at(-1).tell("message.created", "c:8", { message: { id: "m8" } });
        sources.at(-1).refuse();
        stream.close();
        const opened = sources.length;
        ready.at(-1)();
        await moment();
        return [told, waits, sources.map((source) => source.url.search), sources.length - opened];
    """
    told, waits, queries, opened = await try_out(empty, script)
    assert told == [
        *("connecting", "live", "open", "message.created", "message.updated", "poll.opened"),
        *("too_many_missed", "reconnecting", *["refused"] * 7),
        *("live", "open", "reconnecting", "refused", "closed"),
    ]
    assert waits == [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 1_000]
    assert queries == ["?heartbeat=event", *["?lastEventId=c%3A8&heartbeat=event"] * 7]
    assert opened == 0


async def test_a_stream_that_is_made_anew_without_a_position_says_so(empty: Page) -> None:
    """EventSource shows no id that came without an event: what was missed is to be fetched."""
    script = """
        const told = [];
        new Chat("/api/chat", { EventSource: Source }).stream({
          onOpen: () => told.push("open"),
          onReset: ({ type, reason }) => told.push(type, reason),
        });
        await moment();
        sources[0].dispatchEvent(new Event("open"));
        sources[0].dispatchEvent(new Event("open"));
        sources[0].refuse();
        ready.at(-1)();
        await moment();
        sources[1].dispatchEvent(new Event("open"));
        return told;
    """
    told = await try_out(empty, script)
    assert told == ["open", "open", "open", "stream.reset", "position_unknown"]


async def test_a_stream_that_follows_conversations(empty: Page) -> None:
    """It has no positions: after a reconnect, of the browser's or of its own, all is fetched."""
    script = """
        const told = [];
        new Chat("/api/chat", { EventSource: Source }).stream({
          conversationIds: ["a", "b"],
          onOpen: ({ isResumed }) => told.push(isResumed),
          onChanged: ({ type, all }) => told.push(type, all),
          onReset: ({ type }) => told.push(type),
        });
        const open = (source) => {
          source.dispatchEvent(new Event("open"));
          source.tell("stream.ping", "", { intervalMs: 15_000 });
          source.tell("message.created", "", { message: { id: `m${told.length}` } });
        };
        await moment();
        open(sources[0]);
        open(sources[0]);
        sources[0].refuse();
        ready.at(-1)();
        await moment();
        open(sources[1]);
        return [told, sources.map((source) => source.url.search)];
    """
    told, queries = await try_out(empty, script)
    assert told == [False, True, "stream.changed", True, True, "stream.reset"]
    assert queries == 2 * ["?heartbeat=event&conversationIds=a%2Cb"]


async def test_a_stream_that_is_silent_is_made_anew(empty: Page) -> None:
    """At the position that a heartbeat has shown. Before one it is not known when to expect any."""
    script = """
        const told = [];
        const stream = new Chat("/api/chat", { EventSource: Source }).stream({
          onStatus: (status) => told.push(status),
          onEvent: ({ type }) => told.push(type),
          onReset: ({ reason }) => told.push(reason),
        });
        await moment();
        sources[0].dispatchEvent(new Event("open"));
        const expected = [waits.length];
        for (const id of ["c:7", "c:8"]) sources[0].tell("stream.ping", id, { intervalMs: 15_000 });
        expected.push(waits.length);
        ready.at(-1)();
        await moment();
        sources[1].dispatchEvent(new Event("open"));
        const positions = sources.map((source) => source.url.searchParams.get("lastEventId"));
        return [told, expected, waits, positions];
    """
    told, expected, waits, positions = await try_out(empty, script)
    assert told == ["connecting", "live", "reconnecting", "live"]
    assert expected == [0, 2]
    assert waits == [45_000, 45_000]
    assert positions == [None, "c:8"]


async def test_whoever_closes_a_silent_stream_when_told_of_it_has_closed_it(empty: Page) -> None:
    script = """
        const told = [];
        const stream = new Chat("/api/chat", { EventSource: Source }).stream({
          onStatus: (status) => {
            told.push(status);
            if (status === "reconnecting") stream.close();
          },
        });
        await moment();
        sources[0].dispatchEvent(new Event("open"));
        sources[0].tell("stream.ping", "", { intervalMs: 15_000 });
        ready.at(-1)();
        await moment();
        return [told, sources.length];
    """
    told = ["connecting", "live", "reconnecting", "closed"]
    assert await try_out(empty, script) == [told, 1]


async def test_a_stream_that_is_closed_while_it_waits_for_a_token_stays_closed(
    empty: Page,
) -> None:
    script = """
        let give;
        const token = () => new Promise((resolve) => { give = resolve; });
        const stream = new Chat("/api/chat", { EventSource: Source, token }).stream();
        await moment();
        stream.close();
        give("late");
        await moment();
        return [stream.status, sources.length];
    """
    assert await try_out(empty, script) == ["closed", 0]


async def test_the_sample_of_its_guide_runs(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    """On a page of its own, with chat.js and its files beside it. Its host would know who it is."""
    samples = re.findall(r"```html\n(.*?)```", GUIDE, re.DOTALL)
    (sample,) = [text for text in samples if "import { Chat }" in text]
    host = await visit("")
    page = {"body": f"<!doctype html>{sample}", "content_type": "text/html; charset=utf-8"}
    await host.route("**/host/", lambda route: route.fulfill(**page))
    for name, script in {"chat.js": CHAT_JS, **COPIED}.items():
        await host.route(f"**/host/{name}", answering(script))
    await host.route("**/api/chat/**", as_linus)
    conversation_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", conversation_id, "said before")
    await host.goto(f"http://127.0.0.1:{demo.port}/host/")
    lines = host.locator("#log li")
    await expect(lines).to_have_text(["dennis: said before"])

    await host.get_by_label("Message").fill("from the sample")
    await host.get_by_role("button", name="Send").click()
    said = ["dennis: said before", "linus: from the sample"]
    await expect(lines).to_have_text(said)
    await demo.send("dennis", conversation_id, "and back, live")
    await expect(lines).to_have_text([*said, "dennis: and back, live"])
    await expect(host.get_by_label("Message")).to_have_value("")


def answering(script: str) -> Callable[[Route], Awaitable[None]]:
    return lambda route: route.fulfill(body=script, content_type="text/javascript")


async def as_linus(route: Route) -> None:
    url = route.request.url
    await route.continue_(url=f"{url}{'&' if '?' in url else '?'}as=linus")
