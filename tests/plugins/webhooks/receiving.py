"""A host's endpoint, which checks signatures, and the wait until nothing more will come."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from standardwebhooks.webhooks import Webhook as Verifier

from chat_aio.plugins import Webhooks
from tests.conftest import Database
from tests.plugins.notifications.telling import eventually
from tests.support.backend import WEBHOOK_SECRET

QUICK: dict[str, Any] = {"lease_seconds": 3.0, "retry_backoff_seconds": 0.05}

AT = datetime(2026, 1, 31, tzinfo=UTC)
NEVER = AT.replace(year=9999)
"""For rows of tests: MongoDB deletes those that are over, at any time."""


def a_row(event_id: str, conversation_id: str = "c", /, **given: Any) -> dict[str, Any]:
    """A dead letter."""
    return {
        "_id": {"webhook": "default", "id": event_id},
        "webhook": "default",
        "eventId": event_id,
        "type": "message.created",
        "conversationId": conversation_id,
        "messageId": "m",
        "actorId": None,
        "affectedUserIds": [],
        "emoji": None,
        "at": AT,
        "order": event_id,
        "state": "dead",
        "dueAt": AT,
        "tries": 12,
        "notBefore": AT,
        "error": "the endpoint answered 500",
        "expiresAt": NEVER,
        **given,
    }


@dataclass(frozen=True)
class Received:
    id: str
    body: dict[str, Any]

    @property
    def type(self) -> str:
        kind: str = self.body["type"]
        return kind

    @property
    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = self.body["data"]
        return data

    @property
    def text(self) -> str:
        return str(self.data["message"]["body"])


@dataclass
class Receiver:
    """Keeps what it has answered with 200. `answers` gets each body, and returns a status, or
    None for 200, or waits."""

    url: str = ""
    taken: list[Received] = field(default_factory=list)
    tried: list[Received] = field(default_factory=list)
    answers: Any = None

    async def take(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = Verifier(WEBHOOK_SECRET).verify(raw, dict(request.headers))
        received = Received(request.headers["webhook-id"], body)
        self.tried.append(received)
        status = await self.answers(received, request) if self.answers else None
        if isinstance(status, web.StreamResponse):
            return status
        if status is None:
            self.taken.append(received)
        return web.Response(status=status or 200, headers={"Location": "/hook"})

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.taken]

    def texts(self, conversation_id: str) -> list[str]:
        """The bodies of the created messages of a conversation, without repetitions."""
        found = {
            event.id: event.text
            for event in self.taken
            if event.type == "message.created" and event.data["conversationId"] == conversation_id
        }
        return [*found.values()]

    def by_conversation(self) -> dict[str, list[Received]]:
        found = defaultdict(list)
        for event in self.taken:
            found[event.data.get("conversationId", "")].append(event)
        return found


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/hook", receiver.take)
    async with TestServer(app) as server:
        receiver.url = str(server.make_url("/hook"))
        yield receiver


def quick(url: str, **given: Any) -> Webhooks:
    return Webhooks(url, WEBHOOK_SECRET, **{**QUICK, **given})


async def ready(database: Database, name: str = "default") -> None:
    """Wait until a process holds the lease and follows the events."""
    followed = {"_id": f"webhooks:{name}", "token": {"$type": "object"}}

    async def is_followed() -> bool:
        return await database["settings"].find_one(followed) is not None

    await eventually(is_followed)


async def all_posted(database: Database, events: int) -> None:
    """Wait until so many events are noted, and none waits any more."""
    rows = database["webhook_deliveries"]

    async def is_over() -> bool:
        if await rows.count_documents({}) < events:
            return False
        return not await rows.count_documents({"state": "waiting"})

    await eventually(is_over)


async def hang(_: Any, __: Any) -> None:
    await asyncio.Event().wait()
