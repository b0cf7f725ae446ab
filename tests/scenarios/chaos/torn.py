"""A chat whose feed is torn, and what a client that comes back to it must have been told."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options
from tests.support.people import Person, Tab, picked_by_header
from tests.support.pool import Database

Client = AsyncMongoClient[dict[str, Any]]
Seen = dict[str, tuple[int, str]]
"""Messages as a client has them: seq and body by id."""

LAST = "the last one"


@dataclass
class Town:
    """A chat and its people; `admin` is not touched by failpoints for `feed`, nor is its
    `database`."""

    person: Callable[[str], Person]
    chat: Chat
    admin: Client
    database: Database

    async def live_again(self) -> None:
        assert await self.chat._live.feed.wait_live(seconds=30)


@asynccontextmanager
async def opened(url: str, aiohttp_client: Any) -> AsyncIterator[Town]:
    async with Client(url, appname="feed") as client, Client(url) as admin:
        options = Options(
            change_stream_timeout_seconds=0.9, storage_timeout_seconds=3, replay_buffer_seconds=5
        )
        name = f"chat_{secrets.token_hex(4)}"
        chat = Chat(client[name], auth=picked_by_header, options=options)
        app = web.Application()
        chat.mount(app)
        served = await aiohttp_client(app)
        yield Town(lambda user_id: Person(user_id, served, chat), chat, admin, admin[name])
        await chat.close()


async def follow(tab: Tab, seen: Seen) -> None:
    """Read until the last message."""
    while LAST not in (body for _, body in seen.values()):
        frame = await tab.next()
        assert frame.event != "stream.reset", frame
        if frame.event:
            message = frame.data["message"]
            seen[message["id"]] = (message["seq"], message["body"])


async def stored(person: Person, conversation_id: str) -> Seen:
    """The messages of a conversation, as they are."""
    listed = await person.listed(f"/conversations/{conversation_id}/messages")
    return {message["id"]: (message["seq"], message["body"]) for message in listed}


async def expect_all(bob: Person, conversation_id: str, position: str, seen: Seen) -> None:
    """Back with a position: with what was seen before, all that is stored has been told."""
    async with bob.tab(position) as tab:
        await follow(tab, seen)
    assert seen == await stored(bob, conversation_id)
