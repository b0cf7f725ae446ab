"""chat.js where a proxy answers, where what a host gives fails, where a stream is closed early."""

import pytest
from playwright.async_api import Page

from tests.browser.test_chat_js import try_out

pytestmark = pytest.mark.asyncio(loop_scope="session")

LATER = "Wed, 21 Oct 2099 07:28:00 GMT"
A_MINUTE_BEFORE = "Wed, 21 Oct 2099 07:27:00 GMT"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "The answer is not the chat's: status 404."),
        (413, "This is too large."),
        (429, "There were too many requests."),
        (503, "The chat is not available just now."),
        (200, "The chat is not available just now."),
    ],
)
@pytest.mark.parametrize("body", ["<html>a proxy</html>", ""])
async def test_a_proxys_page_has_words(empty: Page, status: int, words: str, body: str) -> None:
    """Also over HTTP/2, where a status has none."""
    script = f"""
        answers.push(() => new Response({body!r}, {{ status: {status} }}));
        const chat = new Chat("/api/chat", {{ fetch }});
        const error = await chat.createInvite("c").catch((error) => error);
        return [error.code, error.message];
    """
    assert await try_out(empty, script) == ["UNEXPECTED_ANSWER", words]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "0"}, 0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": LATER, "Date": A_MINUTE_BEFORE}, 60),
        ({"Retry-After": A_MINUTE_BEFORE, "Date": LATER}, 0),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:30 GMT"}, 20),
    ],
)
async def test_when_to_ask_again(
    empty: Page, headers: dict[str, str], seconds: float | None
) -> None:
    """A date is one of the clock of who answers; of this one where that is not known."""
    script = f"""
        Date.now = () => 10_000;
        answers.push(() => new Response("", {{ status: 503, headers: {headers!r} }}));
        const chat = new Chat("/api/chat", {{ fetch }});
        return (await chat.createInvite("c").catch((error) => error)).retryAfter;
    """
    assert await try_out(empty, script) == seconds


@pytest.mark.parametrize("option", ["token", "headers", "query"])
async def test_what_a_host_cannot_give_is_a_chat_error(empty: Page, option: str) -> None:
    """One that passes, and so a send is tried again; the cause is kept."""
    script = f"""
        const told = [];
        let isOffline = true;
        const chat = new Chat("/api/chat", {{
          fetch, onError: ({{ code }}) => told.push(code),
          {option}: () => {{ if (isOffline) throw new TypeError("offline"); }},
        }});
        const caught = async (asked) => {{
          const error = await asked.catch((error) => error);
          const {{ code, isTemporary, cause }} = error;
          return [error instanceof ChatError, code, isTemporary, cause?.message];
        }};
        const files = chat.attachments;
        const errors = [
          await caught(chat.listConversations()), await caught(files.get("a")),
          await caught(files.upload("c", new Blob(["x"]))),
        ];
        const before = asked.length;
        answers.push(() => answer(201, {{ message: {{ id: "m" }} }}));
        const sent = chat.sendMessage("c", {{ body: "hi" }});
        const outcome = sent.then((made) => made.id, String);
        for (let number = 0; number < 20; number += 1) await moment();
        isOffline = false;
        ready.pop()?.();
        return [errors, told, before, await outcome];
    """
    error = [True, "UNREACHABLE", True, "offline"]
    errors, told, asked, sent = await try_out(empty, script)
    assert errors == [error] * 3
    assert told == ["UNREACHABLE"] * 4
    assert (asked, sent) == (0, "m")


async def test_what_is_ended_is_not_tried_again(empty: Page) -> None:
    """At once, and whatever it is ended with, be it an error that passes."""
    script = """
        const closing = new AbortController();
        const reason = new ChatError({ status: 0, code: "CLOSED", message: "" });
        answers.push(() => { closing.abort(reason); return answer(503, {}); });
        const chat = new Chat("/api/chat", { fetch });
        const given = { signal: closing.signal };
        const ended = chat.sendMessage("c", { body: "hi" }, given).catch((error) => error);
        for (let number = 0; number < 20; number += 1) await moment();
        return [await Promise.race([ended, null]) === reason, asked.length, waits];
    """
    assert await try_out(empty, script) == [True, 1, []]


@pytest.mark.parametrize("dots", [".", ".."])
async def test_an_id_that_is_no_segment_of_a_path_is_not_asked_for(empty: Page, dots: str) -> None:
    """It would lead elsewhere: dots that are encoded are dots to a browser as well."""
    script = f"""
        const chat = new Chat("/api/chat", {{ fetch }});
        const caught = (asked) => asked.then(() => "asked", ({{ status, code }}) => [status, code]);
        const errors = [
          await caught(chat.getConversation("{dots}")),
          await caught(chat.markRead("{dots}", "m")),
          await caught(chat.attachments.get("{dots}")),
          await caught(chat.attachments.url("{dots}")),
        ];
        await chat.getConversation(".{dots}.a");
        return [errors, asked.map(({{ url }}) => url.pathname)];
    """
    errors, asked = await try_out(empty, script)
    assert errors == [[404, "NOT_FOUND"]] * 4
    assert asked == [f"/api/chat/conversations/.{dots}.a"]


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("live", ["live", "closed"]),
        ("open", ["live", "open", "closed"]),
        ("reconnecting", ["live", "open", "reset", "reconnecting", "closed"]),
        ("refused", ["live", "open", "reset", "reconnecting", "refused", "closed"]),
    ],
)
async def test_a_stream_that_is_closed_by_whom_it_tells_stays_closed(
    empty: Page, at: str, told: list[str]
) -> None:
    """It begins nothing after that, and says nothing more."""
    script = f"""
        const told = [];
        let isClosing = false;
        const note = (what) => {{
          told.push(what);
          if (isClosing && what === "{at}") stream.close();
        }};
        const stream = new Chat("/api/chat", {{ EventSource: Source }}).stream({{
          onStatus: note, onOpen: () => note("open"), onRefused: () => note("refused"),
          onReset: () => note("reset"),
        }});
        await moment();
        sources[0].dispatchEvent(new Event("open"));
        sources[0].refuse();
        ready.splice(0).forEach((act) => act());
        await moment();
        // This one is open without a position: that is a reset.
        told.length = 0;
        isClosing = true;
        sources[1].dispatchEvent(new Event("open"));
        if (stream.status !== "closed") sources[1].refuse();
        ready.forEach((act) => act());
        await moment();
        return [told, stream.status, sources.length, sources[1].readyState];
    """
    assert await try_out(empty, script) == [told, "closed", 2, 2]


async def test_a_token_that_fails_late_does_not_wake_a_stream_that_is_closed(empty: Page) -> None:
    script = """
        let fail;
        const token = () => new Promise((_, reject) => { fail = reject; });
        const stream = new Chat("/api/chat", { EventSource: Source, token }).stream();
        await moment();
        stream.close();
        fail(new Error("offline"));
        await moment();
        return [stream.status, waits];
    """
    assert await try_out(empty, script) == ["closed", []]


async def test_a_logout_does_not_wake_a_stream_that_is_closed(empty: Page) -> None:
    script = """
        const chat = new Chat("/api/chat", { EventSource: Source });
        const stream = chat.stream();
        await moment();
        stream.close();
        chat.signedOut();
        await moment();
        return [stream.status, waits];
    """
    assert await try_out(empty, script) == ["closed", []]


async def test_a_type_that_is_named_twice_is_told_once(empty: Page) -> None:
    script = """
        const told = [];
        const types = ["receipt.read", "poll.opened", "poll.opened"];
        const onEvent = ({ type }) => told.push(type);
        new Chat("/api/chat", { EventSource: Source }).stream({ types, onEvent });
        await moment();
        for (const name of ["receipt.read", "poll.opened"]) sources[0].tell(name, "");
        return told;
    """
    assert await try_out(empty, script) == ["receipt.read", "poll.opened"]


async def test_a_stream_that_cannot_be_made_is_one_that_is_refused(empty: Page) -> None:
    """As a Content-Security-Policy may have it."""
    script = """
        const told = [];
        let isForbidden = true;
        class Forbidden extends Source {
          constructor(url) {
            if (isForbidden) throw new DOMException("no", "SecurityError");
            super(url);
          }
        }
        const stream = new Chat("/api/chat", { EventSource: Forbidden }).stream({
          onStatus: (status) => told.push(status), onRefused: () => told.push("refused"),
        });
        await moment();
        isForbidden = false;
        ready.pop()();
        await moment();
        sources[0].dispatchEvent(new Event("open"));
        return [told, waits];
    """
    told, waits = await try_out(empty, script)
    assert told == ["connecting", "reconnecting", "refused", "live"]
    assert waits == [1_000]
