"""The stream: it comes back after every failure, misses nothing and tells nothing twice."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from chat_aio import Chat, Hooks, Options
from chat_aio.client import (
    Bot,
    BotMessage,
    ChangedEvent,
    ChatClient,
    ConversationDeletedEvent,
    ConversationEvent,
    Event,
    EventStream,
    FilePositions,
    JoinRequestEvent,
    MessageEvent,
    NewConversationEvent,
    OtherEvent,
    ReactionEvent,
    ReadEvent,
    ReadReceiptEvent,
    ResetEvent,
    fetch_changed,
    reader,
)
from chat_aio.client import stream as streaming
from chat_aio.client.changes import MOST_ONE_BY_ONE
from chat_aio.client.connection import Connection
from chat_aio.errors import ForbiddenRead, InternalError, RateLimited, Unauthenticated, UserBanned
from chat_aio.plugins import Receipts
from chat_aio.schema.events import ChangedConversations
from tests.client.conftest import Connect
from tests.client.proxy import proxied
from tests.client.scripted import Answer, hangs_up, newer_message, refuses, says, scripted
from tests.conftest import Database, MakePeople
from tests.support.ageing import age
from tests.support.people import BASE, PATIENCE, picked_by_header

BOB = {"X-User": "bob"}


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, int]]:
    """Pauses are a moment; how long they were to be, and after how many failures."""
    asked: list[tuple[float, int]] = []

    def at_once(first: float, attempt: int, longest: float) -> float:
        asked.append((first, attempt))
        return 0.01

    monkeypatch.setattr(streaming, "backoff_delay", at_once)
    return asked


async def told(stream: EventStream) -> Event:
    async with asyncio.timeout(PATIENCE):
        return await anext(stream)


async def bodies(stream: EventStream, count: int) -> list[str]:
    """Of so many created messages; there is nothing else."""
    found = []
    for _ in range(count):
        event = await told(stream)
        assert isinstance(event, MessageEvent)
        assert event.type == "message.created"
        found.append(event.message.body)
    return found


async def test_cut_connections(serve: MakePeople) -> None:
    """Cut again and again, at any byte, while messages are sent."""
    person = await serve()
    ada = person("ada")
    groups = [await ada.group("bob") for _ in range(2)]
    await ada.told_all()
    async with (
        proxied(ada.client.port or 0) as proxy,
        ChatClient(proxy.base, headers=BOB) as client,
        client.stream() as stream,
    ):
        proxy.chunk = 7
        seen: list[str] = []
        for number in range(0, 24, 3):
            for place in range(number, number + 3):
                await ada.send(groups[place % 2], str(place))
            seen += await bodies(stream, 2)
            proxy.cut()
        seen += await bodies(stream, 8)
        assert seen == [str(number) for number in range(24)]
        await ada.send(groups[0], "24")
        assert await bodies(stream, 1) == ["24"]
        assert stream.last_event_id == f"{groups[0]}:13"
        assert proxy.connections > 3


async def test_a_service_that_restarts(database: Database, chat: Chat) -> None:
    """What is written meanwhile is told from storage. That tells messages of the minute before
    again, which the client does not; a bot that was restarted too goes on from what it kept."""
    one, two = [
        (await chat.api.create_group_conversation("ada", user_ids=["bob"])).id for _ in range(2)
    ]
    port = 0

    async def served() -> TestServer:
        app = web.Application()
        Chat(database, auth=picked_by_header, options=Options(replay_buffer_seconds=0)).mount(app)
        server = TestServer(app, port=port or None)
        await server.start_server()
        return server

    server = await served()
    port = server.port or 0
    base = str(server.make_url("/api/chat"))
    async with ChatClient(base, headers=BOB) as client:
        async with client.stream() as stream:
            for body, group in (("a", one), ("b", two)):
                await chat.api.send_message("ada", group, body)
            assert await bodies(stream, 2) == ["a", "b"]
            kept = stream.last_event_id
            await server.close()
            await chat.api.send_message("ada", one, "c")
            waiting = asyncio.create_task(bodies(stream, 1))
            server = await served()
            assert await waiting == ["c"]
            await chat.api.send_message("ada", two, "d")
            assert await bodies(stream, 1) == ["d"]
        missed: set[str] = set()
        async with client.stream(kept) as stream:
            missed |= set(await bodies(stream, 1))
            assert stream.last_event_id == kept  # Told from storage, this is no position to keep.
        async with client.stream(kept) as stream:
            missed |= set(await bodies(stream, 3))
            last = await chat.api.send_message("ada", two, "e")
            assert await bodies(stream, 1) == ["e"]
            assert stream.last_event_id == f"{two}:{last.seq}"
        assert {"c", "d"} < missed
    await server.close()


async def test_each_kind_of_event(connect: Connect) -> None:
    """As an object of its class."""
    hooks = Hooks(can_delete=lambda asked: asked.user_id == "cyd")
    client_of = await connect(hooks, plugins=[Receipts()], extra_events=True)
    ada, bob, cyd = [await client_of(name) for name in ("ada", "bob", "cyd")]
    async with ada.stream() as stream:
        group = await ada.create_group_conversation(user_ids=["bob"])
        await bob.get_or_create_conversation("ada")
        sent = await bob.send_message(group.id, "hi")
        await bob.edit_message(sent.id, "ho")
        await bob.add_reaction(sent.id, "!")
        await ada.mark_read(group.id, sent.id)
        await cyd.request_to_join(group.id)
        seen = [await told(stream) for _ in range(7)]
        mine = await ada.send_message(group.id, "x")
        seen.append(await told(stream))
        await bob.mark_read(group.id, mine.id)
        seen.append(await told(stream))
        await cyd.conversations.delete_conversation(group.id, reason="over")
        deleted = await told(stream)
    assert isinstance(deleted, ConversationDeletedEvent)
    assert (deleted.conversation_id, deleted.actor_id) == (group.id, "cyd")
    assert {event.type: type(event) for event in seen[:7]} == {
        "participant.added": ConversationEvent,
        "conversation.created": NewConversationEvent,
        "message.created": MessageEvent,
        "message.updated": MessageEvent,
        "reaction.added": ReactionEvent,
        "read.updated": ReadEvent,
        "join_request.created": JoinRequestEvent,
    }
    assert isinstance(seen[-1], ReadReceiptEvent)
    assert (seen[-1].sender_id, seen[-1].payload.message_id) == ("bob", mine.id)


async def test_a_reset_is_told(serve: MakePeople) -> None:
    person = await serve(replay_limit=1)
    ada = person("ada")
    group = await ada.group("bob")
    first = await ada.send(group, "0")
    for body in "123":
        await ada.send(group, body)
    await ada.told_all()
    base = str(ada.client.make_url("/api/chat"))
    position = f"{group}:{first['seq']}"
    async with ChatClient(base, headers=BOB) as client, client.stream(position) as stream:
        reset = await told(stream)
        assert isinstance(reset, ResetEvent)
        assert reset.reason == "too_many_missed"
        await ada.send(group, "4")
        assert await bodies(stream, 1) == ["4"]


async def test_conversations_are_followed(serve: MakePeople) -> None:
    """Without a replay: what was missed while it was cut is to be fetched. What ends the right to
    read is raised."""
    refused: set[str] = set()
    hooks = Hooks(can_read=lambda asked: asked.user_id not in refused)
    person = await serve(hooks, supervisors=True)
    ada = person("ada")
    group, other = await ada.group("grace"), await ada.group("grace")
    await ada.told_all()
    async with (
        proxied(ada.client.port or 0) as proxy,
        ChatClient(proxy.base, headers=BOB) as client,
        client.stream(conversation_ids=[group, other]) as stream,
    ):
        await ada.send(group, "0")
        await ada.send(other, "1")
        assert await bodies(stream, 2) == ["0", "1"]
        assert stream.last_event_id is None
        proxy.cut()
        assert await told(stream) == ResetEvent(reason="position_unknown")
        await ada.send(group, "2")
        assert await bodies(stream, 1) == ["2"]
        refused.add("bob")
        await ada.chat.end_streams("bob")
        with pytest.raises(ForbiddenRead):
            await told(stream)


async def test_refusals_are_final(serve: MakePeople, pauses: list[Any]) -> None:
    person = await serve(Hooks(can_moderate=lambda _: True), streams_per_user=1)
    base = str(person("").client.make_url("/api/chat"))
    await person("ada").post("/moderation/bans", {"targetUserId": "mallory"})
    async with ChatClient(base, headers=BOB) as bob, bob.stream():
        with pytest.raises(RateLimited):
            await told(bob.stream())
    async with ChatClient(base) as nobody:
        with pytest.raises(Unauthenticated):
            await told(nobody.stream())
    async with ChatClient(base, headers={"X-User": "mallory"}) as mallory:
        with pytest.raises(UserBanned):
            await told(mallory.stream())
    assert pauses == []


def streams(*parts: bytes, then: asyncio.Event | None = None) -> Answer:
    """A stream that says something, and ends then, if ever."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for part in parts:
            await response.write(part)
        if then is not None:
            await asyncio.wait_for(then.wait(), PATIENCE)
        return response

    return answer


@pytest.fixture
async def never() -> AsyncIterator[asyncio.Event]:
    """Until the test is over."""
    event = asyncio.Event()
    yield event
    event.set()


async def test_what_is_tried_again(never: asyncio.Event, pauses: list[tuple[float, int]]) -> None:
    """A connection that is closed without an answer, answers of a proxy, an event that is cut in
    the middle, and a stream without a sign of life; each time from the position behind what was
    told. Pauses grow from what the service asks for, until something is heard."""
    answers = (
        hangs_up,
        says(502, "a proxy's own page"),
        refuses(500, "INTERNAL_ERROR"),
        streams(b"retry: 70\n\nid: c:1\n\nevent: mine\ndata: {}\n\nid: c:2\nevent: mine\ndata: {"),
        streams(b"id: c:3\n\n"),
        streams(b": open\n\n", then=never),
        streams(b'event: mine\ndata: {"a": 1}\n\n', then=never),
    )
    async with scripted(*answers) as script, ChatClient(script.base) as client:
        async with client.stream(heartbeat_seconds=0.5) as stream:
            assert await told(stream) == OtherEvent(type="mine", data={})
            assert stream.last_event_id == "c:1"
            assert await told(stream) == OtherEvent(type="mine", data={"a": 1})
            assert stream.last_event_id == "c:3"
        never.set()
    positions = [request.headers.get("Last-Event-ID") for request, _ in script.requests]
    assert positions == [None, None, None, None, "c:1", "c:3", "c:3"]
    assert pauses[:2] == [(3.0, 0), (3.0, 1)]  # aiohttp itself has tried a GET once more.
    assert pauses[2:] == [(0.07, 0)] * 3


async def test_errors_of_the_service_in_a_row(
    pauses: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    """As of a login hook that fails. Each is logged; after five the caller is told; a stream that
    opens and another failure begin a new row."""
    error, away = refuses(500, "INTERNAL_ERROR", "it failed"), says(503, "a proxy's own page")
    answers = (*(error,) * 4, streams(b": open\n\n"), *(error, away) * 3, *(error,) * 5)
    async with scripted(*answers) as script, ChatClient(script.base) as client:
        with pytest.raises(InternalError, match="it failed"):
            await told(client.stream())
    # Other parts may warn of a busy machine.
    warnings = [message for name, _, message in caplog.record_tuples if name == streaming.log.name]
    assert warnings == [
        f"the stream was refused, attempt {number}: it failed"
        for number in (1, 2, 3, 4, 1, 1, 1, 1, 2, 3, 4, 5)
    ]


async def test_a_replay_that_is_cut(never: asyncio.Event) -> None:
    """Between an event and the position that belongs to it: it starts over."""
    told_first = json.dumps(
        {"type": "message.created", "conversationId": "d", **newer_message("m")}
    )
    event = f"id: d:1\nevent: message.created\ndata: {told_first}\n\n".encode()
    answers = (
        streams(event),
        streams(event, b"id: c:9\n\n", b"id: d:1\n\nevent: mine\ndata: {}\n\n", then=never),
    )
    async with scripted(*answers) as script, ChatClient(script.base) as client:
        async with client.stream("c:9") as stream:
            assert isinstance(await told(stream), MessageEvent)
            assert stream.last_event_id == "c:9"
            assert isinstance(await told(stream), OtherEvent)
            assert stream.last_event_id == "d:1"
        never.set()
    assert [request.headers["Last-Event-ID"] for request, _ in script.requests] == ["c:9", "c:9"]


async def test_positions_to_keep(connect: Connect) -> None:
    """An edit of an old message is no way back; the position is that of the newest one told."""
    bob = await (await connect())("bob")
    group = (await bob.create_group_conversation()).id
    async with bob.stream() as stream:
        old = await bob.send_message(group, "old")
        await bob.send_message(group, "new")
        assert await bodies(stream, 2) == ["old", "new"]
        await bob.edit_message(old.id, "edited")
        edited = await told(stream)
        assert isinstance(edited, MessageEvent)
        assert edited.message.seq == 1
        assert stream.last_event_id == f"{group}:2"


async def test_it_ends_when_it_is_closed(connect: Connect) -> None:
    """For who is waiting too, and with its client; and it remembers no more than it must."""
    client = await (await connect())("bob")
    left = client.stream()
    waiting = asyncio.create_task(anext(left, None))
    await client.create_group_conversation()
    await client.__aexit__(None, None, None)
    assert await asyncio.wait_for(waiting, PATIENCE) is None
    await client.__aenter__()
    stream = client.stream()
    async with stream:
        waiting = asyncio.create_task(anext(stream, None))
        await asyncio.sleep(0)
        stream.close()
        assert await asyncio.wait_for(waiting, PATIENCE) is None
    async with asyncio.timeout(PATIENCE):
        async for _ in stream:
            raise AssertionError("it is closed")


async def test_its_memory_is_bounded(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "REMEMBERED_MESSAGES", 2)
    bob = await (await connect())("bob")
    group = (await bob.create_group_conversation()).id
    async with bob.stream() as stream:
        for body in "abc":
            await bob.send_message(group, body)
        assert await bodies(stream, 3) == ["a", "b", "c"]
        assert len(stream._reader._returned) == 2


async def test_one_that_is_closed_while_it_connects_keeps_no_connection(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = await (await connect())("bob")
    stream = bob.stream()
    request, answers = Connection.request, []

    async def closing(self: Connection, *given: Any, **more: Any) -> Any:
        answers.append(await request(self, *given, **more))
        stream.close()
        return answers[-1]

    monkeypatch.setattr(Connection, "request", closing)
    assert [event async for event in stream] == []
    assert [answer.closed for answer in answers] == [True]


async def test_what_else_changed_is_named_and_fetched(
    serve: MakePeople, database: Database
) -> None:
    person = await serve(extra_events=True)
    alice = person("alice")
    groups = [await alice.group("bob") for _ in range(8)]
    old = await alice.send(groups[0], "old")
    await age(database)
    last = await alice.send(groups[0], "the last")
    base = str(alice.client.make_url(BASE))

    async def changes(client: ChatClient) -> ChangedEvent:
        async with client.stream(f"{groups[0]}:{last['seq']}") as stream:
            event = await told(stream)
        assert isinstance(event, ChangedEvent)
        return event

    async with ChatClient(base, headers=BOB) as client:
        assert not any((await changes(client)).conversations.model_dump().values())
        await alice.react(old["id"], "👍")
        await alice.call("PATCH", f"/conversations/{groups[1]}", json={"name": "new"})
        await alice.call(
            "DELETE", f"/conversations/{groups[2]}/participants", json={"userId": "bob"}
        )
        found = await fetch_changed(client, await changes(client))
        assert [row.name for row in found.conversations.values()] == ["new"]
        assert found.removed == {groups[2]}
        (page,) = found.messages.values()
        assert [len(message.reactions) for message in page] == [0, 1]
        # More than a few are one list; one that is left in the meantime counts as removed.
        for group in groups[3:]:
            await alice.call("PATCH", f"/conversations/{group}", json={"name": "new"})
        event = await changes(client)
        await alice.call(
            "DELETE", f"/conversations/{groups[7]}/participants", json={"userId": "bob"}
        )
        found = await fetch_changed(client, event)
        assert found.conversations.keys() == {groups[1], *groups[3:7]}
        assert found.removed == {groups[2], groups[7]}
        everything = await fetch_changed(client, ChangedEvent(all=True))
        assert everything.conversations.keys() == {groups[0], groups[1], *groups[3:7]}


async def test_hidden_conversations_are_not_removed(serve: MakePeople) -> None:
    """Lists leave them out; the user can still read them."""
    person = await serve(extra_events=True, inbox=True)
    alice = person("alice")
    groups = [await alice.group("bob") for _ in range(MOST_ONE_BY_ONE + 1)]
    await person("bob").call("PATCH", f"/conversations/{groups[0]}/view", json={"hidden": True})
    event = ChangedEvent(all=False, conversations=ChangedConversations(name=(*groups,)))
    base = str(alice.client.make_url(BASE))
    async with ChatClient(base, headers=BOB) as client:
        found = await fetch_changed(client, event)
    assert found.conversations.keys() == {*groups}
    assert found.removed == set()


async def test_a_bot_gets_it_and_goes_on_if_its_handler_fails(
    serve: MakePeople, tmp_path: Path
) -> None:
    person = await serve(extra_events=True)
    alice = person("alice")
    group = await alice.group("bob")
    last = await alice.send(group, "the last")
    place = FilePositions(tmp_path / "position")
    await place.save(f"{group}:{last['seq']}")
    base = str(alice.client.make_url(BASE))
    async with ChatClient(base, headers=BOB) as client:
        bot, seen = Bot(client, "bob", positions=place), list[ChangedEvent]()
        kept, heard = asyncio.Event(), asyncio.Event()

        @bot.on_changed
        async def keep(event: ChangedEvent) -> None:
            seen.append(event)
            kept.set()
            raise ValueError("fails")

        @bot.on_message
        async def hear(_: BotMessage) -> None:
            heard.set()

        running = asyncio.create_task(bot.run())
        async with asyncio.timeout(PATIENCE):
            await kept.wait()
            await alice.send(group, "one more")
            await heard.wait()
        running.cancel()
        await asyncio.wait({running})
        assert [event.conversations.members for event in seen] == [(group,)]
