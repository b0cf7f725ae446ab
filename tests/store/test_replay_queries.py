"""The bounds of a replay's reads: clients that return at once must not fill the memory."""

from datetime import timedelta

import pytest

from chat_aio.store.replay_queries import Bounds, TooMuch, list_created
from tests.store.conftest import Store


async def test_a_replay_reads_up_to_its_bounds(store: Store) -> None:
    group = await store.conversation("alice", "bob")
    sent = [await store.send(group) for _ in range(5)]
    since = sent[0]["createdAt"] - timedelta(seconds=1)

    async def count(**bounds: int) -> int:
        given = {"per_conversation": 9, "most": 9, "most_bytes": 100_000} | bounds
        found = await list_created(
            store.database, [group["_id"]], since=since, bounds=Bounds(**given)
        )
        return len(found)

    assert await count(most=5) == 5
    with pytest.raises(TooMuch):
        await count(most=4)
    with pytest.raises(TooMuch):
        await count(most_bytes=100)
