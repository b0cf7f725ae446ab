"""Snapshots: cached while changes are announced, never from before a change."""

import asyncio
from unittest.mock import patch

from chat_aio.store import conversations
from tests.store.conftest import Store
from tests.support.people import PATIENCE


async def test_a_snapshot_is_read_once_while_it_is_announced(store: Store) -> None:
    group = await store.conversation("alice")
    first = await store.snapshots.find(group["_id"])
    assert await store.snapshots.find(group["_id"]) is not first
    store.snapshots.set_feed_live(True)
    kept = await store.snapshots.find(group["_id"])
    assert await store.snapshots.find(group["_id"]) is kept
    store.snapshots.forget(group["_id"])
    assert await store.snapshots.find(group["_id"]) is not kept
    store.snapshots.set_feed_live(False)
    assert not store.snapshots._kept


async def test_what_was_read_before_a_change_is_not_kept(store: Store) -> None:
    group = await store.conversation("alice")
    store.snapshots.set_feed_live(True)
    read, go_on = asyncio.Event(), asyncio.Event()
    find = conversations.find

    async def slow(*args: object) -> object:
        found = await find(*args)  # type: ignore[arg-type]
        read.set()
        await asyncio.wait_for(go_on.wait(), PATIENCE)
        return found

    with patch.object(conversations, "find", slow):
        loading = asyncio.create_task(store.snapshots.find(group["_id"]))
        await asyncio.wait_for(read.wait(), PATIENCE)
        await store.change(group["_id"], add=("bob",))
        go_on.set()
        await loading
        fresh = await store.snapshots.find(group["_id"])
    assert fresh is not None
    assert set(fresh.conversation.roles) == {"alice", "bob"}


async def test_snapshots_are_bounded_by_participants(store: Store) -> None:
    from chat_aio.store.snapshots import Snapshots

    snapshots = Snapshots(store.database, used=asyncio.Event(), max_weight=5)
    snapshots.set_feed_live(True)
    groups = [await store.conversation("alice", "bob") for _ in range(4)]
    for group in groups:
        await snapshots.find(group["_id"])
    assert list(snapshots._kept) == [group["_id"] for group in groups[2:]]
    assert snapshots._room == 1
    assert await snapshots.find("unknown") is None
