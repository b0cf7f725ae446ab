"""The two doors of one chat, over HTTP and in process; each answers in the shape of the wire."""

import asyncio
import json
import string
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from pydantic.alias_generators import to_camel

from chat_aio import Chat, ChatError, Hooks, MessageRejected, Options
from chat_aio.hooks import BeforeMessageSend
from chat_aio.schema.wire import json_from
from tests.scenarios.model.contract import Operation
from tests.scenarios.model.messages import (
    EMOJI_OF_A_MESSAGE,
    EMOJI_OF_A_USER,
    REACTIONS_OF_A_MESSAGE,
)
from tests.scenarios.model.world import Json, Reply, is_accepted, is_known, is_moderator
from tests.support.people import PATIENCE, Person, picked_by_header

T = TypeVar("T")

DAWN = datetime(2030, 1, 1, tzinfo=UTC)
KEPT = ("settings", "processes")


@dataclass
class Site:
    """A chat behind both doors, with a clock of ours. Everything in it runs on one event loop,
    which stands still between two calls of `run`."""

    runner: asyncio.Runner
    database: Any
    moment: datetime = DAWN
    examples: int = 0

    @asynccontextmanager
    async def served(self) -> AsyncIterator["Site"]:
        self.chat = Chat(
            self.database,
            auth=picked_by_header,
            hooks=Hooks(
                user_exists=is_known,
                before_message_send=_refuse_spam,
                can_moderate=lambda asked: is_moderator(asked.user_id),
                can_delete=lambda asked: is_moderator(asked.user_id),
            ),
            options=Options(
                replay_buffer_seconds=5,
                quotas=None,
                # On a busy machine, what takes long has not failed.
                storage_timeout_seconds=60,
                hook_timeout_seconds=60,
                room_controls=True,
                conversation_keys=True,
                inbox=True,
                prefix_search=True,
                search_filters=True,
                max_emoji_per_message=EMOJI_OF_A_MESSAGE,
                max_emoji_per_user=EMOJI_OF_A_USER,
                max_reactions_per_message=REACTIONS_OF_A_MESSAGE,
            ),
            clock=lambda: self.moment,
        )
        app = web.Application()
        self.chat.mount(app)
        async with TestClient(TestServer(app)) as self.client:
            yield self

    def run(self, call: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await call

        return self.runner.run(awaited())

    def person(self, user_id: str) -> Person:
        return Person(user_id, self.client, self.chat)

    async def settle(self) -> None:
        """Wait until nothing is left of deleted conversations."""
        rows = self.database["deleted_conversations"]
        async with asyncio.timeout(PATIENCE), await rows.watch() as changes:
            while await rows.find_one({"state": "removing"}):
                await changes.next()

    def begin_anew(self) -> str:
        """Empty the database; returns what marks the users of this example, who are new to all
        that the process keeps in mind."""
        self.run(self._empty())
        self.examples += 1
        self.moment = DAWN
        return f":{self.examples}"

    async def _empty(self) -> None:
        for name in await self.database.list_collection_names():
            if name not in KEPT:
                await self.database[name].delete_many({})


def _refuse_spam(asked: BeforeMessageSend) -> None:
    if not is_accepted(asked.body):
        raise MessageRejected("we do not want this here")


async def over_http(site: Site, operation: Operation, user_id: str, args: Json) -> Reply:
    assert operation.route is not None
    verb, path = operation.route.split()
    in_path = {name for _, name, _, _ in string.Formatter().parse(path) if name}
    rest = {
        operation.named.get(name, to_camel(name)): value
        for name, value in args.items()
        if name not in in_path
    }
    request: Json = {"params": _query(rest)} if verb == "GET" else {"json": rest} if rest else {}
    if "clientMessageId" in rest:
        request["headers"] = {"Idempotency-Key": rest.pop("clientMessageId")}
    answer = await site.person(user_id).call(verb, path.format(**args), **request)
    return Reply({"error": answer.code} if answer.code else answer.json, answer.status)


def _query(fields: Json) -> dict[str, str]:
    return {name: _in_query(value) for name, value in fields.items()}


def _in_query(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


async def in_process(site: Site, operation: Operation, user_id: str, args: Json) -> Reply:
    """The answer as HTTP would wrap it; a success has the status 200."""
    method = attrgetter(operation.method)(getattr(site.chat, operation.api))
    try:
        result = await method(user_id, **args)
    except ChatError as error:
        return Reply({"error": error.code}, error.status)
    if result is None:
        return Reply({"ok": True})
    return Reply(json.loads(json_from({operation.wraps: result} if operation.wraps else result)))
