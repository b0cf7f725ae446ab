"""The membership transaction: all or nothing, one lock order, never starved."""

import asyncio

import pytest

from chat_aio.store.numbering import EpochChanged
from tests.store.conftest import MakeStore, Store, epochs
from tests.support.people import PATIENCE


async def test_adding_and_removing_moves_both_epochs_together(store: Store) -> None:
    group = await store.conversation("alice")
    added = await store.change(group["_id"], add=("carol", "bob"))
    assert added is not None
    assert [participant["userId"] for participant in added["participants"]] == [
        "alice",
        "bob",
        "carol",
    ]
    assert await epochs(store, group["_id"]) == (2, 2)
    removed = await store.change(group["_id"], remove=("bob",))
    assert removed is not None
    assert [participant["userId"] for participant in removed["participants"]] == ["alice", "carol"]
    assert removed["change"]["kind"] == "participant.removed"
    assert await epochs(store, group["_id"]) == (3, 3)


async def test_no_change_writes_nothing(store: Store) -> None:
    group = await store.conversation("alice")
    unchanged = await store.change(group["_id"], add=("alice",))
    assert unchanged == group
    assert await epochs(store, group["_id"]) == (1, 1)
    assert (await store.send(group))["seq"] == 1


async def test_an_unknown_conversation_stays_unknown(store: Store) -> None:
    assert await store.change("unknown", add=("bob",)) is None
    assert await store.database.counters.find_one({"_id": "unknown"}) is None


async def test_what_a_rule_raises_aborts(store: Store) -> None:
    group = await store.conversation("alice")

    async def refuse(_: object) -> None:
        raise PermissionError

    with pytest.raises(PermissionError):
        await store.membership.change(group["_id"], refuse)
    assert await epochs(store, group["_id"]) == (1, 1)


async def test_many_changes_of_two_processes_under_load(make_store: MakeStore) -> None:
    """60 people join through two processes while both send: all are in, no send is lost."""
    stores = [make_store(), make_store()]
    group = await stores[0].conversation("alice")
    done, begun = asyncio.Event(), asyncio.Event()
    sent = 0

    async def sender(store: Store) -> None:
        nonlocal sent
        while not done.is_set():
            snapshot = await store.snapshots.find_fresh(group["_id"])
            assert snapshot is not None
            try:
                message = store.message(group["_id"])
                await store.sequencer.append(message, epoch=snapshot.epoch)
                sent += 1
                begun.set()
            except EpochChanged:
                continue

    async def joiner(number: int) -> None:
        await stores[number % 2].change(group["_id"], add=(f"user {number}",))

    senders = [asyncio.create_task(sender(store)) for store in stores]
    await asyncio.wait_for(begun.wait(), PATIENCE)
    await asyncio.gather(*map(joiner, range(60)))
    done.set()
    await asyncio.gather(*senders)
    found = await stores[0].database.conversations.find_one({"_id": group["_id"]})
    assert len(found["participants"]) == 61
    head, copy = await epochs(stores[0], group["_id"])
    assert head == copy <= 61, "those that waited for each other went together"
    assert await stores[0].database.messages.count_documents({}) == sent > 0
