"""What passes by itself is 503, or is tried again: never a 500."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options
from chat_aio.errors import OUTCOME_UNKNOWN, StorageUnavailable
from chat_aio.store import database as store_database
from tests.conftest import Database
from tests.support.failpoints import failing

WRITE_CONFLICT, OUT_OF_DISK_SPACE = 112, 14031


@pytest.fixture
async def named(client_url: str, database: Database) -> Any:
    """A chat whose client has a name of its own, for failures that are only its."""
    async with AsyncMongoClient[dict[str, Any]](client_url, appname=database.name) as client:
        options = Options(replay_buffer_seconds=1, storage_timeout_seconds=5)
        async with Chat(client[database.name], options=options) as chat:
            yield chat


async def test_a_conflict_outside_a_transaction_is_tried_again(
    named: Chat, database: Database
) -> None:
    group = await named.api.create_group_conversation("alice")
    sent = await named.api.send_message("alice", group.id, "hi")
    async with failing(
        database.client,
        ["findAndModify"],
        app_name=database.name,
        times=3,
        errorCode=WRITE_CONFLICT,
    ):
        message = await named.api.add_reaction("alice", sent.id, "+1")
    assert [reaction.emoji for reaction in message.reactions] == ["+1"]


async def test_a_conflict_that_does_not_pass_is_unavailable(
    named: Chat, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await named.api.create_group_conversation("alice")
    sent = await named.api.send_message("alice", group.id, "hi")
    # Tries for 0.3 s, and the last one has time for its answer on a busy machine: without one the
    # outcome would be unknown.
    monkeypatch.setattr(store_database, "TRY_SECONDS", 10)
    named._database.timeout = 10.3
    async with failing(
        database.client, ["findAndModify"], app_name=database.name, errorCode=WRITE_CONFLICT
    ):
        with pytest.raises(StorageUnavailable) as refusal:
            await named.api.add_reaction("alice", sent.id, "+1")
    assert str(refusal.value) != OUTCOME_UNKNOWN


@pytest.mark.parametrize(
    ("command", "deed"),
    [("findAndModify", "react"), ("insert", "send"), ("insert", "create"), ("update", "mark")],
)
async def test_a_full_disk_is_unavailable(
    named: Chat, database: Database, command: str, deed: str
) -> None:
    group = await named.api.create_group_conversation("alice")
    sent = await named.api.send_message("alice", group.id, "hi")
    deeds: dict[str, Callable[[], Awaitable[Any]]] = {
        "react": lambda: named.api.add_reaction("alice", sent.id, "+1"),
        "send": lambda: named.api.send_message("alice", group.id, "again"),
        "create": lambda: named.api.create_group_conversation("alice"),
        "mark": lambda: named.api.mark_read("alice", group.id, sent.id),
    }
    async with failing(
        database.client, [command], app_name=database.name, errorCode=OUT_OF_DISK_SPACE
    ):
        with pytest.raises(StorageUnavailable, match="nothing was written"):
            await deeds[deed]()
    await deeds[deed]()
