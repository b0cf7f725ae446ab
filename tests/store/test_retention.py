"""Unread counts above a floor, against a brute-force count."""

import random
from datetime import timedelta

import pytest

from chat_aio.actions.context import new_id, utc_now
from chat_aio.actions.maintenance.repair import repair
from chat_aio.store import conversations
from chat_aio.store.maintenance import retention
from tests.store.conftest import Store
from tests.store.test_reading import brute_force, counted

USERS = ("alice", "bob", "carol")
SENT = 6_000
READ = (0, 40, 900, 1_300, 2_000)
"""How far each of some readers has read; one of them writes a lot."""


@pytest.mark.parametrize("floor", [500, 1_299, 6_000])
async def test_unread_counts_above_a_floor(store: Store, floor: int) -> None:
    """Read states and kept counts of own messages on both sides of the floor."""
    dice = random.Random(floor)
    group = await store.conversation(*USERS, *(f"reader {n}" for n in READ))
    old, now = utc_now() - timedelta(days=40), utc_now()
    await store.database.messages.insert_many(
        store.message(
            group["_id"],
            dice.choice(["alice", "reader 900", "bob", f"reader {dice.choice(READ)}"]),
            seq=seq,
            createdAt=old if seq <= floor else now,
        )
        for seq in range(1, SENT + 1)
    )
    await store.database.counters.update_one({"_id": group["_id"]}, {"$set": {"seq": SENT}})
    await require_true(store, group["_id"])  # Nobody has counted these messages.
    assert await repair(store.database, group["_id"], dry_run=False)
    for seq in READ[1:]:
        message = await store.database.messages.find_one({"seq": seq})
        await store.read_marks.mark(group["_id"], f"reader {seq}", message["_id"])
    for _ in range(2):  # The first keeps long counts, the second uses them.
        await require_true(store, group["_id"])
    kept = await store.database.conversations.find_one({"_id": group["_id"]})
    points = {
        participant["userId"]: participant["sentUpToSeq"] for participant in kept["participants"]
    }
    assert {name: upto for name, upto in points.items() if upto} == {"reader 900": 900}

    (head,) = await retention.list_heads(store.database, conversation_id=group["_id"])
    found = await retention.find_old_to_remove(store.database, head, before=now - timedelta(days=1))
    assert found == retention.Old(conversation_id=group["_id"], after=0, upto=floor)
    await retention.raise_floors(store.database, [found])
    assert await retention.remove(store.database, found, advance=lambda _: None) == floor
    for _ in range(2):
        await require_true(store, group["_id"])
    now_there = await conversations.find(store.database, group["_id"])
    assert now_there
    fresh = await store.send(now_there, "bob")
    assert fresh["seq"] == SENT + 1
    await require_true(store, group["_id"])


async def require_true(store: Store, conversation_id: str) -> None:
    for user_id in (*USERS, *(f"reader {n}" for n in READ)):
        expected = await brute_force(store, conversation_id, user_id)
        assert await counted(store, conversation_id, user_id) == expected, user_id


async def test_a_message_behind_a_younger_one_is_not_old(store: Store) -> None:
    """Whatever another program has written: nothing is removed that is not below all that stays."""
    group = await store.conversation("alice")
    old, now = utc_now() - timedelta(days=40), utc_now()
    times = (old, old, None, old, now)
    await store.database.messages.insert_many(
        (store.message(group["_id"], seq=seq, createdAt=at) for seq, at in enumerate(times, 1)),
        bypass_document_validation=True,
    )
    await store.database.counters.update_one({"_id": group["_id"]}, {"$set": {"seq": 5}})
    await store.database.counters.insert_one({"_id": new_id(), "epoch": 1})
    (head,) = await retention.list_heads(store.database)
    for find in (retention.find_old_to_empty, retention.find_old_to_remove):
        found = await find(store.database, head, before=now)
        assert found == retention.Old(conversation_id=group["_id"], after=0, upto=2)
