"""A store by itself: collections, sequencer and snapshots over the test's database."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from pymongo import AsyncMongoClient

from chat_aio.actions.context import new_id, utc_now
from chat_aio.store import conversations
from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument, MessageDocument
from chat_aio.store.membership import Locked, Membership, MembershipChange
from chat_aio.store.messages import new_message
from chat_aio.store.read_marks import ReadMarks
from chat_aio.store.sequencer import Sequencer
from chat_aio.store.snapshots import Snapshots
from tests.conftest import Database as Handle
from tests.support.membership import alteration


@dataclass
class Store:
    """One process's store. Several over one database are several processes."""

    database: Database
    sequencer: Sequencer
    read_marks: ReadMarks
    snapshots: Snapshots
    membership: Membership
    numbers: Any = field(default_factory=itertools.count)

    async def conversation(self, *user_ids: str) -> ConversationDocument:
        document = conversations.new_conversation(
            new_id(),
            creator_id=user_ids[0],
            roles=dict.fromkeys(user_ids, "member"),
            at=utc_now(),
            change_id=new_id(),
        )
        made, _ = await conversations.create(self.database, document)
        return made

    def message(
        self, conversation_id: str, sender_id: str = "alice", **fields: Any
    ) -> MessageDocument:
        body = f"message {next(self.numbers)}"
        plain = new_message(new_id(), conversation_id, sender_id, body, at=utc_now())
        return cast(MessageDocument, {**plain, **fields})

    async def send(
        self, conversation: ConversationDocument, sender_id: str = "alice", **fields: Any
    ) -> MessageDocument:
        message = self.message(conversation["_id"], sender_id, **fields)
        appended = await self.sequencer.append(message, epoch=conversation["epoch"])
        return appended.message

    async def change(
        self, conversation_id: str, *, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()
    ) -> ConversationDocument | None:
        """Add users, or remove them, as far as they are not in, or not out, already."""

        async def decide(locked: Locked) -> MembershipChange | None:
            return alteration(locked, add, remove)

        changed = await self.membership.change(conversation_id, decide)
        return changed.conversation if changed else None


MakeStore = Callable[..., Store]


def store_over(handle: Any, *, timeout: float = 10.0) -> Store:
    database = Database(handle, timeout=timeout)
    sequencer = Sequencer(database, clock=utc_now)
    snapshots = Snapshots(database, used=asyncio.Event())
    membership = Membership(database, sequencer, snapshots)
    return Store(database, sequencer, ReadMarks(database), snapshots, membership)


@pytest.fixture
async def make_store(database: Handle, client_url: str) -> AsyncIterator[MakeStore]:
    """Stores over the test's database, each with a client of its own."""
    clients: list[AsyncMongoClient[dict[str, Any]]] = []

    def make(app_name: str | None = None, *, timeout: float = 10.0) -> Store:
        clients.append(AsyncMongoClient(client_url, appname=app_name))
        return store_over(clients[-1][database.name], timeout=timeout)

    yield make
    for client in clients:
        await client.close()


@pytest.fixture
async def store(make_store: MakeStore) -> Store:
    return make_store()


async def epochs(store: Store, conversation_id: str) -> tuple[int, int]:
    head = await store.database.counters.find_one({"_id": conversation_id})
    found = await store.database.conversations.find_one({"_id": conversation_id})
    return head["epoch"], found["epoch"]


async def stored_seqs(store: Store, conversation_id: str) -> list[int]:
    found = store.database.messages.find({"conversationId": conversation_id}).sort("seq", 1)
    return [row["seq"] for row in await found.to_list(None)]
