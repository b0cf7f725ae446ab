"""The connection of an open stream: aiohttp has forgotten it, and it ends as it should."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import web

from chat_aio import Chat, Options
from chat_aio.live import service
from chat_aio.web import sse
from chat_aio.web.app_keys import STREAMS
from chat_aio.web.connection_takeover import take_over
from tests.conftest import Database, MakePeople
from tests.support.people import PATIENCE, Person, picked_by_header
from tests.support.saboteurs import prove


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def connections(person: Person) -> Any:
    """What aiohttp's server knows of."""
    runner = person.client.server.runner
    assert runner is not None
    assert runner.server is not None
    return runner.server.connections


async def gone(person: Person) -> None:
    """Give aiohttp's tasks the few rounds of the loop that they need to end."""
    for _ in range(100):
        if not connections(person):
            return
        await asyncio.sleep(0.01)


async def test_nothing_of_aiohttp_is_kept(serve: MakePeople) -> None:
    """No task, no request, no parser: this is what an idle stream would cost most by."""
    asked: list[weakref.ref[web.Request]] = []

    def auth(request: web.Request) -> dict[str, Any] | None:
        asked.append(weakref.ref(request))
        return picked_by_header(request)

    async def scenario() -> None:
        person = (await serve(auth=auth))("bob")
        async with person.tab() as tab:
            await tab.next()
            await gone(person)
            gc.collect()
            tasks = [str(task.get_coro()) for task in asyncio.all_tasks()]
            assert not [task for task in tasks if "RequestHandler" in task]
            assert [reference() for reference in asked] == [None]

    await prove(scenario, sabotage=patch.object(sse, "can_take_over", lambda _: False))


class UserId(str):
    """A host's own type."""


async def test_ids_of_a_type_of_the_hosts(serve: MakePeople) -> None:
    person = await serve(auth=lambda request: {"id": UserId(request.headers["X-User"])})
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    async with bob.tab() as tab:
        await alice.send(conversation_id, "hi")
        assert await tab.bodies(1) == ["hi"]


async def test_a_request_that_is_asked_again_has_its_connection(serve: MakePeople) -> None:
    """A login by certificate is a property of the connection."""
    asked: list[bool] = []

    def auth(request: web.Request) -> dict[str, Any] | None:
        asked.append(request.get_extra_info("peername") is not None)
        return picked_by_header(request)

    person = (await serve(auth=auth, reauthenticate=True, heartbeat_interval_ms=50))("bob")
    async with person.tab() as tab:
        await tab.next()
        await until(lambda: len(asked) >= 3)
        assert all(asked)


async def test_a_stream_that_is_over_lets_its_connection_go(serve: MakePeople) -> None:
    """Each knows the other, and the collector runs seldom in a process that serves."""
    person = (await serve())("bob")
    async with person.tab() as tab:
        await tab.next()
        (stream,) = person.chat._live.hub._everyone()
        assert stream._connection is not None
        await person.chat.end_streams("bob")
        await tab.end()
        assert stream._connection is None


async def test_who_leaves_is_noticed_by_the_connection(serve: MakePeople) -> None:
    """Neither a heartbeat nor a sweep comes within the time of this test."""
    with patch.object(service, "SWEEP_SECONDS", 1_000.0):
        person = (await serve(heartbeat_interval_ms=1_000_000))("bob")
        async with person.tab() as tab:
            await tab.next()
            assert await person.chat_streams() == 1
        await until(lambda: len(person.chat._live.hub) == 0)


async def test_what_a_client_sends_after_its_request_is_ignored(serve: MakePeople) -> None:
    alice = (await serve())("alice")
    conversation_id = await alice.direct("bob")
    server = alice.client.server
    reader, writer = await asyncio.open_connection(str(server.host), server.port)
    request = b"GET /api/chat/stream HTTP/1.1\r\nHost: x\r\nX-User: bob\r\n\r\n"
    writer.write(request)
    await until(lambda: len(alice.chat._live.hub) == len(connections(alice)) == 1)
    writer.write(10 * request + b"x" * 100_000)
    await writer.drain()
    await alice.send(conversation_id, "still told")
    async with asyncio.timeout(PATIENCE):
        await reader.readuntil(b"still told")
    assert len(alice.chat._live.hub) == 1
    writer.close()


async def test_a_stream_ends_with_the_last_chunk(serve: MakePeople) -> None:
    """An end without it would be an error to the client, as if the connection was cut."""
    person = (await serve())("bob")
    async with person.tab() as tab:
        await tab.next()
        await until(lambda: not connections(person))
        await person.chat.end_streams("bob")
        await tab.end()


@asynccontextmanager
async def hosted(
    database: Database, aiohttp_client: Any, *middlewares: Any
) -> AsyncIterator[tuple[web.Application, Person]]:
    app = web.Application(middlewares=middlewares)
    chat = Chat(database, auth=picked_by_header, options=Options(replay_buffer_seconds=5))
    chat.mount(app)
    yield app, Person("bob", await aiohttp_client(app), chat)


async def test_a_shutdown_waits_until_clients_have_the_end(
    database: Database, aiohttp_client: Any
) -> None:
    """aiohttp waits for requests that it knows of, and these it knows no more."""
    async with hosted(database, aiohttp_client) as (app, bob):
        (sub,) = [subapp for subapp in app._subapps if STREAMS in subapp]
        async with bob.tab() as tab:
            await tab.next()
            await until(lambda: len(sub[STREAMS]) == 1)
            async with asyncio.timeout(30):
                await app.shutdown()
            assert len(sub[STREAMS]) == 0
            await tab.end()


async def test_a_hosts_middleware_sees_the_stream_when_it_has_begun(
    database: Database, aiohttp_client: Any
) -> None:
    """It may take its time: what is told meanwhile arrives, and so does the end."""
    seen: list[tuple[int, bool]] = []
    goes_on = asyncio.Event()

    @web.middleware
    async def slow(request: web.Request, handler: Any) -> web.StreamResponse:
        response: web.StreamResponse = await handler(request)
        if request.path.endswith("/stream"):
            seen.append((response.status, response.prepared))
            await asyncio.wait_for(goes_on.wait(), PATIENCE)
        return response

    async with hosted(database, aiohttp_client, slow) as (_, bob):
        group = await bob.group()
        async with bob.tab() as tab:
            await bob.send(group, "meanwhile")
            assert await tab.bodies(1) == ["meanwhile"]
            assert seen == [(200, True)]
            await bob.chat.end_streams("bob")
            assert await bob.chat_streams() == 0
            goes_on.set()
            await tab.end()


@pytest.mark.parametrize("act", ["ended", "left"])
async def test_where_the_connection_cannot_be_taken(serve: MakePeople, act: str) -> None:
    """The request then lasts as long as its stream."""
    with patch.object(sse, "can_take_over", lambda _: False):
        person = (await serve())("bob")
        group = await person.group()
        async with person.tab() as tab:
            await person.send(group, "hi")
            assert await tab.bodies(1) == ["hi"]
            assert len(connections(person)) == 2
            if act == "ended":
                await person.chat.end_streams("bob")
                await tab.end()
        await until(lambda: len(person.chat._live.hub) == 0)


async def test_aiohttp_still_works_as_the_handover_needs() -> None:
    """The names that are used, and that a paused connection is read from again."""
    seen: dict[str, Any] = {}

    class Taker(asyncio.Protocol):
        def data_received(self, data: bytes) -> None:
            seen["data"] = data

        def connection_lost(self, error: Exception | None) -> None:
            seen["lost"] = error

    class Taken(web.StreamResponse):
        async def write_eof(self, data: bytes = b"") -> None:
            request = seen["request"]
            request.transport.pause_reading()
            take_over(request, Taker())

    async def handle(request: web.Request) -> web.StreamResponse:
        seen["request"], response = request, Taken()
        await response.prepare(request)
        return response

    app = web.Application()
    app.router.add_get("/", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    async with asyncio.timeout(PATIENCE):
        await reader.readuntil(b"\r\n\r\n")
    assert runner.server is not None
    server = runner.server
    await until(lambda: not server.connections)
    writer.write(b"more")
    await until(lambda: seen.get("data") == b"more")
    writer.close()
    await until(lambda: "lost" in seen)
    await runner.cleanup()
