"""What an installation needs: a replica set, collections, indexes that serve what they say."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from chat_aio import Chat, Options, SetupError
from chat_aio.actions.context import utc_now
from chat_aio.errors import StorageUnavailable
from chat_aio.store import conversations, indexes
from chat_aio.store.database import Database
from chat_aio.store.documents import ConversationDocument
from chat_aio.store.indexes import Index
from chat_aio.store.unread import count_unread
from tests.conftest import Database as Handle
from tests.store.conftest import Store

INDEXES = list(indexes.load())
UNIQUE = {
    "attachment_bytes.chunks.files_id_n",
    "bans.active_user",
    "conversation_bans.conversation_user",
    "conversations.key",
    "held_messages.idempotency_key",
    "join_requests.conversation_user",
    "messages.conversation_seq",
    "messages.idempotency_key",
    "reports.open_key",
}


def stages(plan: Any) -> Iterator[dict[str, Any]]:
    """Every stage of a query plan."""
    if isinstance(plan, dict):
        if "stage" in plan:
            yield plan
        for part in plan.values():
            yield from stages(part)
    elif isinstance(plan, list):
        for part in plan:
            yield from stages(part)


async def test_signals_are_removed_after_a_minute(store: Store) -> None:
    """By the database, which knows the time of each; the collection stays small for good."""
    (expiry,) = [
        index
        for index in (await store.database.signals.index_information()).values()
        if "expireAfterSeconds" in index
    ]
    assert (expiry["key"], expiry["expireAfterSeconds"]) == ([("at", 1)], 60)


async def test_what_exists_once_has_a_unique_index(store: Store) -> None:
    """Two processes that insert at once can be kept from both succeeding by nothing else. A test
    of many callers may pass without the index, by luck."""
    found = {
        f"{collection}.{name}"
        for collection in {index.collection for index in INDEXES}
        for name, made in (await store.database.collection(collection).index_information()).items()
        if made.get("unique")
    }
    assert found == UNIQUE


async def test_an_index_serves_what_it_says(store: Store) -> None:
    group = await store.conversation("alice")
    for number in range(30):
        key = "k" if number == 7 else f"key {number}"
        await store.send(group, _id=f"m{number}", clientMessageId=key)
    await store.database.messages.update_many({}, {"$set": {"conversationId": "c"}})
    await store.database.messages.update_one({"_id": "m3"}, {"$set": {"changedAt": utc_now()}})
    assert len(INDEXES) > 20
    faults = {
        f"{index.collection}.{index.name}": await faults_of(store, index) for index in INDEXES
    }
    assert {name: found for name, found in faults.items() if found} == {}


async def faults_of(store: Store, index: Index) -> list[str]:
    """What is wrong with the plan of the query that an index is for."""
    collection = store.database.collection(index.collection)
    query = collection.find(index.serves["find"], index.serves.get("projection"))
    if "sort" in index.serves:
        query = query.sort([tuple(key) for key in index.serves["sort"]])
    if index.serves.get("hinted"):
        query = query.hint(index.name)
    plan = (await query.explain())["queryPlanner"]["winningPlan"]
    found = list(stages(plan))
    used = {stage["indexName"] for stage in found if stage["stage"] == "IXSCAN"}
    names = {stage["stage"] for stage in found}
    faults = [] if used == {index.name} else [f"{used} serves"]
    if "SORT" in names:
        faults.append("it is sorted")
    if index.serves.get("covered") and "FETCH" in names:
        faults.append("documents are fetched")
    return faults


async def test_a_users_ids_are_read_from_the_index_alone(store: Store) -> None:
    for _ in range(20):
        await store.conversation("alice", "bob")
    explained = await store.database.conversations.find(
        {"participants.userId": "alice"}, {"_id": 1}
    ).explain()
    assert explained["executionStats"]["totalDocsExamined"] == 0
    assert explained["executionStats"]["nReturned"] == 20


async def test_own_messages_are_counted_without_going_through_others(store: Store) -> None:
    """Where their sends have not counted them. The index is named, because MongoDB may remember a
    plan from where any plan was good (seen with 10,000 messages of others in 50 conversations: 26
    times slower)."""
    small = [await store.conversation("alice", "bob") for _ in range(2)]
    large = [await store.conversation("alice", "bob") for _ in range(2)]
    await asyncio.gather(*(store.send(group, "bob") for group in small for _ in range(5)))
    await asyncio.gather(*(store.send(group, "bob") for group in large for _ in range(400)))
    await store.database.counters.update_many({}, {"$unset": {"counted": ""}})

    async def counted(groups: list[ConversationDocument]) -> list[int]:
        ids = [group["_id"] for group in groups]
        heads = {
            head["_id"]: head
            for head in await conversations.list_heads(store.database, ids, limit=9)
        }
        return list((await count_unread(store.database, "alice", groups, heads)).values())

    for _ in range(5):
        assert await counted(small) == [5, 5]
    await store.database.handle.command("profile", 2)
    try:
        assert await counted(large) == [400, 400]
    finally:
        await store.database.handle.command("profile", 0)
    profiled = await store.database.handle["system.profile"].find_one(
        {"command.aggregate": store.database.messages.name}
    )
    assert profiled["command"]["hint"] == "sender_conversation_seq"
    assert (profiled["keysExamined"], profiled["docsExamined"]) == (0, 0)


@pytest.mark.new_database
async def test_missing_indexes_are_named_and_mended(database: Handle) -> None:
    bare = Database(database)
    problems = await indexes.missing(bare)
    assert any("collection messages" in problem for problem in problems)
    with pytest.raises(SetupError, match="conversations"):
        await Chat(database, options=Options(manage_indexes=False)).open()
    await indexes.apply(bare)
    assert await indexes.missing(bare) == []
    await database["messages"].drop_index("conversation_seq")
    await database["messages"].create_index(
        [("conversationId", 1), ("seq", 1)], name="conversation_seq"
    )
    assert await indexes.missing(bare) == ["index messages.conversation_seq is not as described"]
    with pytest.raises(SetupError, match="conversation_seq"):
        await indexes.apply(bare)
    await database["messages"].drop_index("conversation_seq")
    await asyncio.gather(*(indexes.apply(bare) for _ in range(4)))
    assert await indexes.missing(bare) == []


@pytest.mark.new_database
async def test_the_index_of_search_is_compressed(database: Handle) -> None:
    """One that is not, as earlier versions made it, is no other index."""
    bare = Database(database)
    await indexes.apply(bare)
    assert await compressor(database) == "snappy"
    (search,) = (index for index in INDEXES if index.name == "search")
    options = {name: option for name, option in search.options.items() if name != "storageEngine"}
    await database["messages"].drop_index("search")
    await database["messages"].create_index([*search.keys], name="search", **options)
    assert await indexes.missing(bare) == []
    await database["messages"].drop_index("conversation_seq")
    await indexes.apply(bare)
    assert await indexes.missing(bare) == []
    assert await compressor(database) == ""


async def compressor(database: Handle) -> str:
    """What the blocks of the index of search are compressed with."""
    stats = await database.command("collStats", "messages", indexDetails=True)
    made: str = stats["indexDetails"]["search"]["creationString"]
    return made.partition("block_compressor=")[2].partition(",")[0]


async def test_a_database_that_goes_away_while_the_chat_opens_is_a_setup_error(
    database: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise StorageUnavailable

    monkeypatch.setattr("chat_aio.store.clock.PrimaryClock.set", away)
    with pytest.raises(SetupError, match="did not answer"):
        await Chat(database).open()
