"""The cache of bans: it keeps nothing that was read before a ban."""

import asyncio
from typing import Any
from unittest.mock import patch

from chat_aio.actions.context import utc_now
from chat_aio.store.bans import Bans
from chat_aio.store.database import Database
from tests.store.conftest import Store
from tests.support.people import PATIENCE


async def test_what_was_read_before_a_ban_is_not_kept(store: Store) -> None:
    bans = Bans(store.database, clock=utc_now, used=asyncio.Event())
    bans.set_feed_live(True)
    seen, go_on = asyncio.Event(), asyncio.Event()
    read = Database.read

    async def slow(self: Database, call: Any) -> Any:
        found = await read(self, call)
        seen.set()
        await asyncio.wait_for(go_on.wait(), PATIENCE)
        return found

    with patch.object(Database, "read", slow):
        asking = asyncio.create_task(bans.is_banned("mallory"))
        await asyncio.wait_for(seen.wait(), PATIENCE)
        row = {"_id": "b", "userId": "mallory", "revokedAt": None, "expiresAt": None}
        await store.database.bans.insert_one(row)
        bans.forget("mallory")
        go_on.set()
        assert not await asking
    assert await bans.is_banned("mallory")


async def test_nothing_is_kept_while_the_feed_is_not_live(store: Store) -> None:
    bans = Bans(store.database, clock=utc_now, used=asyncio.Event())
    assert not await bans.is_banned("mallory")
    row = {"_id": "b", "userId": "mallory", "revokedAt": None, "expiresAt": None}
    await store.database.bans.insert_one(row)
    assert await bans.is_banned("mallory")
