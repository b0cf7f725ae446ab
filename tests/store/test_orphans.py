"""Transactions of killed processes: their locks do not stay for the minute that MongoDB gives."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from unittest.mock import AsyncMock, patch

import pytest
from pymongo.errors import OperationFailure

from chat_aio import Chat, Options
from chat_aio.store import orphans
from chat_aio.store.orphans import end_orphans
from tests.conftest import Database
from tests.store.conftest import Store
from tests.support.hosts import connected
from tests.support.orphans import killed_amid_transaction

FREE_WITHIN = 20
"""Seconds: far less than the minute, and enough on a busy machine."""


async def send(chat: Chat, conversation_id: str) -> None:
    assert (await chat.api.send_message("alice", conversation_id, "hello")).seq == 1


async def change(chat: Chat, conversation_id: str) -> None:
    assert await chat.api.add_participants("alice", conversation_id, ["bob"])


@pytest.mark.parametrize(("driver", "deed"), [("pymongo", send), ("motor", change)])
async def test_what_a_killed_process_has_locked(
    mongo_url: str, database: Database, driver: str, deed: Callable[[Chat, str], Awaitable[None]]
) -> None:
    """It is free soon; and the transaction of a client that lives, which has been idle for longer,
    is left alone."""
    options = Options(storage_timeout_seconds=FREE_WITHIN)
    async with (
        connected(driver, mongo_url) as host,
        Chat(host[database.name], options=options) as chat,
    ):
        locked = (await chat.api.create_group_conversation("alice")).id
        lived_in = (await chat.api.create_group_conversation("alice")).id
        session = database.client.start_session()
        async with session, await session.start_transaction():
            chosen = {"_id": lived_in}
            await database["counters"].update_one(chosen, {"$inc": {"fence": 1}}, session=session)
            await killed_amid_transaction(mongo_url, database.name, locked)
            await deed(chat, locked)
        head = await database["counters"].find_one(chosen)
        assert head is not None
        assert head["fence"] == 1


async def test_a_refusal_is_logged_once(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    refusal = OperationFailure("(Unauthorized) not allowed in this atlas tier", 8000)
    with patch.object(orphans, "_orphans", AsyncMock(side_effect=refusal)) as look:
        for _ in range(3):
            store.database.looked_for_orphans = -math.inf
            await end_orphans(store.database, since=0.0)
    assert look.await_count == 3
    (warning,) = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert "(code 8000)" in warning


async def test_one_looks_for_all_who_wait(store: Store) -> None:
    waiting = [end_orphans(store.database, since=0.0) for _ in range(20)]
    with patch.object(orphans, "_orphans", AsyncMock(return_value=[])) as look:
        await asyncio.gather(*waiting)
    assert look.await_count == 1
