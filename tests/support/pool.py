"""Databases with all indexes, used again: making one takes longer than most tests.

A test gets a database as good as new. Its collections are emptied, and the change streams of this
process begin where the database was handed out, so that they show nothing of an earlier test. One
whose collections, indexes or validators a test has changed is not used again.
"""

import secrets
from collections import deque
from typing import Any

import pytest
from bson import Timestamp
from pymongo import AsyncMongoClient, MongoClient
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import PyMongoError

from chat_aio.store import change_stream, indexes
from chat_aio.store.database import COLLECTIONS
from chat_aio.store.database import Database as Store
from chat_aio.store.drivers import maybe_await

DATABASES = 4
"""So many take turns: what a test has left running is over before its database comes up again."""

EMPTYING_MS = 5_000

FLAGS = frozenset(index.only_with for index in indexes.load() if index.only_with)
"""The options that need indexes of their own: each database has those as well."""

Database = AsyncDatabase[dict[str, Any]]


class Pool:
    """The databases of one test process."""

    def __init__(self) -> None:
        self._made: list[str] = []
        self._waiting: deque[str] = deque()
        self._begins: dict[str, Timestamp] = {}

    async def take(self, client: AsyncMongoClient[dict[str, Any]]) -> Database:
        """A database with all indexes, in which nothing is."""
        while len(self._waiting) >= DATABASES:
            found = client[self._waiting.popleft()]
            if await self._is_emptied(found):
                await self._hand_out(found)
                return found
        made = self.new(client)
        await indexes.apply(Store(made, flags=FLAGS))
        await self._hand_out(made)
        return made

    def new(self, client: AsyncMongoClient[dict[str, Any]]) -> Database:
        """A database without collections, which is not used again unless it is given back."""
        self._made.append(f"test_{secrets.token_hex(6)}")
        return client[self._made[-1]]

    def drop_all(self, url: str) -> None:
        with MongoClient[dict[str, Any]](url) as client:
            for name in self._made:
                client.drop_database(name)

    def give_back(self, database: Database) -> None:
        self._waiting.append(database.name)

    def know_what_stands(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let no chat read all indexes of a database in which they are as they were made."""
        differences = indexes.differences

        async def of_what_is_changed(database: Store) -> list[indexes.Difference]:
            return await differences(database) if await self._is_changed(database) else []

        monkeypatch.setattr(indexes, "differences", of_what_is_changed)

    def hide_earlier_tests(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let no change stream begin before its database was handed out."""
        operation_time = change_stream.operation_time

        async def within_this_test(database: Store, past: float = 0.0) -> Timestamp:
            begins = self._begins.get(database.handle.name, Timestamp(0, 0))
            return max(begins, await operation_time(database, past))

        monkeypatch.setattr(change_stream, "operation_time", within_this_test)

    async def _hand_out(self, database: Database) -> None:
        hello = await database.command("hello")
        now: Timestamp = hello["operationTime"]
        self._begins[database.name] = Timestamp(now.time, now.inc + 1)

    async def _is_changed(self, database: Store) -> bool:
        """Whether a collection, an index or a validator may be another than when a database was
        handed out: each change of one is a command in the oplog."""
        handle = database.handle
        if handle.name not in self._begins or database.prefix or database.metadata_indexes:
            return True
        oplog = handle.client["local"]["oplog.rs"]
        changes = {"ns": f"{handle.name}.$cmd", "ts": {"$gte": self._begins[handle.name]}}
        return await maybe_await(oplog.find_one(changes)) is not None

    async def _is_emptied(self, database: Database) -> bool:
        """Empty a database; False where it is not, or is not as a new one would be."""
        try:
            there = await database.list_collection_names()  # A profile is not in the oplog.
            if set(there) != set(COLLECTIONS) or await self._is_changed(Store(database)):
                return False
            for name in await _filled(database):
                every = [{"q": {}, "limit": 0}]
                await database.command("delete", name, deletes=every, maxTimeMS=EMPTYING_MS)
        except PyMongoError:
            return False
        return True


async def _filled(database: Database) -> list[str]:
    """The collections in which something is."""
    looks: dict[str, list[dict[str, Any]]] = {
        name: [{"$limit": 1}, {"$project": {"_id": name}}] for name in COLLECTIONS
    }
    first, *others = COLLECTIONS
    joined = [{"$unionWith": {"coll": name, "pipeline": looks[name]}} for name in others]
    found = await database[first].aggregate([*looks[first], *joined])
    return [row["_id"] async for row in found]
