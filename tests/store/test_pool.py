"""The tests' own databases: one that was used before is as good as a new one."""

from typing import Any

from pymongo import AsyncMongoClient

from chat_aio import Chat, Options
from chat_aio.store import change_stream
from chat_aio.store.database import Database as Store
from tests.support.pool import DATABASES, Database, Pool


async def filled(pool: Pool, client: AsyncMongoClient[dict[str, Any]]) -> set[str]:
    """Use so many databases that the next one is used again; their names."""
    taken = [await pool.take(client) for _ in range(DATABASES)]
    for each in taken:
        async with Chat(each, options=Options(ring_seconds=1)) as chat:
            await chat.api.create_group_conversation("alice")
        pool.give_back(each)
    return {each.name for each in taken}


async def test_nothing_is_left_of_an_earlier_test(database: Database, monkeypatch: Any) -> None:
    pool = Pool()
    pool.hide_earlier_tests(monkeypatch)
    names = await filled(pool, database.client)
    again = await pool.take(database.client)
    assert again.name in names
    for name in await again.list_collection_names():
        assert await again[name].count_documents({}) == 0, name
    begins = await change_stream._operation_time(Store(again), past=3_600.0)
    assert begins >= pool._begins[again.name]


async def test_one_that_a_test_has_changed_is_not_used_again(database: Database) -> None:
    pool = Pool()
    names = await filled(pool, database.client)
    for number, name in enumerate(sorted(names)):
        changed = database.client[name]
        if number == 0:
            await changed["messages"].drop_index("conversation_seq")
        elif number == 1:
            await changed.command("collMod", "messages", validator={})
        elif number == 2:
            await changed.drop_collection("bans")
        else:
            await changed["other"].insert_one({})
    assert (await pool.take(database.client)).name not in names
