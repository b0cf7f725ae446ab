"""A chat with everything on, served as `chat-aio serve` does."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

from chat_aio import Chat, Hooks, Options, Profile
from chat_aio.plugins import (
    Attachments,
    BeforeMessageSend,
    Drafts,
    Filter,
    Hold,
    Notifications,
    Plugin,
    Presence,
    Receipts,
    Typing,
    Verdict,
)
from chat_aio.server.process import MAX_LINE_BYTES, ServeAccessLogger
from tests.conftest import Database
from tests.support.conforming import expect_described
from tests.support.people import BASE, Answer, Person, picked_by_header


class HoldsWhatAsksForIt(Plugin):
    """Holds messages whose metadata say so."""

    async def check_message(self, message: BeforeMessageSend) -> Verdict | None:
        return Hold("as asked for") if "hold" in message.metadata else None


def drafts_of_all() -> Drafts:
    """A plugin by which everybody may write drafts."""
    return Drafts(lambda _: True)


def attachments_without_sweeps() -> Attachments:
    """The sweeper's row would change below tests that look for changes."""
    return Attachments(cleanup_interval_seconds=3_600)


PLUGINS = (
    *(Typing, Presence, Receipts, Filter, Notifications),
    *(drafts_of_all, attachments_without_sweeps, HoldsWhatAsksForIt),
)


@dataclass(frozen=True)
class Served:
    """Both doors to one chat, in which every `moderator` and something is a moderator."""

    chat: Chat
    client: TestClient[web.Request, web.Application]

    def person(self, user_id: str) -> Person:
        return Person(user_id, self.client, self.chat)

    async def ask(self, route: str, path: str, user_id: str | None, **request: Any) -> Answer:
        """The answer to a request whose path is encoded already; of a stream only how it begins."""
        headers = {"X-User": user_id} if user_id is not None else {}
        headers.update(request.pop("headers", {}))
        url = URL(BASE + path, encoded=True)
        method = route.split(" ")[0]
        async with self.client.request(method, url, headers=headers, **request) as response:
            is_json = response.content_type == "application/json"
            body = json.loads(await response.read()) if is_json else {}
            if is_json:
                expect_described(method, path, response.status, body)
            return Answer(response.status, body, response.headers)


@pytest.fixture
async def served(database: Database) -> AsyncIterator[Served]:
    chat = Chat(
        database,
        auth=picked_by_header,
        hooks=Hooks(
            can_moderate=lambda asked: asked.user_id.startswith("moderator"),
            can_create=lambda asked: "unwanted" not in asked.metadata,
            can_leave=lambda asked: "kept" not in asked.conversation.metadata,
            can_delete_message=lambda asked: "kept" not in asked.conversation.metadata,
            can_delete=lambda asked: asked.user_id.startswith("moderator"),
            allowed_roles=lambda _: {"user"},
            can_send_silently=lambda user_id: user_id.startswith("moderator"),
            profiles=lambda user_ids: {
                user_id: Profile(name=user_id.title()) for user_id in user_ids
            },
        ),
        plugins=[plugin() for plugin in PLUGINS],
        options=Options(
            replay_buffer_seconds=5,
            quotas=None,
            inbox=True,
            room_controls=True,
            conversation_keys=True,
            search_filters=True,
            editable_metadata=True,
            metadata_indexes=("orderId",),
            moderation_tools=True,
            supervisors=True,
        ),
    )
    app = web.Application()
    chat.mount(app)
    server = TestServer(app)
    await server.start_server(
        access_log_class=ServeAccessLogger, max_line_size=MAX_LINE_BYTES, auto_decompress=False
    )
    async with TestClient(server) as client:
        yield Served(chat, client)
