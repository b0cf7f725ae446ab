"""A feed that nobody hears leaves the database alone for moments, and never longer than that."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat
from chat_aio.live import feed
from chat_aio.store.change_stream import StreamChange
from tests.conftest import MakeChat
from tests.support.people import Person

LONG = 4.0
SOON = 1.5


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rests that nobody can overlook."""
    monkeypatch.setattr(feed, "REST_SECONDS", LONG)


async def resting(chat: Chat) -> None:
    """Make changes until the feed rests after one."""
    group = await chat.api.create_group_conversation("rita")
    async with asyncio.timeout(30):
        while chat._live.feed._resting is None:
            await chat.api.send_message("rita", group.id, "hello")
            await asyncio.sleep(2 * feed.READ_SECONDS)


@pytest.mark.usefixtures("slow")
async def test_who_waits_for_the_feed_wakes_it(make_chat: MakeChat) -> None:
    chat = await make_chat()
    await resting(chat)
    async with asyncio.timeout(SOON):
        await chat._live.feed.catch_up(seconds=SOON)


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
    async with asyncio.timeout(LONG), person("bob").tab() as tab:
        for number in range(5):
            await alice.send(group, f"{number}")
            assert await tab.bodies(1) == [f"{number}"]


@pytest.mark.usefixtures("slow")
async def test_a_chat_that_closes_does_not_wait_for_it(make_chat: MakeChat) -> None:
    chat = await make_chat()
    await resting(chat)
    async with asyncio.timeout(SOON):
        await chat.close()


async def test_what_comes_meanwhile_is_read_together(make_chat: MakeChat) -> None:
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
        with patch.object(feed, "REST_SECONDS", 0.3):
            for _ in range(30):
                await chat.api.send_message("ada", group.id, "hello")
            await chat._live.feed.catch_up(seconds=5)
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
