"""A feed that cannot go on ends every stream, recovers by itself, and hides no gap."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import ServerDisconnectedError, web
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options
from chat_aio.embedded import Mongod
from chat_aio.errors import StorageUnavailable
from chat_aio.store import conversations
from chat_aio.web import sse
from tests.conftest import Database
from tests.support.failpoints import failing
from tests.support.mongods import SMALL, shared
from tests.support.people import PATIENCE, Person, picked_by_header
from tests.support.stopping import stopped

People = Callable[[str], Person]


@pytest.fixture(scope="module")
def mongod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mongod]:
    """A mongod for these tests alone, to be paused."""
    options = (
        *("--setParameter", "enableTestCommands=1", "--wiredTigerCacheSizeGB", "0.25"),
        *SMALL,
    )
    with shared(Mongod(tmp_path_factory.mktemp("mongod"), options=options)) as mongod:
        yield mongod


@pytest.fixture
async def people(mongod: Mongod, aiohttp_client: Any) -> AsyncIterator[People]:
    async with AsyncMongoClient[dict[str, Any]](mongod.url, appname="feed") as client:
        chat = Chat(
            client[f"chat_{secrets.token_hex(4)}"],
            auth=picked_by_header,
            options=Options(
                # Longer than a busy machine needs for a request.
                change_stream_timeout_seconds=3,
                storage_timeout_seconds=3,
                replay_buffer_seconds=5,
            ),
        )
        app = web.Application()
        chat.mount(app)
        served = await aiohttp_client(app)
        yield lambda user_id: Person(user_id, served, chat)
        await chat.close()


async def test_a_paused_database_ends_streams_and_loses_nothing(
    people: People, mongod: Mongod
) -> None:
    alice = people("alice")
    conversation_id = await alice.direct("bob")
    async with people("bob").tab() as tab:
        await alice.send(conversation_id, "before")
        assert await tab.bodies(1) == ["before"]
        position = tab.last_event_id
        async with stopped(mongod.pid):
            sent, listed, _ = await asyncio.gather(
                alice.post(f"/conversations/{conversation_id}/messages", {"body": "no"}),
                alice.get("/conversations"),
                tab.end(),
            )
            for answer in (sent, listed):
                assert (answer.status, answer.code) == (503, "STORAGE_UNAVAILABLE")
            assert sent.headers["Retry-After"]
            assert "nothing was written" in listed.json["error"]["message"]
    async with asyncio.timeout(PATIENCE):
        while not await alice.chat._live.feed.wait_live(seconds=1):
            pass
    await alice.post(f"/conversations/{conversation_id}/messages", {"body": "after"})
    async with people("bob").tab(position) as tab:
        bodies = await tab.bodies(1)
        while bodies[-1] != "after":
            bodies += await tab.bodies(1)
    assert bodies in (["after"], ["no", "after"])


async def test_a_lost_change_stream_ends_streams(people: People, mongod: Mongod) -> None:
    """History lost (286): streams end, the buffer is forgotten, and storage tells what was
    missed."""
    alice = people("alice")
    conversation_id = await alice.direct("bob")
    for body in ("one", "two"):
        await alice.send(conversation_id, body)
    async with (
        people("bob").tab(f"{conversation_id}:1") as tab,
        AsyncMongoClient[dict[str, Any]](mongod.url) as admin,
    ):
        assert await tab.bodies(1) == ["two"]
        async with failing(admin, ["getMore"], app_name="feed", times=1, errorCode=286):
            await alice.send(conversation_id, "wakes the stream")
            await tab.end()
    assert await alice.chat._live.feed.wait_live(seconds=30)
    assert alice.chat._live._replay_buffer.find_created(conversation_id, 2) is None
    async with people("bob").tab(f"{conversation_id}:1") as tab:
        assert await tab.bodies(2) == ["two", "wakes the stream"]
        await alice.send(conversation_id, "live again")
        assert await tab.bodies(1) == ["live again"]


async def test_a_dropped_collection_ends_streams(person: People, database: Database) -> None:
    alice = person("alice")
    await alice.direct("bob")
    async with person("bob").tab() as tab:
        await database.drop_collection("messages")
        await tab.end()
    assert await alice.chat._live.feed.wait_live(seconds=30)


async def test_while_the_feed_is_lost_streams_are_closed_without_an_answer(
    person: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EventSource gives up for good on anything but a 200, and tries again after a lost one."""
    monkeypatch.setattr(sse, "OPENING_SECONDS", 0.05)
    alice = person("alice")
    alice.chat._live.feed._live.clear()
    with pytest.raises(ServerDisconnectedError):
        await alice.get("/stream")


async def test_a_stream_that_cannot_be_opened_is_closed_without_an_answer(person: People) -> None:
    async def away(*_: Any) -> None:
        raise StorageUnavailable

    with (
        patch.object(conversations, "ids_of_user", away),
        pytest.raises(ServerDisconnectedError),
    ):
        await person("alice").get("/stream")


async def test_snapshots_are_not_trusted_while_the_feed_is_lost(person: People) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    await alice.told_all()
    await alice.send(conversation_id, "cached")
    assert alice.chat._context.snapshots._kept
    alice.chat._live._lost(False)
    await alice.send(conversation_id, "not cached")
    assert not alice.chat._context.snapshots._kept


async def test_a_mongod_that_is_no_replica_set(tmp_path: Path) -> None:
    from chat_aio import SetupError
    from chat_aio.embedded import _free_port, find_mongod

    port = _free_port()
    process = await asyncio.create_subprocess_exec(
        *(find_mongod(), "--dbpath", tmp_path, "--port", str(port), "--nounixsocket"),
        *("--bind_ip", "127.0.0.1", "--logpath", tmp_path / "log"),
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            while not await accepts(port):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        url = f"mongodb://127.0.0.1:{port}/?directConnection=true"
        async with AsyncMongoClient[dict[str, Any]](url) as client:
            with pytest.raises(SetupError, match=r"rs\.initiate\(\)"):
                await Chat(client["x"]).open()
    finally:
        process.terminate()
        await process.wait()


async def accepts(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        return False
    writer.close()
    await writer.wait_closed()
    return True
