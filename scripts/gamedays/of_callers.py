"""Breakages by callers: they do not read, they send too many requests, they write past the chat."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from pymongo import AsyncMongoClient
from yarl import URL

from gamedays.people import FAILURES
from gamedays.stage import DATABASE, Plan, Stage
from gamedays.table import breakage

BOT = "bot"
DEAD_READERS = 8
LONG_BODY = "x" * 12_000
LONG_PAUSE_SECONDS = 0.03
HOLD_SECONDS = 2.0
FLOOD_CALLERS = 4
PAUSE_SECONDS = 0.02
BAN = ("moderation", "ban", BOT, "--for", "1", "--as", "operator")


@asynccontextmanager
async def meanwhile(*acts: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Do these repeatedly, until the end of the context."""

    async def again(act: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            with suppress(*FAILURES):
                await act()

    tasks = [asyncio.create_task(again(act)) for act in acts]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@breakage(
    "dead-readers",
    what="a user's clients open streams and never read",
    alert="ChatReadersAreSlow",
    cure="chat-aio moderation ban",
    plan=Plan(settings={"CHAT_AIO_STREAM_BUFFER_BYTES": "16384"}),
)
async def dead_readers(stage: Stage) -> AsyncIterator[None]:
    people = stage.people
    made = await people.call("POST", "/conversations", user_id="eve", otherUserId=BOT)
    path = f"/conversations/{made['conversation']['id']}/messages"

    async def write() -> None:
        await asyncio.sleep(LONG_PAUSE_SECONDS)
        await people.call("POST", path, user_id="eve", body=LONG_BODY)

    def read_nothing() -> Awaitable[None]:
        return _read_nothing(URL(people.bases[0]))

    async with meanwhile(write, *[read_nothing] * DEAD_READERS):
        yield
        await stage.operate(*BAN)
        await stage.until_well("ChatReadersAreSlow")


async def _read_nothing(base: URL) -> None:
    """Open a stream, read nothing of it, and give it up. The service has closed it long before, but
    a client that does not read cannot notice that."""
    loop = asyncio.get_running_loop()
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        # Small segments: with loopback's usual ones, the service's kernel would buffer megabytes.
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        client.setblocking(False)
        await loop.sock_connect(client, (base.host, base.port))
        asked = f"GET {base.path}/stream HTTP/1.1\r\nHost: game\r\nX-User: {BOT}\r\n\r\n"
        await loop.sock_sendall(client, asked.encode())
        await asyncio.sleep(HOLD_SECONDS)


@breakage(
    "flood",
    what="a user sends more requests than the limits allow",
    alert="ChatRefusesCallers",
    cure="chat-aio moderation ban",
    plan=Plan(settings={"CHAT_AIO_QUOTAS": '{"messages_per_minute": 1200}'}),
)
async def flood(stage: Stage) -> AsyncIterator[None]:
    people = stage.people
    made = await people.call("POST", "/conversations", user_id=BOT, otherUserId="eve")
    path = f"/conversations/{made['conversation']['id']}/messages"

    async def ask() -> None:
        await people.call("POST", path, user_id=BOT, body="Buy!")

    async with meanwhile(*[ask] * FLOOD_CALLERS):
        yield
        await stage.operate(*BAN)
        await stage.until_well("ChatRefusesCallers")


@breakage(
    "bad-row",
    what="another program writes a malformed message",
    alert="ChatMalformedRows",
    cure="chat-aio check names it; correct it by hand",
)
async def bad_row(stage: Stage) -> AsyncIterator[None]:
    people = stage.people
    path = f"/conversations/{people.group}/messages"
    sent = await people.call("POST", path, user_id="ada", body="A number?")
    async with AsyncMongoClient[dict[str, Any]](stage.members.url) as client:
        messages = client[DATABASE]["messages"]
        broken = {"$set": {"body": 5}}
        await messages.update_one(
            {"_id": sent["message"]["id"]}, broken, bypass_document_validation=True
        )
        yield
        found = await stage.operate("check", code=3)
        (row,) = (
            violation for violation in found["violations"] if violation["kind"] == "row.shape"
        )
        await messages.update_one({"_id": row["id"]}, {"$set": {"body": "A number?"}})
        await stage.operate("check")
