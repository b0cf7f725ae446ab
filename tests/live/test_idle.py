"""A process that nobody uses leaves the database alone, and caches nothing meanwhile."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest

from chat_aio import Chat
from chat_aio.errors import ForbiddenRead
from chat_aio.live import feed
from chat_aio.store.change_stream import tick
from chat_aio.store.snapshots import Snapshots
from tests.conftest import MakeChat, MakePeople

PATIENCE = 30.0
STALL = 2.0
"""Longer than a tick takes on a busy machine: a late one would end the feed."""


OFTEN, SELDOM = 20, 0.001
"""Ticks in that time: a process is idle soon, or stays as it is while a test looks at it."""


@pytest.fixture(autouse=True)
def ticks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "TICKS", OFTEN)


class Watch:
    """Counts the ticks that are written, and notices when caching begins and ends."""

    def __init__(self) -> None:
        self.ticks = 0
        self._happened = asyncio.Event()
        self._tick = tick
        self._set_feed_live = Snapshots.set_feed_live

    async def tick(self, *given: Any, **named: Any) -> None:
        self.ticks += 1
        self._happened.set()
        await self._tick(*given, **named)

    def set_feed_live(self, snapshots: Snapshots, is_live: bool) -> None:
        self._set_feed_live(snapshots, is_live)
        self._happened.set()

    async def until(self, met: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not met():
                self._happened.clear()
                await self._happened.wait()


@pytest.fixture
def watch() -> Iterator[Watch]:
    made = Watch()
    with (
        patch.object(feed, "tick", made.tick),
        patch.object(Snapshots, "set_feed_live", lambda *given: made.set_feed_live(*given)),
    ):
        yield made


def caches(chat: Chat) -> bool:
    return chat._context.snapshots._feed_live


async def test_an_idle_process_writes_nothing_until_it_is_used(
    make_chat: MakeChat, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = await make_chat(change_stream_timeout_seconds=STALL)
    group = await chat.api.create_group_conversation("ina")
    await watch.until(lambda: not caches(chat))
    assert chat._live.feed.is_live
    assert not chat._context.bans._feed_live
    # Let the feed go on: it must wait to be woken, or it would write again after a while.
    await asyncio.sleep(0)
    assert chat._live.feed._used._waiters
    written = watch.ticks
    monkeypatch.setattr(feed, "TICKS", SELDOM)
    await chat.api.get_conversation("ina", group.id)
    await watch.until(lambda: caches(chat))
    assert watch.ticks == written + 1


async def test_an_idle_process_writes_now_and_then(
    make_chat: MakeChat, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or the place from which its feed resumes would fall behind for hours."""
    monkeypatch.setattr(feed, "IDLE_SECONDS", 0.2)
    chat = await make_chat(change_stream_timeout_seconds=STALL)
    await watch.until(lambda: not caches(chat))
    monkeypatch.setattr(feed, "TICKS", SELDOM)
    written, token = watch.ticks, chat._live.feed._token
    await watch.until(lambda: watch.ticks > written and caches(chat))
    assert chat._live.feed._token != token


async def test_a_process_with_a_stream_goes_on(serve: MakePeople, watch: Watch) -> None:
    ina = (await serve(change_stream_timeout_seconds=STALL))("ina")
    async with ina.tab():
        written = watch.ticks
        await watch.until(lambda: watch.ticks >= written + 3)
        assert caches(ina.chat)
    await watch.until(lambda: not caches(ina.chat))
    written = watch.ticks
    async with ina.tab():
        await watch.until(lambda: caches(ina.chat))
    assert watch.ticks > written


async def test_an_idle_process_does_not_trust_its_feed(make_chat: MakeChat, watch: Watch) -> None:
    """Nobody has noticed that it brings nothing any more."""
    idle, other = await make_chat(change_stream_timeout_seconds=STALL), await make_chat()
    group = await idle.api.create_group_conversation("ina", user_ids=["bob"])
    await idle.api.get_conversation("bob", group.id)
    await watch.until(lambda: not caches(idle))
    with patch.object(idle._live._delivery, "deliver", AsyncMock()):
        await other.api.remove_participant("ina", group.id, "bob")
        with pytest.raises(ForbiddenRead):
            await idle.api.get_conversation("bob", group.id)
