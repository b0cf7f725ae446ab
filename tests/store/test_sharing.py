"""Who of some users shares a conversation with another."""

import random
from unittest.mock import patch

import pytest

from chat_aio.store import conversations
from tests.conftest import Database
from tests.store.conftest import Store

CONVERSATIONS = 300
ASKED = 50


@pytest.mark.parametrize("seed", range(3))
async def test_it_is_who_is_found_one_by_one(store: Store, seed: int) -> None:
    """Random groups; so few are looked at in one query that most answers need several."""
    dice = random.Random(seed)
    users = [f"user {number}" for number in range(12)]
    groups = [set(dice.sample(users, dice.randint(1, 4))) for _ in range(15)]
    for group in groups:
        await store.conversation(*sorted(group))
    with patch.object(conversations, "SHARED_AT_A_TIME", 2):
        for user in users:
            others = {*dice.sample(users, 8), "nobody"}
            expected = {other for group in groups if user in group for other in group & others}
            found = await conversations.users_sharing_conversation(store.database, user, others)
            assert found == expected - {user}


async def test_asking_for_many_costs_one_look_at_what_is_shared(
    store: Store, database: Database
) -> None:
    """Whoever is in hundreds of conversations has them gone through once, not for each who is
    asked about."""
    others = [f"user {number}" for number in range(CONVERSATIONS)]
    for other in others:
        await store.conversation("alice", other)
    await database.command("profile", 2)
    asked = [*others[:ASKED], "nobody"]
    assert await conversations.users_sharing_conversation(store.database, "alice", asked) == set(
        others[:ASKED]
    )
    await database.command("profile", 0)
    queries = (
        await database["system.profile"].find({"ns": f"{database.name}.conversations"}).to_list()
    )
    assert len(queries) == 1
    assert queries[0]["docsExamined"] <= 2 * CONVERSATIONS
