"""Two processes, of which the one that posts is killed again and again, and an endpoint that fails
in every way: nothing is left out, and each conversation keeps its order."""

import asyncio
import random
import signal
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aiohttp import web

from chat_aio import Chat
from tests.conftest import Database, MakeChat
from tests.plugins.webhooks.receiving import (
    Received,
    Receiver,
    all_posted,
    hang,
    ready,
    receiving,
)
from tests.support.backend import WEBHOOK_SECRET
from tests.support.processes import Service

KILLS = 5
TRIED_BEFORE_A_KILL = 20
PATIENCE = 120
FAILS = 0.15


async def flaky(received: Received, request: web.Request) -> Any:
    """Fails now and then: before or after it has seen the event, never for good."""
    if random.random() > FAILS:
        return None
    how = random.choice(("500", "302", "cut", "hang"))
    if how == "cut":
        assert request.transport is not None
        request.transport.write(b"HTTP/1.1 200 OK\r\nContent-")
        request.transport.close()
        return web.Response()
    return await hang(received, request) if how == "hang" else int(how)


@pytest.mark.long
async def test_nothing_is_left_out(make_chat: MakeChat, mongo_url: str, database: Database) -> None:
    chat = await make_chat()
    async with receiving() as receiver, AsyncExitStack() as running:
        receiver.answers = flaky
        app = ("--app", "tests.plugins.webhooks.served:make")
        environment = {"WEBHOOK_URL": receiver.url, "WEBHOOK_SECRET": WEBHOOK_SECRET}
        services = [Service(mongo_url, database.name, *app, environment=environment) for _ in "ab"]
        for service in services:
            await running.enter_async_context(service.running())
        await ready(database)
        groups = [
            (await chat.api.create_group_conversation("ada", user_ids=["bob"])).id for _ in "abc"
        ]
        killing = asyncio.create_task(kill(services, database, receiver))
        written = await write(chat, groups, killing)
        await killing
        await all_posted(database, len(groups) + len(written))
    expect_everything(receiver, written)
    expect_order(receiver)
    # What was under way when a process was killed, and what was cut off after it was taken.
    assert await database["webhook_deliveries"].count_documents({"state": "dead"}) == 0


async def write(
    chat: Chat, groups: list[str], killing: asyncio.Task[None]
) -> list[tuple[str, str]]:
    """Messages, and edits, reactions and deletions of them, until all is killed; returns
    (type, message id)."""
    written = []
    while not killing.done():
        sent = await chat.api.send_message("ada", random.choice(groups), "hello")
        written.append(("message.created", sent.id))
        if random.random() < 0.3:
            await chat.api.edit_message("ada", sent.id, "hello again")
            written.append(("message.updated", sent.id))
        if random.random() < 0.3:
            await chat.api.add_reaction("bob", sent.id, "👍")
            written.append(("reaction.added", sent.id))
        if random.random() < 0.2:
            await chat.api.delete_message("ada", sent.id)
            written.append(("message.deleted", sent.id))
        await asyncio.sleep(random.uniform(0.02, 0.1))
    return written


async def kill(services: list[Service], database: Database, receiver: Receiver) -> None:
    """Kill the process that posts, whenever it has tried some more events, and start another one
    in its place."""
    for _ in range(KILLS):
        enough = len(receiver.tried) + TRIED_BEFORE_A_KILL
        async with asyncio.timeout(PATIENCE):
            while (  # noqa: ASYNC110
                len(receiver.tried) < enough
                or (holder := await holder_of(services, database)) is None
            ):
                await asyncio.sleep(0.02)
        holder.send(signal.SIGKILL)
        await holder.ended()
        await holder.start()


async def holder_of(services: list[Service], database: Database) -> Service | None:
    lease = await database["settings"].find_one({"_id": "webhooks:default"})
    row = lease and await database["posters"].find_one({"_id": lease["holder"]})
    return next((service for service in services if row and service.pids()[-1] == row["pid"]), None)


def expect_everything(receiver: Receiver, written: list[tuple[str, str]]) -> None:
    taken = {
        (event.type, event.data["message"]["id"])
        for event in receiver.taken
        if "message" in event.data
    }
    assert taken == set(written)
    assert receiver.types.count("conversation.created") >= 3


def expect_order(receiver: Receiver) -> None:
    """The first deliveries of a conversation are in order, and so are the events of a message."""
    for received in receiver.by_conversation().values():
        first: dict[str, Received] = {}
        for event in received:
            first.setdefault(event.id, event)
        created = [
            event.data["message"]["seq"]
            for event in first.values()
            if event.type == "message.created"
        ]
        assert created == sorted(created)
        known: set[str] = set()
        for event in first.values():
            if event.type == "message.created":
                known.add(event.data["message"]["id"])
            elif "message" in event.data:
                assert event.data["message"]["id"] in known


def test_what_is_wrong_is_found() -> None:
    """The verdicts are not always green."""

    def received(kind: str, seq: int) -> Received:
        message = {"id": f"m{seq}", "seq": seq}
        data = {"conversationId": "c", "message": message}
        return Received(f"{kind}{seq}", {"type": kind, "data": data})

    created = [received("message.created", seq) for seq in (1, 2)]
    with pytest.raises(AssertionError):
        expect_order(Receiver(taken=created[::-1]))
    with pytest.raises(AssertionError):
        expect_order(Receiver(taken=[received("message.updated", 1), created[0]]))
    with pytest.raises(AssertionError):
        expect_everything(
            Receiver(taken=created[:1]), [("message.created", "m1"), ("message.created", "m2")]
        )


async def test_serve_posts_to_its_webhook(
    make_chat: MakeChat, mongo_url: str, database: Database
) -> None:
    chat = await make_chat()
    async with receiving() as receiver:
        environment = {
            "CHAT_AIO_AUTH_HEADER": "X-User",
            "CHAT_AIO_WEBHOOK_URL": receiver.url,
            "CHAT_AIO_WEBHOOK_SECRET": WEBHOOK_SECRET,
            "CHAT_AIO_WEBHOOK_EVENTS": "message.created,message.deleted",
        }
        async with Service(mongo_url, database.name, environment=environment).running():
            await ready(database)
            group = await chat.api.create_group_conversation("ada", user_ids=["bob"])
            sent = await chat.api.send_message("ada", group.id, "hi")
            await chat.api.edit_message("ada", sent.id, "hello")
            await all_posted(database, 1)
            await chat.api.delete_message("ada", sent.id)
            await all_posted(database, 2)
    assert receiver.types == ["message.created", "message.deleted"]
