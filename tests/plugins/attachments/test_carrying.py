"""What happens to attachments around the chat: permissions of a host, many carriers, limits of the
chat, and Motor."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import web

from chat_aio import Chat, Hooks, Options
from chat_aio.actions import attachments as acting
from chat_aio.plugins import Attachments
from chat_aio.store import calls
from chat_aio.web import plugins as plugin_routes
from tests.conftest import Database, MakePeople
from tests.plugins.attachments.uploading import (
    PNG,
    TEXT,
    attached,
    fetch,
    form_of,
    kept_bytes,
    let_pass,
    sent,
    status_for,
    upload,
)
from tests.support.hosts import connected
from tests.support.people import BASE, PATIENCE, Person, picked_by_header
from tests.support.saboteurs import prove

SELDOM = 3_600.0


async def test_it_is_found_among_many_that_carry_it(
    serve: MakePeople, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger costs no question for each, and a reader of the last one gets it."""
    monkeypatch.setattr(acting, "AT_A_TIME", 3)
    people = await serve(plugins=[Attachments()])
    alice, bob = people("alice"), people("bob")
    message = await sent(alice, await alice.group())
    attachment_id = message["attachments"][0]["id"]
    for number in range(10):
        group = await alice.group(*(["bob"] if number == 9 else []))
        await alice.post(f"/messages/{message['id']}/forward", {"conversationId": group})
    assert await status_for(bob, attachment_id) == 200
    snapshots = alice.chat._context.snapshots
    with patch.object(snapshots, "find", side_effect=AssertionError("a conversation was asked")):
        assert await status_for(people("eve"), attachment_id) == 404


async def test_a_host_that_lets_strangers_read_is_asked(
    serve: MakePeople, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acting, "AT_A_TIME", 3)
    people = await serve(
        Hooks(can_read=lambda asked: asked.conversation.name == "open"), plugins=[Attachments()]
    )
    alice, eve = people("alice"), people("eve")
    message = await sent(alice, await alice.group(name="open"))
    attachment_id = message["attachments"][0]["id"]
    for _ in range(5):
        group = await alice.group(name="closed")
        await alice.post(f"/messages/{message['id']}/forward", {"conversationId": group})
    assert await status_for(eve, attachment_id) == 200
    await alice.delete(message["id"])
    assert await status_for(eve, attachment_id) == 404


async def test_an_upload_may_take_longer_than_the_database_may(
    serve: MakePeople, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client's time, and that of all chunks together, is not that of one call."""
    people = await serve(plugins=[Attachments()], storage_timeout_seconds=60)
    alice = people("alice")
    group = await alice.group("bob")
    ahead, reading = 0.0, asyncio.Event()
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead)
    monkeypatch.setattr(calls, "time", clock)

    @contextmanager
    def read(guard: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
        reading.set()
        with guard():
            yield

    async def slowly() -> AsyncIterator[bytes]:
        nonlocal ahead
        yield b"some text"
        await asyncio.wait_for(reading.wait(), PATIENCE)
        reading.clear()
        for _ in range(4):
            ahead += 30
            yield b"some text"

    async def upload_slowly() -> None:
        answer = await upload(alice, group, slowly())
        assert answer.status == 201

    sabotage = patch.object(plugin_routes, "paused", partial(read, nullcontext))
    with patch.object(plugin_routes, "paused", partial(read, calls.paused)):
        await prove(upload_slowly, sabotage=sabotage)


async def test_transfers_are_no_slow_requests(
    serve: MakePeople, caplog: pytest.LogCaptureFixture
) -> None:
    alice = (await serve(plugins=[Attachments()], slow_request_seconds=0.000_1))("alice")
    group = await alice.group("bob")
    assert "slow: POST" in caplog.text
    caplog.clear()
    assert await status_for(alice, await attached(alice, group)) == 200
    assert "slow:" not in caplog.text


async def test_rate_limits_know_uploads_and_downloads(serve: MakePeople) -> None:
    limits = {"upload_attachment": "2/hour", "get_attachment": "3/hour"}
    alice = (await serve(plugins=[Attachments()], rate_limits=limits))("alice")
    group = await alice.group("bob")
    attachment_id = await attached(alice, group)
    assert (await upload(alice, group)).status == 201
    refused = await upload(alice, group)
    assert (refused.status, refused.code) == (429, "RATE_LIMITED")
    found = [await status_for(alice, attachment_id) for _ in range(4)]
    assert found == [200, 200, 200, 429]


@pytest.mark.filterwarnings("ignore:Motor is deprecated")
async def test_over_motor(client_url: str, database: Database, aiohttp_client: Any) -> None:
    plugin = Attachments(cleanup_interval_seconds=SELDOM)
    async with connected("motor", client_url) as client:
        app = web.Application()
        chat = Chat(
            client[database.name],
            auth=picked_by_header,
            plugins=[plugin],
            options=Options(quotas=None, replay_buffer_seconds=5),
        )
        chat.mount(app)
        alice = Person("alice", await aiohttp_client(app), chat)
        group = await alice.group("bob")
        message = await sent(alice, group)
        attachment_id = message["attachments"][0]["id"]
        assert (await fetch(alice, f"/attachments/{attachment_id}")).body == PNG
        await alice.delete(message["id"])
        await let_pass(database)
        assert await plugin.sweep() == 1
        assert await kept_bytes(database) == 0
        await chat.close()


async def test_one_connection_has_both(serve: MakePeople) -> None:
    """After an answer the connection goes on; a body that was not read ends it."""
    alice = (await serve(plugins=[Attachments(max_bytes=100)]))("alice")
    group = await alice.group("bob")
    path = f"{BASE}/conversations/{group}/attachments"
    headers = {"X-User": "alice"}
    for data, status, closes in ((TEXT, 201, False), (b"x" * 200_000, 413, True)):
        form = form_of(data, "a.txt", "text/plain")
        async with alice.client.post(path, data=form, headers=headers) as answer:
            assert answer.status == status
            assert (answer.headers.get("Connection") == "close") == closes
