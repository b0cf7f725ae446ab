"""Streams over `fetch`: how they are parsed, and what becomes of their answers."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page

from tests.browser.acting import hurry
from tests.browser.conftest import Visit
from tests.browser.serving import Cable, Ports
from tests.browser.tabs import QUICK_HEARTBEATS, Service, Tabs
from tests.browser.tabs import heartbeat_ms as heartbeat_ms
from tests.browser.tabs import service as service

pytestmark = pytest.mark.asyncio(loop_scope="session")

READ = """async ([text, cuts]) => {
    const { FetchSource } = await import("/browser/fetch-stream.js");
    const bytes = new TextEncoder().encode(text);
    const read = (at) => new Promise((resolve) => {
      const parts = at === null ? [...bytes].map((byte) => Uint8Array.of(byte))
        : [bytes.slice(0, at), bytes.slice(at)];
      const body = new ReadableStream({
        pull: (controller) => {
          if (parts.length > 0) controller.enqueue(parts.shift());
          else controller.close();
        },
      });
      const headers = { "Content-Type": "text/event-stream; charset=utf-8" };
      const source = new FetchSource("", { fetch: async () => new Response(body, { headers }) });
      const found = [];
      const note = ({ type, data, lastEventId }) => found.push([type, data, lastEventId]);
      for (const name of ["message", "named", "open"]) source.addEventListener(name, note);
      source.addEventListener("error", () => {
        const { isBroken, readyState, retryMs, status } = source;
        resolve([found, { isBroken, readyState, retryMs, status }]);
      });
    });
    const all = [];
    for (const at of cuts ?? [null, ...bytes.keys()]) all.push(await read(at));
    return all;
}"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
async def test_an_event_stream_in_parts_of_any_size(empty: Page, end: str) -> None:
    """Cut at each byte, also within a character, and into single bytes."""
    lines = [
        *("\ufeffretry: 2500", ": a comment", "id: c:1", "event: named", "data: grün 🎉"),
        *("data", "data:  two", "", "data: unnamed", "", "id", "data:x:y", "unknown: 1", ""),
        *("event: named", "", "id: c:2", "", "data: later", "", "id: no\0ne", "retry: 1s"),
        *("data: last", "", "data: unfinished"),
    ]
    expected = [
        ["named", "grün 🎉\n\n two", "c:1"],
        ["message", "unnamed", "c:1"],
        ["message", "x:y", ""],
        ["message", "later", "c:2"],
        ["message", "last", "c:2"],
    ]
    state = {"isBroken": True, "readyState": 2, "retryMs": 2_500, "status": 200}
    for events, ended in await empty.evaluate(READ, [end.join(lines), None]):
        assert [event for event in events if event[0] != "open"] == expected
        assert ended == state


@pytest_asyncio.fixture(loop_scope="session")
async def cable(service: Service, ports: Ports) -> AsyncIterator[Cable]:
    async with Cable(service, ports.of("tabs cable")) as laid:
        yield laid


@pytest_asyncio.fixture(loop_scope="session")
async def tabs(open_page: Visit, service: Service, cable: Cable) -> Tabs:
    return Tabs((await open_page()).context, service, cable.port)


FETCH: dict[str, Any] = {"streamWith": "fetch"}


async def opened(tabs: Tabs, *, token: str = "ada-1", **options: Any) -> Page:
    page = await tabs.new()
    await page.evaluate("(token) => localStorage.setItem('token', token)", token)
    given = {"userId": "ada", **FETCH, **options}
    await page.evaluate("(given) => begin(given)", given)
    return page


@pytest.mark.parametrize("is_shared", [True, False])
async def test_its_token_is_in_a_header(tabs: Tabs, service: Service, is_shared: bool) -> None:
    headers = {"X-Tenant": "a"}
    page = await opened(tabs, headers=headers, shareStream=is_shared)
    await page.wait_for_function("tab.opens.length > 0")
    (asked,) = service.asked
    assert asked.headers["Authorization"] == "Bearer ada-1"
    assert asked.headers["X-Tenant"] == "a"
    assert "ada-1" not in asked.path_qs
    await service.send("ada", "one")
    await page.wait_for_function("tab.bodies.join() === 'one'")


async def test_it_goes_on_at_its_position_with_a_new_token(
    tabs: Tabs, service: Service, cable: Cable
) -> None:
    page = await opened(tabs)
    await page.wait_for_function("tab.opens.length === 1")
    await service.send("ada", "one")
    await page.wait_for_function("tab.bodies.length === 1")
    await page.evaluate("localStorage.setItem('token', 'ada-2')")
    await cable.cut()
    await page.wait_for_function("tab.stream.status === 'reconnecting'")
    await service.send("ada", "two")
    await cable.mend()
    await page.evaluate("tab.stream.reconnect()")
    await page.wait_for_function("tab.bodies.length === 2")
    assert await page.evaluate("[tab.bodies, tab.opens, tab.resets, tab.refusals]") == [
        ["one", "two"],
        [False, True],
        0,
        [],
    ]
    assert service.asked[-1].headers["Authorization"] == "Bearer ada-2"
    assert service.asked[-1].query["lastEventId"]


@pytest.mark.usefixtures("quick_reconnects")
async def test_it_reconnects_by_itself(tabs: Tabs, service: Service) -> None:
    """As after a restart of the service."""
    page = await opened(tabs)
    await page.wait_for_function("tab.opens.length === 1")
    await hurry(page)
    service.chat._live.hub.end_all()
    await page.wait_for_function("tab.opens.length === 2")
    assert await page.evaluate("[tab.resets, tab.refusals]") == [0, []]


@QUICK_HEARTBEATS
async def test_one_that_is_silent_is_dead(tabs: Tabs, service: Service, cable: Cable) -> None:
    page = await opened(tabs)
    await page.wait_for_function("tab.opens.length === 1")
    cable.is_mute = True
    await service.send("ada", "one")
    await page.wait_for_function("tab.stream.status === 'reconnecting'")
    cable.is_mute = False
    await page.evaluate("tab.stream.reconnect()")
    await page.wait_for_function("tab.bodies.join() === 'one'")


async def test_a_refusal_has_a_status(tabs: Tabs, service: Service) -> None:
    service.status_of_streams = 503
    page = await opened(tabs, shareStream=False)
    await hurry(page)
    await page.wait_for_function("tab.refusals.length > 1")
    service.status_of_streams = None
    await page.evaluate("tab.stream.reconnect()")
    await page.wait_for_function("tab.stream.status === 'live'")
    assert set(await page.evaluate("tab.refusals")) == {503}
    assert await page.evaluate("tab.signedOut") == 0


@pytest.mark.usefixtures("quick_reconnects")
async def test_401_is_the_end_of_the_login(tabs: Tabs, service: Service) -> None:
    """Of all tabs, without a request."""
    pages = [await opened(tabs) for _ in range(2)]
    for page in pages:
        await page.wait_for_function("tab.opens.length === 1")
        await hurry(page)
    service.refused.add("ada-1")
    service.chat._live.hub.end_all()
    for page in pages:
        await page.wait_for_function("tab.signedOut > 0 && tab.refusals[0] === 401")


async def test_204_ends_it_for_good(tabs: Tabs, service: Service) -> None:
    service.status_of_streams = 204
    pages = [await opened(tabs) for _ in range(2)]
    for page in pages:
        await page.wait_for_function("tab.stream.status === 'closed'")
