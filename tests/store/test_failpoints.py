"""What mongod's own failures lead to: certain answers, nothing half done, nothing left locked.

mongod has one failpoint of a kind; tests on the shared one that set it stand in this file, which
runs in one process.
"""

import asyncio
from functools import partial
from typing import Any

import pytest

from chat_aio.errors import StorageUnavailable
from chat_aio.store.search import IndexMissing, Scope, SearchTerms, list_matches
from tests.conftest import Database
from tests.store.conftest import MakeStore, epochs, stored_seqs
from tests.support.failpoints import failing
from tests.support.people import PATIENCE

QUERY_PLAN_KILLED = 175


async def test_a_lost_commit_answer_is_asked_for_again(
    make_store: MakeStore, database: Database
) -> None:
    store = make_store("lost commit")
    group = await store.conversation("alice")
    async with failing(
        database.client,
        ["commitTransaction"],
        app_name="lost commit",
        times=2,
        closeConnection=True,
    ):
        sent = await asyncio.gather(*(store.send(group) for _ in range(8)))
    assert [message["seq"] for message in sent] == list(range(1, 9))
    assert await stored_seqs(store, group["_id"]) == list(range(1, 9))


async def test_past_the_deadline_the_queue_is_surely_not_written(
    make_store: MakeStore, database: Database
) -> None:
    store = make_store("slow insert", timeout=0.6)
    patient = make_store()
    group = await patient.conversation("alice")
    async with failing(
        database.client,
        ["insert"],
        app_name="slow insert",
        times=1,
        blockConnection=True,
        blockTimeMS=900,
    ):
        first = asyncio.create_task(store.send(group))
        async with asyncio.timeout(PATIENCE):
            while not store.sequencer._busy:  # noqa: ASYNC110
                await asyncio.sleep(0)
        second = asyncio.create_task(store.send(group))
        outcomes = await asyncio.gather(first, second, return_exceptions=True)
    assert all(isinstance(outcome, StorageUnavailable) for outcome in outcomes)
    assert "nothing was written" in str(outcomes[1])
    assert await stored_seqs(patient, group["_id"]) == []
    assert (await patient.send(group))["seq"] == 1


async def test_a_search_whose_index_goes_away_meanwhile(make_store: MakeStore) -> None:
    store = make_store("index dropped")
    group = await store.conversation("alice")
    asked = partial(list_matches, before=None, limit=1, seconds=9)
    killed = failing(
        store.database.client, ["aggregate"], app_name="index dropped", errorCode=QUERY_PLAN_KILLED
    )
    async with killed:
        with pytest.raises(IndexMissing):
            await asked(store.database, Scope([group["_id"]], {}), SearchTerms(["word"]))


async def test_a_commit_without_an_answer_is_an_unknown_outcome(
    make_store: MakeStore, database: Database
) -> None:
    store = make_store("no commit", timeout=2)
    patient = make_store()
    group = await patient.conversation("alice")
    async with failing(
        database.client,
        ["commitTransaction"],
        app_name="no commit",
        blockConnection=True,
        blockTimeMS=2_500,
    ):
        with pytest.raises(StorageUnavailable, match="outcome is unknown"):
            await store.send(group)
    await store.database.calls.wait_for_all(seconds=60)
    assert (await patient.send(group))["seq"] == 2
    assert await stored_seqs(patient, group["_id"]) == [1, 2]


@pytest.mark.parametrize("command", ["findAndModify", "find", "commitTransaction"])
async def test_a_crash_in_between_leaves_all_or_nothing(
    make_store: MakeStore, database: Database, command: str
) -> None:
    store, failing_store = make_store(), make_store(database.name, timeout=0.7)
    group = await store.conversation("alice")
    async with failing(database.client, [command], app_name=database.name, closeConnection=True):
        with pytest.raises(StorageUnavailable):
            await failing_store.change(group["_id"], add=("bob",))
    await failing_store.database.calls.wait_for_all(seconds=60)
    found = await store.database.conversations.find_one({"_id": group["_id"]})
    head, copy = await epochs(store, group["_id"])
    assert head == copy == len(found["participants"])


async def test_waiting_goes_on_where_nobody_says_who_holds_the_locks(
    make_store: MakeStore, database: Database
) -> None:
    store = make_store("may not look")
    group = await store.conversation("alice")
    refusal: dict[str, Any] = {"app_name": "may not look", "errorCode": 13}
    session = database.client.start_session()
    async with session, await session.start_transaction():
        chosen = {"_id": group["_id"]}
        await database["counters"].update_one(chosen, {"$inc": {"fence": 1}}, session=session)
        async with failing(database.client, ["aggregate"], times=1, **refusal):
            sending = asyncio.create_task(store.send(group))
            async with asyncio.timeout(PATIENCE):
                while store.database.looked_for_orphans < 0:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
    assert (await sending)["seq"] == 1
