"""A feed that nobody hears leaves the database alone for moments, and never longer than that."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat
from chat_aio.live import feed
from chat_aio.store.change_stream import StreamChange, tick
from tests.conftest import MakeChat
from tests.support.people import PATIENCE, Person, caught_up

FOR_EVER = 3_600.0


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rests that only somebody ends."""
    monkeypatch.setattr(feed, "REST_SECONDS", FOR_EVER)


async def resting(chat: Chat) -> None:
    """Make changes until the feed rests after one."""
    group = await chat.api.create_group_conversation("rita")
    async with asyncio.timeout(PATIENCE):
        while chat._live.feed._resting is None:
            await chat.api.send_message("rita", group.id, "hello")
            await asyncio.sleep(2 * feed.READ_SECONDS)


@pytest.mark.usefixtures("slow")
async def test_who_waits_for_the_feed_wakes_it(make_chat: MakeChat) -> None:
    chat = await make_chat()
    await resting(chat)
    rest = chat._live.feed._resting

    async def write(*given: Any, **named: Any) -> None:
        assert rest is not None
        assert rest.done()
        await tick(*given, **named)

    with patch.object(feed, "tick", write):
        await caught_up(chat)


@pytest.mark.usefixtures("slow")
async def test_a_stream_that_opens_wakes_it_and_keeps_it_awake(
    person: Callable[[str], Person],
) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    await resting(alice.chat)
    live = alice.chat._live
    prepare = live._prepare

    async def prepared(*given: Any) -> None:
        woken = live.feed._resting
        assert woken is None or woken.done()
        await prepare(*given)

    with patch.object(live, "_prepare", prepared):
        await live.open_stream("carol", None)
    # One that rests fails, and ends its streams.
    with patch.object(feed.Feed, "_rest", side_effect=AssertionError("it rested")):
        async with person("bob").tab() as tab:
            for number in range(5):
                await alice.send(group, f"{number}")
                assert await tab.bodies(1) == [f"{number}"]
                await asyncio.sleep(2 * feed.READ_SECONDS)


@pytest.mark.usefixtures("slow")
async def test_a_chat_that_closes_wakes_it(make_chat: MakeChat) -> None:
    chat = await make_chat()
    await resting(chat)
    rest = chat._live.feed._resting
    await chat.close()
    assert rest is not None
    assert rest.done()


@pytest.mark.usefixtures("slow")
async def test_what_comes_meanwhile_is_read_together(make_chat: MakeChat) -> None:
    """Only the watchdog's ticks come in between, every few seconds."""
    chat = await make_chat()
    group = await chat.api.create_group_conversation("ada")
    batches: list[int] = []
    delivered = chat._live._delivery.deliver

    async def noted(changes: Sequence[StreamChange], *, is_live: bool) -> None:
        batches.append(len(changes))
        await delivered(changes, is_live=is_live)

    with patch.object(chat._live._delivery, "deliver", noted), patch.object(feed, "MANY", 99):
        await resting(chat)
        batches.clear()
        for _ in range(30):
            await chat.api.send_message("ada", group.id, "hello")
        await caught_up(chat)
    assert sum(batches) >= 30
    assert len(batches) <= 15


async def test_it_does_not_rest_while_many_come(
    make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = await make_chat()
    group = await chat.api.create_group_conversation("ada")
    monkeypatch.setattr(feed, "MANY", 0)
    with patch.object(feed.Feed, "_rest", side_effect=AssertionError("it rested")):
        for _ in range(5):
            await chat.api.send_message("ada", group.id, "hello")
            await asyncio.sleep(2 * feed.READ_SECONDS)
        assert chat._live.feed.is_live
