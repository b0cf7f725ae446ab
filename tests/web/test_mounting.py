"""Mounting into a host's app: once, below a path, for its lifetime; hosts with Motor as well."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from chat_aio import Chat
from tests.conftest import Database
from tests.support.hosts import connected
from tests.support.people import PATIENCE, Person, picked_by_header


async def test_a_chat_is_mounted_once(database: Database) -> None:
    chat = Chat(database, auth=picked_by_header)
    chat.mount(web.Application())
    with pytest.raises(RuntimeError, match="mounted already"):
        chat.mount(web.Application())


async def test_a_chat_cannot_be_mounted_on_a_running_app(
    database: Database, aiohttp_client: Any
) -> None:
    app = web.Application()
    await aiohttp_client(app)
    with pytest.raises(RuntimeError, match="has started"):
        Chat(database, auth=picked_by_header).mount(app)


@pytest.mark.parametrize("path", ["", "/", "//", "chat"])
async def test_it_is_mounted_below_a_path(database: Database, path: str) -> None:
    with pytest.raises(ValueError, match="below a path"):
        Chat(database, auth=picked_by_header).mount(web.Application(), path)


async def test_mounting_needs_auth(database: Database) -> None:
    with pytest.raises(RuntimeError, match="auth"):
        Chat(database).mount(web.Application())


async def test_two_chats_in_one_app(database: Database, aiohttp_client: Any) -> None:
    from chat_aio import Options

    app = web.Application()
    for name in ("one", "two"):
        options = Options(collection_prefix=f"{name}_", replay_buffer_seconds=1)
        Chat(database, auth=picked_by_header, options=options).mount(app, f"/{name}/")
    client = await aiohttp_client(app)
    for name, headers, status in (("one", {"X-User": "a"}, 200), ("two", {}, 401)):
        async with client.get(f"/{name}/conversations", headers=headers) as response:
            assert response.status == status


async def test_the_hosts_own_error_pages_leave_ours_alone(
    database: Database, aiohttp_client: Any
) -> None:
    @web.middleware
    async def pretty(request: web.Request, handler: Any) -> web.StreamResponse:
        try:
            response: web.StreamResponse = await handler(request)
        except web.HTTPException:
            return web.Response(text="a pretty page", status=404)
        return response

    app = web.Application(middlewares=[pretty], client_max_size=100)
    chat = Chat(database, auth=picked_by_header)
    chat.mount(app, "/chat")
    client = await aiohttp_client(app)
    async with client.get("/elsewhere") as response:
        assert await response.text() == "a pretty page"
    async with client.get("/chat/nothing", headers={"X-User": "a"}) as response:
        assert (await response.json())["error"]["code"] == "NOT_FOUND"
    body = {"userIds": ["x" * 200]}
    async with client.post("/chat/conversations/group", json=body, headers={"X-User": "a"}) as made:
        assert made.status == 201


async def test_closing_the_host_ends_streams_at_once(
    database: Database, aiohttp_client: Any
) -> None:
    """The host's client may be closed right behind on_shutdown; nothing of ours needs it then."""
    app = web.Application()
    chat = Chat(database, auth=picked_by_header)
    chat.mount(app)
    client = await aiohttp_client(app)
    person = Person("alice", client, chat)
    async with person.tab() as tab:
        async with asyncio.timeout(PATIENCE):
            await app.shutdown()
            await tab.end()
    with pytest.raises(RuntimeError, match="not open"):
        _ = chat.api


async def test_a_host_with_motor(client_url: str, database: Database, aiohttp_client: Any) -> None:
    async with connected("motor", client_url) as client:
        app = web.Application()
        chat = Chat(client[database.name], auth=picked_by_header)
        chat.mount(app)
        served = await aiohttp_client(app)
        alice, bob = Person("alice", served, chat), Person("bob", served, chat)
        conversation_id = await alice.group("bob")
        await bob.told_all()
        async with bob.tab() as tab:
            sent = await asyncio.gather(*(alice.send(conversation_id, str(n)) for n in range(20)))
            assert len(await tab.bodies(20)) == 20
            again = await alice.post(
                f"/conversations/{conversation_id}/messages", {"body": "k", "clientMessageId": "k"}
            )
            assert again.status == 201
        await bob.read(conversation_id, sent[3]["id"])
        assert await bob.unread(conversation_id) == 21 - sent[3]["seq"]
        assert (await bob.get("/conversations")).json["conversations"][0]["id"] == conversation_id
        await served.close()
