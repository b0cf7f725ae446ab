"""Read states and unread counts against a brute-force count."""

import asyncio
import random
from unittest.mock import patch

import pytest

from chat_aio.errors import MessageNotFound
from chat_aio.store import conversations, unread
from chat_aio.store.documents import ConversationDocument
from tests.store.conftest import MakeStore, Store


async def counted(store: Store, conversation_id: str, user_id: str) -> int:
    heads = await conversations.list_heads(
        store.database, [conversation_id], limit=1, counts_of=[user_id]
    )
    found = await conversations.find_many(store.database, [conversation_id])
    counts = await unread.count_unread(
        store.database, user_id, list(found.values()), {conversation_id: heads[0]}
    )
    return counts[conversation_id]


async def brute_force(store: Store, conversation_id: str, user_id: str) -> int:
    found = await store.database.conversations.find_one({"_id": conversation_id})
    (read,) = [
        participant["lastReadSeq"]
        for participant in found["participants"]
        if participant["userId"] == user_id
    ]
    chosen = {"conversationId": conversation_id, "seq": {"$gt": read}, "senderId": {"$ne": user_id}}
    return int(await store.database.messages.count_documents(chosen))


@pytest.mark.parametrize("seed", range(3))
async def test_unread_is_the_brute_force_count(store: Store, seed: int) -> None:
    """Random sends and marks, with counts that are kept and outdated often."""
    dice = random.Random(seed)
    group = await store.conversation("alice", "bob", "carol")
    sent: list[str] = []
    with patch.object(unread, "KEPT_FROM", 2):
        for _ in range(40):
            for _ in range(dice.randint(0, 5)):
                message = await store.send(group, dice.choice(["alice", "bob"]))
                sent.append(message["_id"])
            user_id = dice.choice(["alice", "bob", "carol"])
            if sent and dice.random() < 0.3:
                await store.read_marks.mark(group["_id"], user_id, dice.choice(sent))
            expected = await brute_force(store, group["_id"], user_id)
            assert await counted(store, group["_id"], user_id) == expected
    found = await store.database.conversations.find_one({"_id": group["_id"]})
    assert any(participant["sentUpToSeq"] for participant in found["participants"])


async def last_read(store: Store, group: ConversationDocument) -> dict[str, int]:
    found = await store.database.conversations.find_one({"_id": group["_id"]})
    return {
        participant["userId"]: participant["lastReadSeq"] for participant in found["participants"]
    }


async def test_a_read_state_never_moves_back(make_store: MakeStore) -> None:
    """Many marks of many users at once, through two processes, in any order."""
    stores = [make_store(), make_store()]
    users = [f"user {number}" for number in range(20)]
    group = await stores[0].conversation(*users)
    sent = [await stores[0].send(group, users[0]) for _ in range(10)]
    marks = [(user_id, number) for user_id in users for number in range(10)]
    random.Random(7).shuffle(marks)
    highest = dict.fromkeys(users, 0)

    async def mark(place: int, user_id: str, number: int) -> None:
        await stores[place % 2].read_marks.mark(group["_id"], user_id, sent[number]["_id"])
        highest[user_id] = max(highest[user_id], number + 1)
        assert (await last_read(stores[0], group))[user_id] >= highest[user_id]

    await asyncio.gather(*(mark(place, *marking) for place, marking in enumerate(marks)))
    assert await last_read(stores[0], group) == dict.fromkeys(users, 10)
    found = await stores[0].database.conversations.find_one({"_id": group["_id"]})
    assert {participant["lastReadMessageId"] for participant in found["participants"]} == {
        sent[9]["_id"]
    }


async def test_one_mark_that_fails_does_not_stop_the_others(store: Store) -> None:
    group, other = await store.conversation("alice", "bob"), await store.conversation("alice")
    here, there = await store.send(group), await store.send(other)
    outcomes = await asyncio.gather(
        store.read_marks.mark(group["_id"], "alice", "unknown"),
        store.read_marks.mark(group["_id"], "bob", here["_id"]),
        store.read_marks.mark(group["_id"], "alice", there["_id"]),
        store.read_marks.mark(group["_id"], "mallory", here["_id"]),
        return_exceptions=True,
    )
    failed = [isinstance(outcome, MessageNotFound) for outcome in outcomes]
    assert failed == [True, False, True, False]
    assert await last_read(store, group) == {"alice": 0, "bob": 1}


async def test_marks_that_come_together_are_one_write(store: Store) -> None:
    users = [f"user {number}" for number in range(100)]
    group = await store.conversation(*users)
    message = await store.send(group, users[0])
    writes = 0
    update_one = store.database.conversations.update_one

    async def counting(*args: object, **kwargs: object) -> object:
        nonlocal writes
        writes += 1
        return await update_one(*args, **kwargs)

    with patch.object(store.database.conversations, "update_one", counting):
        await asyncio.gather(
            *(store.read_marks.mark(group["_id"], user, message["_id"]) for user in users)
        )
    assert writes == 1
    assert set((await last_read(store, group)).values()) == {1}
