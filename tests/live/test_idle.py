"""A process that nobody uses leaves the database alone, and caches nothing meanwhile."""

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest

from chat_aio import Chat
from chat_aio.errors import ForbiddenRead
from chat_aio.live import feed
from tests.conftest import MakeChat, MakePeople

PATIENCE = 30.0
STALL = 0.3


class Ticks:
    """The ticks that a feed writes."""

    def __init__(self) -> None:
        self.written = 0
        self._tick = feed.tick

    async def write(self, *given: Any, **named: Any) -> None:
        self.written += 1
        await self._tick(*given, **named)


async def until(met: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not met():
            await asyncio.sleep(0.01)


def caches(chat: Chat) -> bool:
    context = chat._context
    assert context.snapshots._feed_live == context.bans._feed_live
    return context.snapshots._feed_live


async def test_an_idle_process_writes_nothing_until_it_is_used(make_chat: MakeChat) -> None:
    ticks = Ticks()
    with patch.object(feed, "tick", ticks.write):
        chat = await make_chat(feed_stall_seconds=STALL)
        group = await chat.api.create_group_conversation("ina")
        await until(lambda: not caches(chat))
        written = ticks.written
        # The feed waits to be woken: no time passes after which it would write again.
        assert chat._live.feed._used._waiters
        assert chat._live.feed.is_live
        await chat.api.get_conversation("ina", group.id)
        await until(lambda: caches(chat))
        assert ticks.written == written + 1


async def test_a_process_with_a_stream_goes_on(serve: MakePeople) -> None:
    ticks = Ticks()
    with patch.object(feed, "tick", ticks.write):
        person = await serve(feed_stall_seconds=STALL)
        ina = person("ina")
        async with ina.tab():
            written = ticks.written
            await until(lambda: ticks.written >= written + 3)
            assert caches(ina.chat)
        await until(lambda: not caches(ina.chat))
        written = ticks.written
        async with ina.tab():
            await until(lambda: caches(ina.chat))
        assert ticks.written > written


async def test_an_idle_process_does_not_trust_its_feed(make_chat: MakeChat) -> None:
    """Nobody has noticed that it brings nothing any more."""
    idle, other = await make_chat(feed_stall_seconds=STALL), await make_chat()
    group = await idle.api.create_group_conversation("ina", user_ids=["bob"])
    await idle.api.get_conversation("bob", group.id)
    await until(lambda: not caches(idle))
    with patch.object(idle._live._delivery, "deliver", AsyncMock()):
        await other.api.remove_participant("ina", group.id, "bob")
        with pytest.raises(ForbiddenRead):
            await idle.api.get_conversation("bob", group.id)
