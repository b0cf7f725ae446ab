"""`chat.events`: what a stream over HTTP tells, in process, and how it ends and resumes."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat, Hooks, Options
from chat_aio.capabilities import Capability
from chat_aio.client import ConversationEvent, MessageEvent, ReactionEvent, ResetEvent
from chat_aio.client import Event as Told
from chat_aio.errors import (
    InvalidInput,
    RateLimited,
    StorageUnavailable,
    StreamUnsupported,
    UserBanned,
)
from chat_aio.hooks import PermissionContext
from chat_aio.live import local_events
from chat_aio.live.event import Event
from chat_aio.live.frames import frame_from
from chat_aio.live.local_events import EventSubscription
from chat_aio.live.stream import Stream
from chat_aio.plugins import Plugin, Typing
from tests.conftest import Database, MakeChat
from tests.support.ageing import age
from tests.support.people import caught_up
from tests.support.saboteurs import prove

PATIENCE_SECONDS = 30


async def told(events: EventSubscription) -> Told:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await anext(events)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def bodies(events: EventSubscription, count: int) -> list[str]:
    """Of so many message events."""
    found = [await told(events) for _ in range(count)]
    return [event.message.body for event in found if isinstance(event, MessageEvent)]


async def group_of(chat: Chat, *user_ids: str) -> str:
    """A group whose beginning has been told: a stream that opens now says nothing of it."""
    first, *others = user_ids
    group = await chat.api.create_group_conversation(first, user_ids=others)
    await caught_up(chat)
    return group.id


@asynccontextmanager
async def reading(events: EventSubscription) -> AsyncIterator["asyncio.Task[list[Told]]"]:
    """A task that reads until the end."""

    async def read() -> list[Told]:
        return [event async for event in events]

    task = asyncio.create_task(read())
    await asyncio.sleep(0)
    yield task
    async with asyncio.timeout(PATIENCE_SECONDS):
        await task


async def test_the_host_is_told_of_all_conversations(chat: Chat) -> None:
    """Also of those that are opened later; nobody is in all of them."""
    one = await group_of(chat, "ada", "bob")
    async with chat.events() as events:
        sent = await chat.api.send_message("ada", one, "first")
        two = await group_of(chat, "carol", "dan")
        await chat.api.send_message("carol", two, "second")
        await chat.api.add_reaction("bob", sent.id, "👍")
        first = await told(events)
        assert isinstance(first, MessageEvent)
        assert (first.message, first.position) == (sent, f"{one}:1")
        created = await told(events)
        assert isinstance(created, ConversationEvent)
        assert created.affected_user_ids == ("dan",)
        assert await bodies(events, 1) == ["second"]
        assert isinstance(await told(events), ReactionEvent)


async def test_the_host_chooses_conversations(chat: Chat) -> None:
    one, two = await group_of(chat, "ada"), await group_of(chat, "ada")
    async with chat.events([two]) as events:
        for conversation_id in (one, two, one, two):
            await chat.api.send_message("ada", conversation_id, conversation_id)
        assert await bodies(events, 2) == [two, two]


async def test_a_user_is_told_what_their_stream_tells(chat: Chat) -> None:
    """Being added and removed, and nothing in between of others."""
    group, secret = await group_of(chat, "ada"), await group_of(chat, "ada")
    async with chat.events(user_id="bob") as events:
        await chat.api.send_message("ada", group, "before")
        await chat.api.add_participants("ada", group, ["bob"])
        await chat.api.send_message("ada", group, "during")
        await chat.api.send_message("ada", secret, "secret")
        await chat.api.remove_participant("ada", group, "bob")
        await chat.api.send_message("ada", group, "after")
        direct = await chat.api.get_or_create_conversation("ada", "bob")
        await chat.api.send_message("ada", direct.id, "direct")
        assert (await told(events)).type == "participant.added"
        assert await bodies(events, 1) == ["during"]
        assert (await told(events)).type == "participant.removed"
        assert await bodies(events, 1) == ["direct"]


async def test_a_user_and_conversations(make_chat: MakeChat) -> None:
    """Both limits hold, for what is added later and for events without a position, too."""
    chat = await make_chat(extra_events=True)
    one, two = await group_of(chat, "ada", "bob"), await group_of(chat, "ada", "bob")
    stranger = await group_of(chat, "ada")
    async with chat.events([two, stranger], user_id="bob") as events:
        assert [
            chat._live.hub.has_listeners(conversation_id) for conversation_id in (one, two)
        ] == [False, True]
        later = await group_of(chat, "ada", "bob")
        assert not chat._live.hub.has_listeners(later)
        for conversation_id in (one, stranger, two):
            sent = await chat.api.send_message("ada", conversation_id, conversation_id)
        await chat.api.add_participants("ada", stranger, ["bob"])
        newest = await chat.api.list_messages("bob", one)
        await chat.api.mark_read("bob", one, newest.messages[0].id)
        await chat.api.mark_read("bob", two, sent.id)
        assert await bodies(events, 1) == [two]
        assert (await told(events)).type == "participant.added"
        read = await told(events)
        assert (read.type, getattr(read, "conversation_id", "")) == ("read.updated", two)


@pytest.mark.parametrize("host", [True, False])
@pytest.mark.parametrize("aged", [True, False])
async def test_it_resumes_from_a_position(
    make_chat: MakeChat, database: Database, host: bool, aged: bool
) -> None:
    """In the same process and in another one, which has nothing in memory."""
    user_id = None if host else "bob"
    chat = await make_chat()
    one, two = await group_of(chat, "ada", "bob"), await group_of(chat, "ada", "bob")
    old = await chat.api.send_message("ada", two, "old")
    await caught_up(chat)
    await age(database)
    async with chat.events(user_id=user_id) as events:
        await chat.api.send_message("ada", one, "seen")
        position = (await told(events)).position
    if aged:
        await age(database)
    await chat.api.send_message("ada", two, "missed")
    await chat.api.edit_message("ada", old.id, "edited")
    if aged:
        chat = await make_chat(replay_buffer_seconds=0)
    async with chat.events(user_id=user_id, after=position) as events:
        assert sorted(await bodies(events, 2)) == ["edited", "missed"]
        await chat.api.send_message("ada", one, "live")
        assert await bodies(events, 1) == ["live"]
        assert events.position == f"{one}:2"


async def test_a_position_that_cannot_be_replayed(make_chat: MakeChat) -> None:
    """It is told so, and its position is one to go on from."""
    chat = await make_chat(replay_limit=2)
    group = await group_of(chat, "ada")
    async with chat.events() as events:
        await chat.api.send_message("ada", group, "seen")
        position = (await told(events)).position
    for body in "abc":
        await chat.api.send_message("ada", group, body)
    await caught_up(chat)
    async with chat.events(after=position) as events:
        reset = await told(events)
        assert reset == ResetEvent(reason="too_many_missed")
        assert reset.position == f"{group}:4"
    async with chat.events(after=f"{group}:99") as events:
        assert await told(events) == ResetEvent(reason="position_unknown")


async def test_a_slow_reader_loses_nothing_and_costs_little(make_chat: MakeChat) -> None:
    """It is cut off with a bounded queue, and resumes: each message comes once."""
    bound, body = 16 * 1024, "x" * 3_000
    chat = await make_chat(stream_buffer_bytes=bound)
    group = await group_of(chat, "ada")
    async with chat.events() as events:
        for number in range(100):
            await chat.api.send_message("ada", group, f"{number} {body}")
        await until(lambda: not chat._live.hub.is_used)
        assert events._queue is not None
        # One event more than the bound may be in it.
        assert 0 < events._queue.get_write_buffer_size() < 4 * bound + 2 * len(body)
        assert [int(body.split()[0]) for body in await bodies(events, 100)] == [*range(100)]
        await chat.api.send_message("ada", group, "live")
        assert await bodies(events, 1) == ["live"]


async def test_resuming_is_what_loses_nothing(make_chat: MakeChat) -> None:
    """Without its position a slow reader would miss what came after its queue."""

    async def scenario() -> None:
        try:
            with patch(f"{__name__}.PATIENCE_SECONDS", next(patience)):
                await test_a_slow_reader_loses_nothing_and_costs_little(make_chat)
        except TimeoutError as missing:
            raise AssertionError("nothing comes any more") from missing

    # Short only for the scenario that waits in vain.
    patience = iter([PATIENCE_SECONDS, 2])
    await prove(scenario, sabotage=patch.object(EventSubscription, "position", None))


async def test_it_survives_the_loss_of_the_feed(chat: Chat) -> None:
    group = await group_of(chat, "ada")
    async with chat.events() as events:
        await chat.api.send_message("ada", group, "one")
        assert await bodies(events, 1) == ["one"]
        chat._live.hub.end_all()
        await chat.api.send_message("ada", group, "two")
        assert await bodies(events, 1) == ["two"]


async def test_it_is_not_opened_in_a_loop(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    """If its stream ends again and again, it waits longer each time; it ends with the chat."""
    first = 0.01
    monkeypatch.setattr(local_events, "FIRST_PAUSE_SECONDS", first)
    pauses: list[float] = []
    enough = asyncio.Event()
    opened = chat._live.open_stream

    def attempted() -> None:
        pauses.append(events._pause)
        if len(pauses) == 4:
            enough.set()

    async def ended(*given: Any, **named: Any) -> Stream:
        attempted()
        stream = await opened(*given, **named)
        stream.end("overflow")
        return stream

    async def storage_is_away(*_: object, **__: object) -> Stream:
        attempted()
        raise StorageUnavailable

    for failing in (ended, storage_is_away):
        pauses.clear()
        enough.clear()
        events = chat.events()
        with patch.object(chat._live, "open_stream", failing):
            async with reading(events), asyncio.timeout(PATIENCE_SECONDS):
                await enough.wait()
                await events.aclose()
        assert pauses[:4] == [first, 2 * first, 4 * first, 8 * first]


async def test_banned_users_are_refused(make_chat: MakeChat) -> None:
    """Before and while they read; the host is not."""
    chat = await make_chat(Hooks(can_moderate=lambda asked: asked.user_id == "mod"))
    group = await group_of(chat, "ada", "bob")
    async with chat.events(user_id="bob") as events, chat.events() as hosts:
        await chat.api.send_message("ada", group, "hello")
        assert await bodies(events, 1) == ["hello"]
        await chat.api.moderation.ban_user("mod", "bob")
        with pytest.raises(UserBanned):
            await told(events)
        with pytest.raises(UserBanned):
            await told(chat.events(user_id="bob"))
        await chat.api.send_message("ada", group, "without bob")
        assert await bodies(hosts, 2) == ["hello", "without bob"]


async def test_what_a_host_hides_is_hidden_from_users(make_chat: MakeChat) -> None:
    """The hooks are not asked for the host's own streams, live and in replays."""
    asked: list[str] = []

    def can_read(reading: PermissionContext) -> bool:
        asked.append(reading.user_id)
        return reading.message is None or "secret" not in reading.message.body

    chat = await make_chat(Hooks(can_read=can_read, can_read_messages=True))
    group = await group_of(chat, "ada", "bob")
    async with chat.events(user_id="bob") as bobs, chat.events() as hosts:
        for body in ("first", "secret", "last"):
            await chat.api.send_message("ada", group, body)
        assert await bodies(bobs, 2) == ["first", "last"]
        assert await bodies(hosts, 3) == ["first", "secret", "last"]
    async with chat.events(after=f"{group}:1") as hosts:
        assert await bodies(hosts, 2) == ["secret", "last"]
    async with chat.events(user_id="bob", after=f"{group}:1") as bobs:
        assert await bodies(bobs, 1) == ["last"]
    assert "" not in asked


async def test_it_ends_with_the_chat(database: Database) -> None:
    async with Chat(database, options=Options(replay_buffer_seconds=5)) as chat:
        group = await group_of(chat, "ada")
        async with (
            chat.events() as of_all,
            chat.events(user_id="ada") as of_ada,
            reading(of_all) as host,
            reading(of_ada) as ada,
        ):
            await chat.api.send_message("ada", group, "last")
            await caught_up(chat)
            await chat.close()
        assert [len(task.result()) for task in (host, ada)] == [1, 1]
    with pytest.raises(RuntimeError):
        chat.events()


async def test_it_is_closed_while_somebody_waits(chat: Chat) -> None:
    events = chat.events()
    async with events, reading(events) as task:
        await events.aclose()
    assert task.result() == []
    await events.aclose()
    assert not chat._live.hub.is_used


async def test_cancelling_loses_nothing(chat: Chat) -> None:
    group = await group_of(chat, "ada")
    async with chat.events() as events:
        for number in range(5):
            waiting = asyncio.create_task(anext(events))
            await asyncio.sleep(0.01)
            waiting.cancel()
            await asyncio.wait({waiting})
            await chat.api.send_message("ada", group, str(number))
            assert await bodies(events, 1) == [str(number)]


async def test_a_loop_that_is_left_ends_its_stream(chat: Chat) -> None:
    group = await group_of(chat, "ada")

    async def first() -> Told:
        async with asyncio.timeout(PATIENCE_SECONDS):
            async for event in chat.events(after=f"{group}:1"):
                return event
        raise AssertionError("it has not ended")

    for body in "ab":
        await chat.api.send_message("ada", group, body)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await first()
    gc.collect()
    await until(lambda: not chat._live.hub.is_used)


async def test_the_host_is_no_user(database: Database) -> None:
    """Its streams count in no limit, and no plugin hears of them."""
    opened: list[str] = []

    class Watching(Plugin):
        name = "watching"

        def stream_opened(self, user_id: str) -> None:
            opened.append(user_id)

    options = Options(replay_buffer_seconds=5, streams_per_user=1)
    async with (
        Chat(database, options=options, plugins=[Watching()]) as chat,
        chat.events(),
        chat.events(),
        chat.events(user_id="ada"),
    ):
        with pytest.raises(RateLimited):
            await told(chat.events(user_id="ada"))
        assert chat._live.hub.user_ids() == ["ada"]
    assert opened == ["ada"]


async def test_what_is_not_stored_is_for_its_addressees(database: Database) -> None:
    typing = Typing()
    async with Chat(database, options=Options(replay_buffer_seconds=5), plugins=[typing]) as chat:
        group, other = [await group_of(chat, "ada", "bob") for _ in range(2)]
        async with (
            chat.events([group]) as hosts,
            chat.events([group], user_id="bob") as bobs,
            chat.events() as everything,
        ):
            for conversation_id in (other, group):
                for shown in ({"isTyping": True}, {"isTyping": False}):
                    event = typing.api.ephemeral(
                        "typing.started", "ada", shown, conversation_id=conversation_id
                    )
                    typing.api.publish(event)
            # Of no conversation at all, so not of these.
            typing.api.publish(typing.api.ephemeral("mine.shown", "ada", {}, to_users=["bob"]))
            told_of = [getattr(await told(bobs), "conversation_id", None) for _ in range(2)]
            assert told_of == [group, group]
            await chat.api.send_message("ada", group, "done typing")
            for reader in (hosts, bobs, everything):
                assert await bodies(reader, 1) == ["done typing"]


async def test_the_host_is_told_of_what_later_members_must_not_see(chat: Chat) -> None:
    """An event that shows a later state is for those who are still in; the host is told anyway."""
    group = await group_of(chat, "ada", "bob")
    later = Event(
        index=1,
        conversation_id=group,
        encode=lambda: frame_from(b"event: mine.later\ndata: {}\n\n"),
        audience=frozenset({"ada"}),
    )
    async with chat.events() as hosts, chat.events(user_id="bob") as bobs:
        await chat._live.hub.publish(later)
        await chat.api.send_message("ada", group, "hello")
        assert (await told(hosts)).type == "mine.later"
        assert await bodies(bobs, 1) == ["hello"]


@pytest.mark.parametrize("user_id", ["", " ", "a\0", 7])
async def test_nobody_is_the_host_by_chance(chat: Chat, user_id: Any) -> None:
    with pytest.raises(InvalidInput):
        chat.events(user_id=user_id)


async def test_without_streams(make_chat: MakeChat) -> None:
    chat = await make_chat(disabled_capabilities={Capability.STREAMS})
    with pytest.raises(StreamUnsupported):
        chat.events()
