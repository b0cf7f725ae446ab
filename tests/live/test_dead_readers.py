"""Clients that read nothing, or are gone without a word: memory stays bounded, their descriptors
come back, and everybody else is told everything (R10)."""

import asyncio
import ctypes
import os
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from unittest.mock import patch

from chat_aio.live import stream
from chat_aio.live.stream import BURST
from chat_aio.web import sse, stream_connection
from tests.conftest import MakePeople
from tests.support.people import BASE, Person

DEAD = 200
HEALTHY = 5
BOUND = 16 * 1024
BODY = "x" * 12_000
SO_ATTACH_FILTER = 26
PATIENCE_SECONDS = 30
"""Less than any of the constants of the package that these tests shorten."""


class Client(socket.socket):
    """A connection that knows the port of its server, also when it is lost."""

    server_port: int


@asynccontextmanager
async def silent(person: Person, last_event_id: str | None = None) -> AsyncIterator[Client]:
    """A client that asks for its stream and reads nothing at all."""
    server = person.client.server
    loop = asyncio.get_running_loop()
    with Client() as client:
        assert server.port is not None
        client.server_port = server.port
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.setblocking(False)
        await loop.sock_connect(client, (str(server.host), server.port))
        position = f"Last-Event-ID: {last_event_id}\r\n" if last_event_id else ""
        asked = (
            f"GET {BASE}/stream HTTP/1.1\r\nHost: x\r\nX-User: {person.user_id}\r\n{position}\r\n"
        )
        await loop.sock_sendall(client, asked.encode())
        yield client


def descriptors(clients: Iterable[Client]) -> int:
    """How many connections to these clients the server, in this process, has open.

    Both ports are compared: a browser's connection to another server of this process may have the
    port of a client. Connections of others that come and go may hide one for a moment.
    """
    pairs = {(client.server_port, client.getsockname()[1]) for client in clients}
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    served = {row[9] for row in rows if (_port(row[1]), _port(row[2])) in pairs}
    own = set()
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            link = os.readlink(f"/proc/self/fd/{name}")
            own.add(link.removeprefix("socket:[").removesuffix("]"))
    return len(served & own)


def _port(address: str) -> int:
    """The port of an address as `/proc/net/tcp` writes it."""
    return int(address.rpartition(":")[2], 16)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def expect_gone(person: Person, client: Client) -> None:
    """The stream is over, and so is its connection."""
    await until(lambda: len(person.chat._live.hub) == 0)
    await until(lambda: descriptors([client]) == 0)


def streams_of(person: Person) -> list[stream.Stream]:
    """All that the process has open."""
    return [found for opened in person.chat._live.hub._by_user.values() for found in opened]


async def until_live(person: Person, count: int = 1) -> None:
    """So many streams are open, and past their replay."""
    await until(lambda: sum(opened._pipe is not None for opened in streams_of(person)) == count)


def unsent(person: Person) -> int:
    """All that the streams of a process hold."""
    waiting = [
        opened._pipe.get_write_buffer_size() for opened in streams_of(person) if opened._pipe
    ]
    assert not any(opened._held for opened in streams_of(person))
    return sum(waiting)


async def test_two_hundred_who_never_read(serve: MakePeople) -> None:
    person = await serve(stream_buffer_bytes=BOUND)
    alice = person("alice")
    dead = [f"dead {number}" for number in range(DEAD)]
    healthy = [f"healthy {number}" for number in range(HEALTHY)]
    group = await alice.group(*dead, *healthy)
    await alice.told_all()
    hub = alice.chat._live.hub
    async with AsyncExitStack() as open_ones:
        tabs = [await open_ones.enter_async_context(person(name).tab()) for name in healthy]
        clients = [await open_ones.enter_async_context(silent(person(name))) for name in dead]
        await until_live(alice, DEAD + HEALTHY)
        await until(lambda: descriptors(clients) == DEAD)
        most = (DEAD + HEALTHY) * (BURST * BOUND + 2 * len(BODY))
        sent = 0
        async with asyncio.timeout(60):
            while len(hub) > HEALTHY:
                await alice.send(group, f"{sent} {BODY}")
                sent += 1
                assert unsent(alice) <= most
                for tab in tabs:
                    assert await tab.bodies(1) == [f"{sent - 1} {BODY}"]
        await until(lambda: descriptors(clients) == 0)
        await alice.send(group, "they are told the rest as well")
        for tab in tabs:
            assert await tab.bodies(1) == ["they are told the rest as well"]


async def test_a_link_that_is_half_open(serve: MakePeople) -> None:
    """Nothing is acknowledged any more, and nobody says goodbye: the next heartbeats find out."""
    person = await serve(heartbeat_interval_ms=100)
    bob = person("bob")
    with patch.object(sse, "UNACKNOWLEDGED_SECONDS", 0.5):
        async with silent(bob) as client:
            await until_live(bob)
            await asyncio.get_running_loop().sock_recv(client, 4_096)
            await until(lambda: descriptors([client]) == 1)
            _drop_all_packets(client)
            await expect_gone(bob, client)


async def test_who_is_behind_for_too_long(serve: MakePeople) -> None:
    """Less than a burst is unsent, and heartbeats are all that comes."""
    person = await serve(stream_buffer_bytes=BOUND, heartbeat_interval_ms=100)
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    async with silent(bob) as client:
        await until_live(bob)
        while unsent(bob) <= BOUND:
            await alice.send(conversation_id, BODY)
            await alice.told_all()
        assert len(bob.chat._live.hub) == 1
        with patch.object(stream, "PATIENCE_SECONDS", 0.3):
            await expect_gone(bob, client)


async def test_who_stops_within_a_replay(serve: MakePeople) -> None:
    person = await serve()
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    for _ in range(100):
        await alice.send(conversation_id, BODY)
    await alice.told_all()
    with patch.object(sse, "PATIENCE_SECONDS", 0.3):
        async with silent(bob, f"{conversation_id}:1") as client:
            await until(lambda: len(bob.chat._live.hub) == 1)
            await expect_gone(bob, client)


@asynccontextmanager
async def reading_nothing(serve: MakePeople) -> AsyncIterator[tuple[Person, Client]]:
    """A client for whom more is buffered than its kernel takes, and less than cuts it off."""
    person = await serve(stream_buffer_bytes=1024 * 1024)
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    async with silent(bob) as client:
        await until_live(bob)
        while unsent(bob) <= BOUND:
            await alice.send(conversation_id, BODY)
            await alice.told_all()
        yield bob, client


async def test_who_does_not_take_the_end(serve: MakePeople) -> None:
    """The feed is lost, say: a stream that ends does not wait for ever to say so."""
    with patch.object(stream_connection, "FAREWELL_SECONDS", 0.3):
        async with reading_nothing(serve) as (bob, client):
            bob.chat._live.hub.end_all()
            await expect_gone(bob, client)


async def test_who_closes_one_side_and_reads_nothing(serve: MakePeople) -> None:
    """The transport waits until its buffer is empty, which it never is."""
    with patch.object(stream_connection, "FAREWELL_SECONDS", 0.3):
        async with reading_nothing(serve) as (bob, client):
            client.shutdown(socket.SHUT_WR)
            await expect_gone(bob, client)


async def test_a_shutdown_waits_for_who_does_not_take_the_end(serve: MakePeople) -> None:
    """As long as they have for it: others get what is buffered for them meanwhile."""
    with patch.object(stream_connection, "LAST_FAREWELL_SECONDS", 0.3):
        async with reading_nothing(serve) as (bob, client):
            app = bob.client.app
            assert app is not None
            await app.shutdown()
            assert descriptors([client]) == 0


def _drop_all_packets(connection: socket.socket) -> None:
    """From here on its kernel takes nothing from the other side, and acknowledges nothing."""
    drop = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))
    program = struct.pack("HP", 1, ctypes.addressof(drop))
    connection.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
