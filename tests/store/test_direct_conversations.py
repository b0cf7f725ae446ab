"""Ids of direct conversations: one for each pair, made with one key of the database."""

import asyncio

from chat_aio.store.direct_conversations import direct_conversation_id
from chat_aio.store.settings import Settings
from tests.store.conftest import MakeStore


async def test_the_direct_key_is_made_once(make_store: MakeStore) -> None:
    stores = [make_store() for _ in range(4)]
    ids = await asyncio.gather(
        *(
            direct_conversation_id(Settings(stores[number % 4].database), "a", "b")
            for number in range(32)
        )
    )
    assert len(set(ids)) == 1
    assert await stores[0].database.settings.count_documents({}) == 1
