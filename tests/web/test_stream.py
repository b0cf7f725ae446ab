"""The stream over real HTTP: frames, membership, positions, replay, limits."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import web

from chat_aio import Chat
from chat_aio.capabilities import Capability
from chat_aio.store import conversations
from tests.conftest import Database, MakePeople
from tests.support.membership import change
from tests.support.people import PATIENCE, Frame, Person, Tab, picked_by_header
from tests.support.verify import verify_action

People = Callable[[str], Person]


async def test_a_stream_opens_with_retry_and_headers(person: People) -> None:
    async with person("alice").tab() as tab:
        headers = tab.response.headers
        assert headers["Content-Type"] == "text/event-stream"
        assert headers["Cache-Control"] == "no-cache, no-transform"
        assert headers["X-Accel-Buffering"] == "no"
        assert headers["X-Request-Id"]
        conversation_id = await person("alice").direct("bob")
        await person("bob").send(conversation_id, "hi")
        frame = (await tab.until(lambda frame: frame.event is not None))[-1]
        assert tab.retry is not None
        assert 2_000 <= tab.retry <= 5_000
        assert tab.comments
        assert (frame.event, frame.id) == ("message.created", f"{conversation_id}:1")
        assert set(frame.data) == {"type", "conversationId", "message"}


async def test_a_message_reaches_every_tab_of_everyone_in_it(person: People) -> None:
    alice, bob, mallory = person("alice"), person("bob"), person("mallory")
    conversation_id, other = await alice.direct("bob"), await mallory.direct("eve")
    async with alice.tab() as first, alice.tab() as second, bob.tab() as third, mallory.tab() as no:
        message = await bob.send(conversation_id, "hi", metadata={"$a.b": 1.0})
        for tab in (first, second, third):
            assert (await tab.event("message.created"))["message"] == message
        await mallory.send(other, "for strangers")
        assert await no.bodies(1) == ["for strangers"]


async def test_messages_come_in_order(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    async with bob.tab() as tab:
        sent = await asyncio.gather(*(alice.send(conversation_id, str(n)) for n in range(100)))
        told = await tab.bodies(100)
    ordered = sorted(sent, key=lambda message: int(message["seq"]))
    assert told == [message["body"] for message in ordered]


async def test_verify_actions(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    group = await bob.group("alice", "carol", name="Tea")
    chat = alice.chat
    await verify_action(alice, lambda: bob.send(conversation_id, "hi"), "message.created")
    await verify_action(alice, lambda: alice.send(group, "mine"), "message.created")
    await verify_action(alice, lambda: bob.group("alice", name="new"), "participant.added")
    await verify_action(bob, lambda: bob.group("alice", name="new"), "participant.added")
    await verify_action(alice, lambda: change(chat, group, add=("dave",)), "participant.added")
    await verify_action(alice, lambda: change(chat, group, remove=("dave",)), "participant.removed")
    await verify_action(
        alice, lambda: change(chat, group, remove=("alice",)), "participant.removed"
    )


async def test_a_group_is_told_to_everyone_in_it(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    async with alice.tab() as hers, bob.tab() as his:
        made = await alice.post("/conversations/group", {"userIds": ["bob", "carol"]})
        for tab in (hers, his):
            told = await tab.event("participant.added")
            assert told["actorId"] == "alice"
            assert sorted(told["affectedUserIds"]) == ["bob", "carol"]
            expected = dict(made.json["conversation"])
            del expected["unreadCount"]
            assert told["conversation"] == expected
        alone = await alice.group()
        await alice.send(alone, "nobody was told of this group")
        assert await hers.bodies(1) == ["nobody was told of this group"]


async def test_who_is_added_hears_and_who_is_removed_does_not(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group()
    async with bob.tab() as tab:
        await alice.send(group, "before")
        await alice.told_all()
        await change(alice.chat, group, add=("bob",))
        await alice.send(group, "while in")
        assert (await tab.event("participant.added"))["affectedUserIds"] == ["bob"]
        assert await tab.bodies(1) == ["while in"]
        await change(alice.chat, group, remove=("bob",))
        await alice.send(group, "after")
        assert (await tab.event("participant.removed"))["affectedUserIds"] == ["bob"]
        other = await alice.direct("bob")
        await alice.send(other, "direct")
        assert await tab.bodies(1) == ["direct"]


async def test_another_programs_write_reaches_the_streams(
    person: People, database: Database
) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    message = await alice.send(conversation_id, "hi")
    stored = await database["messages"].find_one({"_id": message["id"]})
    assert stored is not None
    async with alice.tab() as tab:
        await database["messages"].insert_one(
            {**stored, "_id": "broken", "seq": "x"}, bypass_document_validation=True
        )
        await database["messages"].insert_one({**stored, "_id": "other", "seq": 2})
        assert (await tab.event("message.created"))["message"]["id"] == "other"


async def test_positions_on_opening(serve: MakePeople) -> None:
    person = await serve()
    alice = person("alice")
    async with alice.tab() as tab:
        first = await alice.direct("bob")
        await alice.send(first, "a")
        assert (await tab.until(lambda frame: frame.event is not None))[-1].id == f"{first}:1"
    second = await alice.direct("carol")
    await person("carol").send(second, "b")
    stranger = await person("carol").direct("dave")
    await person("carol").send(stranger, "c")
    await alice.told_all()
    async with alice.tab() as tab:
        assert await tab.next() == Frame(None, None, f"{second}:1")
    later = await serve(replay_buffer_seconds=0)
    async with later("alice").tab() as tab:
        assert await tab.next() == Frame(None, None, f"{second}:1")


async def test_heartbeats_can_be_events(serve: MakePeople) -> None:
    """The first one comes when the stream is live, behind the replay; others get comments, and no
    name of their user."""
    person = await serve(heartbeat_interval_ms=50)
    alice, bob = person("alice"), person("bob")
    direct = await alice.direct("bob")
    await alice.send(direct, "seen")
    await alice.send(direct, "missed")
    await alice.told_all()
    query = f"heartbeat=event&lastEventId={direct}:1"
    ping = {"type": "stream.ping", "intervalMs": 50}
    async with bob.client.get(f"/api/chat/stream?{query}", headers={"X-User": "bob"}) as response:
        tab = Tab(response)
        opened = {"type": "stream.opened", "userId": "bob"}
        assert await tab.next() == Frame("stream.opened", opened, None)
        assert await tab.bodies(1) == ["missed"]
        assert await tab.next() == Frame(None, None, f"{direct}:2")
        for _ in range(3):
            assert await tab.next() == Frame("stream.ping", ping, None)
    for other in ("", "?heartbeat=", "?heartbeat=comment"):
        async with bob.client.get(
            f"/api/chat/stream{other}", headers={"X-User": "bob"}
        ) as response:
            said = b""
            while said.count(b": keep-alive") < 2:
                said += await response.content.readany()
            assert b"event: stream." not in said


@pytest.mark.parametrize("by", ["header", "query"])
async def test_replay_covers_all_conversations(person: People, by: str) -> None:
    alice, bob = person("alice"), person("bob")
    one, two = await alice.direct("bob"), await alice.group("bob")
    stranger = await alice.group()
    await alice.send(one, "seen")
    await alice.send(two, "missed 1")
    await alice.send(stranger, "secret")
    await alice.send(one, "missed 2")
    await alice.send(two, "missed 3")
    await alice.told_all()
    query = f"?lastEventId={one}:1" if by == "query" else ""
    headers = {"Last-Event-ID": f"{one}:1"} if by == "header" else {}
    async with bob.client.get(
        f"/api/chat/stream{query}", headers={"X-User": "bob", **headers}
    ) as response:
        tab = Tab(response)
        assert await tab.bodies(3) == ["missed 1", "missed 2", "missed 3"]
        assert await tab.next() == Frame(None, None, f"{two}:2")
        await alice.send(one, "live")
        assert await tab.bodies(1) == ["live"]


async def test_a_position_of_a_conversation_one_is_not_in(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    theirs, own = await alice.group("carol"), await alice.direct("bob")
    await alice.send(own, "old")
    await alice.send(theirs, "position")
    await alice.send(own, "new")
    await alice.send(theirs, "secret")
    await alice.told_all()
    async with bob.tab(f"{theirs}:1") as tab:
        assert await tab.bodies(1) == ["new"]
        assert (await tab.next()).id == f"{own}:2"


@pytest.mark.parametrize("name", ["", "x", "{c}", "{c}:", "{c}:0", "{c}:x", "unknown:5"])
async def test_ids_that_name_no_message_replay_nothing(person: People, name: str) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    await alice.send(conversation_id, "old")
    await alice.told_all()
    async with alice.tab(name.format(c=conversation_id)) as tab:
        assert await tab.next() == Frame(None, None, f"{conversation_id}:1")
        await alice.send(conversation_id, "new")
        assert await tab.bodies(1) == ["new"]


async def test_a_process_that_lags_catches_up_before_it_replays(serve: MakePeople) -> None:
    """The client was told of a message by another process, before this one was."""
    one, other = await serve(), await serve()
    alice = one("alice")
    conversation_id = await alice.direct("bob")
    live = other("bob").chat._live
    changed = live._changed

    async def late(changes: Any) -> None:
        await asyncio.sleep(0.2)
        await changed(changes)

    object.__setattr__(live.feed._listener, "changed", late)
    await alice.send(conversation_id, "told elsewhere")
    async with other("bob").tab(f"{conversation_id}:1") as tab:
        assert await tab.next() == Frame(None, None, f"{conversation_id}:1")


async def test_a_burst_does_not_cut_off_who_reads(serve: MakePeople) -> None:
    person = await serve(stream_buffer_bytes=200_000)
    alice, bob = person("alice"), person("bob")
    conversation_id = await alice.direct("bob")
    async with bob.tab() as tab:
        reading = asyncio.create_task(tab.bodies(200))
        await asyncio.gather(*(alice.send(conversation_id, "x" * 8_000) for _ in range(200)))
        assert len(await reading) == 200


async def test_a_ring_reaches_into_the_past_of_another_process(serve: MakePeople) -> None:
    first = await serve()
    conversation_id = await first("alice").direct("bob")
    for number in range(3):
        await first("alice").send(conversation_id, str(number))
    second = await serve(replay_buffer_seconds=60)
    async with second("bob").tab(f"{conversation_id}:1") as tab:
        assert await tab.bodies(2) == ["1", "2"]


async def test_heartbeats(serve: MakePeople) -> None:
    person = await serve(heartbeat_interval_ms=20)
    async with person("alice").tab() as tab:
        lines: list[bytes] = []
        while lines.count(b": keep-alive\n") < 3:
            lines.append(await asyncio.wait_for(tab.response.content.readline(), PATIENCE))


async def test_a_user_has_so_many_streams(serve: MakePeople) -> None:
    person = await serve(streams_per_user=2)
    alice = person("alice")
    async with alice.tab(), alice.tab() as second:
        async with asyncio.timeout(PATIENCE):  # A stream would have no end.
            answer = await alice.get("/stream")
        assert (answer.status, answer.code) == (429, "RATE_LIMITED")
        assert answer.headers["Retry-After"]
        async with person("bob").tab():
            pass
        second.response.close()
        async with asyncio.timeout(PATIENCE):
            while (await alice.chat_streams()) > 1:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        async with alice.tab():
            pass


async def test_no_stream_without_the_capability(serve: MakePeople) -> None:
    person = await serve(disabled_capabilities={Capability.STREAMS})
    answer = await person("alice").get("/stream")
    assert (answer.status, answer.code) == (501, "STREAM_UNSUPPORTED")
    conversation_id = await person("alice").direct("bob")
    assert (await person("alice").send(conversation_id, "hi"))["seq"] == 1


async def test_closing_ends_streams_after_what_was_told(person: People) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    async with alice.tab() as tab:
        await alice.send(conversation_id, "last words")
        assert await tab.bodies(1) == ["last words"]
        closing = asyncio.create_task(alice.chat.close())
        await tab.end()
        await closing


async def test_a_reader_that_never_reads_is_cut_off(serve: MakePeople) -> None:
    """Its socket buffers fill up, then the bound of the stream is reached; others go on."""
    person = await serve(stream_buffer_bytes=10_000)
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    server = alice.client.server
    reader, writer = await asyncio.open_connection(server.host, server.port, limit=1_024)
    writer.write(b"GET /api/chat/stream HTTP/1.1\r\nHost: x\r\nX-User: bob\r\n\r\n")
    await reader.readuntil(b": open\n\n")
    assert await alice.chat_streams() == 1
    sent = 0
    async with alice.tab() as tab:
        while await alice.chat_streams() > 1:
            assert sent < 2_000
            await alice.send(conversation_id, "x" * 16_000)
            await tab.event("message.created")
            sent += 1
    writer.close()


async def test_a_client_that_leaves_before_its_stream_begins(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """It is nobody's failure, and nothing of it stays. A runner as hosts have it: handlers go on
    when their client has left."""
    app, chat = web.Application(), Chat(database, auth=picked_by_header)
    chat.mount(app)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    read, reading, gone = conversations.ids_of_user, asyncio.Event(), asyncio.Event()

    async def slow(*args: Any) -> list[str]:
        reading.set()
        await asyncio.wait_for(gone.wait(), PATIENCE)
        return await read(*args)

    with patch.object(conversations, "ids_of_user", slow):
        _, writer = await asyncio.open_connection(*runner.addresses[0])
        writer.write(b"GET /api/chat/stream HTTP/1.1\r\nHost: x\r\nX-User: bob\r\n\r\n")
        await asyncio.wait_for(reading.wait(), PATIENCE)
        assert runner.server is not None
        writer.transport.abort()
        async with asyncio.timeout(PATIENCE):
            while any(connection.transport for connection in runner.server.connections):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        gone.set()
        async with asyncio.timeout(PATIENCE):
            while len(chat._live.hub):  # noqa: ASYNC110
                await asyncio.sleep(0)
    await runner.cleanup()
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_http_1_0_gets_plain_frames(person: People) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    server = alice.client.server
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(b"GET /api/chat/stream HTTP/1.0\r\nX-User: bob\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    assert b"200 OK" in head
    assert b"chunked" not in head
    assert (await reader.readline()).startswith(b"retry: ")
    await reader.readuntil(b": open\n\n")
    await alice.send(conversation_id, "hi")
    assert await reader.readuntil(b"\n\n") != b"", "the position before any message"
    assert await reader.readline() == f"id: {conversation_id}:1\n".encode()
    assert await reader.readline() == b"event: message.created\n"
    writer.close()
    await writer.wait_closed()


async def test_dates_of_frames_are_those_of_the_message(person: People) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    async with alice.tab() as tab:
        sent = await alice.send(conversation_id, "hi")
        told = (await tab.event("message.created"))["message"]
    assert told == sent
    age = datetime.now(UTC) - datetime.fromisoformat(sent["createdAt"])
    assert 0 <= age.total_seconds() < 60
