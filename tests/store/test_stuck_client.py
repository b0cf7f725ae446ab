"""A driver's client that is stuck for good is replaced, or asks for a restart; an outage is not
mistaken for one."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options, SetupError
from chat_aio import chat as chats
from chat_aio.errors import StorageUnavailable
from chat_aio.store import background_tasks
from chat_aio.web.health import add_health
from tests.conftest import Database
from tests.support.people import PATIENCE, picked_by_header

OPTIONS = Options(
    replay_buffer_seconds=1, storage_timeout_seconds=60, change_stream_timeout_seconds=2
)
SOON = 0.3
"""The timeout of calls that never end, or cannot succeed."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_tasks, "LOOK_SECONDS", 0.05)
    # A setting of the clock waits for a stuck client: as seldom as where it looks every second.
    monkeypatch.setattr(background_tasks, "CLOCK_EVERY", 200)
    # Calls of the stuck client never end: nobody has to wait for them.
    monkeypatch.setattr(chats, "CLOSE_SECONDS", SOON)


def set_timeout(chat: Chat, seconds: float) -> None:
    chat._database.timeout = chat._database.calls._timeout = seconds


class Clients:
    """Clients of one database, closed at the end."""

    def __init__(self, url: str, name: str) -> None:
        self._url, self._name = url, name
        self.made: list[AsyncMongoClient[dict[str, Any]]] = []

    def make(self) -> Any:
        self.made.append(AsyncMongoClient[dict[str, Any]](self._url))
        return self.made[-1][self._name]

    async def break_first(self) -> None:
        """As a cancellation leaves it now and then: its topology's lock is held by nobody."""
        await self.made[0]._topology._lock.acquire()

    async def close(self) -> None:
        if self.made[0]._topology._lock.locked():
            self.made[0]._topology._lock.release()
        for client in self.made:
            await client.close()


@pytest.fixture
async def clients(client_url: str, database: Database) -> AsyncIterator[Clients]:
    found = Clients(client_url, database.name)
    yield found
    await found.close()


async def until_sent(chat: Chat, conversation_id: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await chat.api.send_message("alice", conversation_id, "hi")
                return
            except StorageUnavailable:
                continue


async def test_a_stuck_client_is_replaced(clients: Clients) -> None:
    def make_another() -> Any:
        # On a busy machine its calls may take their time.
        set_timeout(chat, OPTIONS.storage_timeout_seconds)
        return clients.make()

    async with Chat(clients.make(), database_factory=make_another, options=OPTIONS) as chat:
        group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
        await clients.break_first()
        set_timeout(chat, SOON)
        with pytest.raises(StorageUnavailable):
            await chat.api.send_message("alice", group.id, "hi")
        await until_sent(chat, group.id)
        assert len(clients.made) == 2
        assert not chat._database.calls.is_stuck
        assert await chat._live.feed.wait_live(seconds=PATIENCE)
        page = await chat.api.list_messages("bob", group.id)
        assert [message.body for message in page.messages] == ["hi"]


async def test_without_another_client_a_restart_is_asked_for(
    clients: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    app = web.Application()
    chat = Chat(clients.make(), auth=picked_by_header, options=OPTIONS)
    chat.mount(app)
    add_health(app)
    async with TestClient(TestServer(app)) as client:
        assert (await client.get("/healthz")).status == 200
        await clients.break_first()
        set_timeout(chat, SOON)
        async with asyncio.timeout(PATIENCE):
            while (answer := await client.get("/healthz")).status == 200:
                await client.get("/api/chat/conversations", headers={"X-User": "alice"})
        assert await answer.json() == {
            "status": "unavailable",
            "reason": "the database client is stuck",
        }
        async with asyncio.timeout(PATIENCE):
            while "needs a restart" not in caplog.text:
                await client.get("/healthz")
        looks = chat._upkeep.looks
        async with asyncio.timeout(PATIENCE):
            while chat._upkeep.looks < looks + 3:
                await client.get("/healthz")
    assert caplog.text.count("needs a restart") == 1


async def test_a_database_that_is_away_is_no_stuck_client(unused_tcp_port: int) -> None:
    """Nor is one that was never there: its calls end by their timeouts."""
    url = f"mongodb://127.0.0.1:{unused_tcp_port}/?replicaSet=none"
    async with AsyncMongoClient[dict[str, Any]](url) as client:
        chat = Chat(client["away"], options=OPTIONS)
        # A call ends up to half a second later, and is stuck after twice its timeout.
        set_timeout(chat, 1.5)
        for _ in range(2):
            with pytest.raises(SetupError):
                await chat.open()
            with pytest.raises(StorageUnavailable):
                await chat._database.read(lambda: client["away"]["x"].find_one({}))
            assert not chat._database.calls.is_stuck
