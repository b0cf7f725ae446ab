"""Joining the feed: nothing between reading and following is lost, and nothing is told twice."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

from chat_aio import Chat
from chat_aio.live.frames import position_frame
from chat_aio.live.hub import Hub
from chat_aio.live.service import Live
from chat_aio.live.stream import Stream
from chat_aio.store import conversations
from tests.support.membership import change
from tests.support.pipes import Connected
from tests.support.saboteurs import prove
from tests.unit.test_live_parts import Pipe

Meanwhile = Callable[[], Awaitable[None]]


async def seen_by_feed(chat: Chat) -> None:
    """Wait until the feed has told all that is committed now."""
    await chat._live.feed.catch_up(seconds=30)


@asynccontextmanager
async def reading_ids_takes_a_while(meanwhile: Meanwhile) -> AsyncIterator[None]:
    """`meanwhile` happens after a stream's conversations were read, before it goes on."""
    read = conversations.ids_of_user

    async def slow(*args: Any) -> list[str]:
        ids = await read(*args)
        await meanwhile()
        return ids

    with patch.object(conversations, "ids_of_user", slow):
        yield


async def told_to_bob(chat: Chat, last_event_id: str | None, afterwards: Meanwhile) -> str:
    """What a stream of bob is told when `afterwards` happens before it goes live."""
    pipe = Pipe()
    stream = await chat._live.open_stream("bob", last_event_id)
    await afterwards()
    replayed = [frame.plain for frame in stream.replay.frames]
    stream.go_live(Connected(pipe))
    stream.end()
    await asyncio.sleep(0)  # What ends with a stream is done in the loop's next round.
    return b"".join([*replayed, *pipe.written]).decode()


async def nothing() -> None:
    return None


async def test_who_is_added_while_ids_are_read_hears(chat: Chat) -> None:
    """The stream is registered before its conversations are read."""

    async def scenario() -> None:
        group = (await chat.api.create_group_conversation("alice")).id

        async def meanwhile() -> None:
            await change(chat, group, add=("bob",))
            await seen_by_feed(chat)

        async def afterwards() -> None:
            await chat.api.send_message("alice", group, "to bob")
            await seen_by_feed(chat)

        async with reading_ids_takes_a_while(meanwhile):
            assert "to bob" in await told_to_bob(chat, None, afterwards)

    await prove(scenario, sabotage=patch.multiple(Hub, register=late, subscribe=late_subscribe))


async def test_who_is_removed_while_ids_are_read_does_not_hear(chat: Chat) -> None:
    async def scenario() -> None:
        group = (await chat.api.create_group_conversation("alice", user_ids=["bob"])).id

        async def meanwhile() -> None:
            await change(chat, group, remove=("bob",))
            await seen_by_feed(chat)

        async def afterwards() -> None:
            await chat.api.send_message("alice", group, "not to bob")
            await seen_by_feed(chat)

        async with reading_ids_takes_a_while(meanwhile):
            assert "not to bob" not in await told_to_bob(chat, None, afterwards)

    await prove(scenario, sabotage=patch.multiple(Hub, register=late, subscribe=late_subscribe))


register, subscribe = Hub.register, Hub.subscribe


def late(self: Hub, stream: Stream) -> None:
    """The guard removed: registration is left to the time after the reading."""


def late_subscribe(self: Hub, stream: Stream, *read: Any) -> None:
    register(self, stream)
    subscribe(self, stream, *read)


async def test_nothing_falls_between_replay_and_live(chat: Chat) -> None:
    """The stream is attached before its replay is put together."""

    async def scenario() -> None:
        group = (await chat.api.create_group_conversation("alice", user_ids=["bob"])).id
        for body in ("seen", "missed"):
            await chat.api.send_message("alice", group, body)
        await seen_by_feed(chat)

        def send(body: str) -> Meanwhile:
            async def sending() -> None:
                await chat.api.send_message("alice", group, body)
                await seen_by_feed(chat)

            return sending

        async with reading_ids_takes_a_while(send("while reading")):
            told = await told_to_bob(chat, f"{group}:1", send("before going live"))
        bodies = [told.count(f'"body":"{body}"') for body in ("seen", "missed")]
        assert bodies == [0, 1]
        assert told.count('"body":"while reading"') == 1
        assert told.count('"body":"before going live"') == 1
        assert told.index("missed") < told.index("while reading") < told.index("before going live")

    await prove(scenario, sabotage=patch.object(Live, "open_stream", replay_before_attach))


async def replay_before_attach(self: Live, user_id: str, last_event_id: str) -> Stream:
    """The order of the two steps turned round."""
    stream = Stream(user_id, max_bytes=100_000, max_events=100)
    found = await self._database.conversations.find({"participants.userId": user_id}).to_list(None)
    stream.conversation_ids = {row["_id"] for row in found}
    resuming, began = self._resuming, self._context.clock()
    stream.replay = await resuming.replay(stream, await resuming.find(last_event_id), began)
    self.hub.register(stream)
    self.hub.subscribe(stream, await conversations.ids_of_user(self._database, user_id))
    stream.when_over(self.hub.remove)
    return stream


async def test_a_stream_that_is_over_leaves_nothing_behind(chat: Chat) -> None:
    await chat.api.create_group_conversation("bob")
    await told_to_bob(chat, None, nothing)
    assert (chat._live.hub._by_user, chat._live.hub._by_conversation) == ({}, {})


async def test_a_position_beyond_what_was_told_is_not_named(chat: Chat) -> None:
    group = (await chat.api.create_group_conversation("bob")).id
    assert (await told_to_bob(chat, None, nothing)).startswith("id: ::")
    await chat.api.send_message("bob", group, "x")
    await seen_by_feed(chat)
    assert await told_to_bob(chat, None, nothing) == position_frame(group, 1).plain.decode()
