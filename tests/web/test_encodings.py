"""Bodies in a Content-Encoding are refused, and no more of one than its beginning is inflated."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp.compression_utils import ZLibDecompressor
from aiohttp.test_utils import BaseTestServer

from chat_aio import Hooks
from chat_aio.web import request_body
from tests.conftest import MakePeople
from tests.support.people import BASE, Person

MEBIBYTE = 1024 * 1024
BEGINNING = MEBIBYTE
PATIENCE = 30.0


def bomb() -> bytes:
    """A gigabyte in one megabyte: the same compressed block again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(b" " * MEBIBYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b" " * MEBIBYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * 1_023


@pytest.fixture
def inflated() -> Iterator[list[int]]:
    """How many bytes have come out of each step of inflating."""
    found: list[int] = []
    inflate = ZLibDecompressor.decompress_sync

    def counted(self: Any, *args: Any, **given: Any) -> Any:
        out = inflate(self, *args, **given)
        found.append(len(out))
        return out

    with patch.object(ZLibDecompressor, "decompress_sync", counted):
        yield found


@asynccontextmanager
async def connected(
    server: BaseTestServer,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(server.host, server.port)
    try:
        async with asyncio.timeout(PATIENCE):
            yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def refused(
    person: Person, path: str, body: bytes, *headers: str, user: str | None = None
) -> tuple[int, bytes]:
    """Status and code of the answer to a body that is sent whole, on a connection that is closed
    then."""
    named = [f"X-User: {user}"] if user else []
    lines = [
        f"POST {BASE}{path} HTTP/1.1",
        *("Host: x", f"Content-Length: {len(body)}", *headers, *named, "", ""),
    ]
    async with connected(person.client.server) as (reader, writer):
        writer.write("\r\n".join(lines).encode() + body)
        await writer.drain()
        answer = await reader.read()
    return int(answer.split()[1]), answer.split(b'"code":"')[1].split(b'"')[0]


async def test_a_bomb_is_not_inflated(serve: MakePeople, inflated: list[int]) -> None:
    """Whoever sends it: with a login and without, to a path that is there or not."""
    hooks = Hooks(can_moderate=lambda asked: asked.user_id == "mod")
    people = await serve(hooks, allowed_origins=["https://ours.example"])
    alice, body = people("alice"), bomb()
    group = await alice.group()
    await alice.chat.api.moderation.ban_user("mod", "mallory")
    packed, path = "Content-Encoding: gzip", f"/conversations/{group}/messages"
    for where, user, extra, expected in (
        (path, "alice", (), (415, b"UNSUPPORTED_ENCODING")),
        (path, None, (), (401, b"UNAUTHENTICATED")),
        (path, "mallory", (), (403, b"USER_BANNED")),
        (path, "alice", ("Origin: https://theirs.example",), (403, b"FORBIDDEN_ORIGIN")),
        ("/nothing", "alice", (), (404, b"NOT_FOUND")),
    ):
        inflated.clear()
        assert await refused(alice, where, body, packed, *extra, user=user) == expected
        assert sum(inflated) <= BEGINNING
    await alice.send(group, "still here")


async def test_a_bomb_that_comes_slowly(person: Any, inflated: list[int]) -> None:
    """The answer comes before the body does, and what comes afterwards is thrown away."""
    alice, body = person("alice"), bomb()
    head = (
        f"POST {BASE}/conversations/group HTTP/1.1\r\nHost: x\r\nX-User: alice\r\n"
        f"Content-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    async with connected(alice.client.server) as (reader, writer):
        writer.write(head.encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        assert b" 415 " in answer
        assert b"Connection: close" in answer
        with suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(body[: MEBIBYTE // 4])
                await writer.drain()
                await reader.read(1024)
    assert sum(inflated) == 0


async def test_a_body_as_it_is(person: Any) -> None:
    alice = person("alice")
    for encoding in ("identity", "Identity", ""):
        headers = {"Content-Encoding": encoding}
        assert (await alice.post("/conversations/group", {}, headers=headers)).status == 201
    headers = {"Content-Encoding": "gzip"}
    assert (await alice.get("/conversations", headers=headers)).status == 200


async def test_a_body_that_does_not_come(person: Any) -> None:
    """It is waited for so long; then the connection closes."""
    alice = person("alice")
    head = (
        f"POST {BASE}/conversations/group HTTP/1.1\r\nHost: x\r\nX-User: alice\r\n"
        "Content-Length: 100\r\n\r\n"
    )
    with patch.object(request_body, "BODY_SECONDS", 0.1):
        async with connected(alice.client.server) as (reader, writer):
            writer.write(head.encode() + b'{"name":')
            answer = await reader.read()
            assert b" 400 " in answer
            assert b"INVALID_INPUT" in answer
    assert (await alice.get("/conversations")).json["conversations"] == []
