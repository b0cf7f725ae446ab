"""The tests' own databases: one that was used before is as good as a new one."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options
from chat_aio.store import change_stream, indexes
from chat_aio.store.database import Database as Store
from tests.support.pool import DATABASES, FLAGS, Database, Pool


async def filled(pool: Pool, client: AsyncMongoClient[dict[str, Any]]) -> set[str]:
    """Use so many databases that the next one is used again; their names."""
    taken = [await pool.take(client) for _ in range(DATABASES)]
    for database in taken:
        async with Chat(database, options=Options(replay_buffer_seconds=1)) as chat:
            await chat.api.create_group_conversation("alice")
        pool.give_back(database)
    return {database.name for database in taken}


async def test_nothing_is_left_of_an_earlier_test(database: Database, monkeypatch: Any) -> None:
    pool = Pool()
    pool.hide_earlier_tests(monkeypatch)
    names = await filled(pool, database.client)
    again = await pool.take(database.client)
    assert again.name in names
    for name in await again.list_collection_names():
        assert await again[name].count_documents({}) == 0, name
    begins = await change_stream.operation_time(Store(again), past=3_600.0)
    assert begins >= pool._begins[again.name]


async def profile(database: Database) -> None:
    await database.command("profile", 2)
    await database["messages"].find_one({})
    await database.command("profile", 0)


CHANGES: tuple[Callable[[Database], Awaitable[Any]], ...] = (
    lambda database: database["messages"].drop_index("conversation_seq"),
    lambda database: database.command("collMod", "messages", validator={}),
    lambda database: database.drop_collection("bans"),
    lambda database: database["other"].insert_one({}),
    profile,
)


async def test_one_that_a_test_has_changed_is_not_used_again(database: Database) -> None:
    pool = Pool()
    await filled(pool, database.client)
    for change in CHANGES:
        changed = database.client[pool._waiting[0]]
        await change(changed)
        made = await pool.take(database.client)
        assert made.name != changed.name
        pool.give_back(made)


async def test_what_is_as_it_was_made_is_not_read_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until an index is dropped."""
    pool = Pool()
    pool.know_what_stands(monkeypatch)
    taken = Store(await pool.take(database.client), flags=FLAGS)
    assert await indexes.differences(taken) == []
    await taken.messages.drop_index("conversation_seq")
    (found,) = await indexes.differences(taken)
    assert (found.state, found.index) == ("missing", "conversation_seq")
