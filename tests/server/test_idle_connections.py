"""Connections on which no request begins are closed; those on which one did may stay."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from unittest.mock import patch

import pytest
from aiohttp import web

from chat_aio.server import idle_connections
from chat_aio.server.idle_connections import PatientRunner

PATIENCE = 30.0
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
async def place() -> AsyncIterator[tuple[str, int]]:
    """Where a server listens that waits for a head for a moment only."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text="well")

    app = web.Application()
    app.router.add_get("/", answer)
    runner = PatientRunner(app, keepalive_timeout=idle_connections.IDLE_SECONDS)
    await runner.setup()
    with patch.object(idle_connections, "HEAD_SECONDS", 0.2):
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield runner.addresses[0]
    await runner.cleanup()


async def closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


async def ends_unanswered(reader: asyncio.StreamReader) -> bool:
    """Whether a connection is closed without a word."""
    with suppress(ConnectionResetError):
        return await reader.read() == b""
    return True


@pytest.mark.parametrize("begun", [b"", REQUEST[:1], REQUEST[:-1], REQUEST[:-2]])
async def test_half_a_head(place: tuple[str, int], begun: bytes) -> None:
    reader, writer = await asyncio.open_connection(*place)
    writer.write(begun)
    async with asyncio.timeout(PATIENCE):
        assert await ends_unanswered(reader)
    await closed(writer)


async def test_a_head_in_pieces_and_what_follows(place: tuple[str, int]) -> None:
    """Whoever waits with the next request is not in the way of anybody."""
    reader, writer = await asyncio.open_connection(*place)
    async with asyncio.timeout(PATIENCE):
        for part in (REQUEST[:20], REQUEST[20:-3], REQUEST[-3:-1], REQUEST[-1:]):
            writer.write(part)
            await writer.drain()
        assert (await reader.readuntil(b"well")).startswith(b"HTTP/1.1 200")
        silent, waiting = await asyncio.open_connection(*place)
        assert await ends_unanswered(silent)
        writer.write(REQUEST)
        assert (await reader.readuntil(b"well")).startswith(b"HTTP/1.1 200")
    for used in (writer, waiting):
        await closed(used)
