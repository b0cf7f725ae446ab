"""A connection that was made while its member was between two roles: PyMongo keeps it, and no
session works on it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from chat_aio import Chat, Options
from chat_aio.capabilities import Capability
from chat_aio.store.transactions import transact
from tests.conftest import Database
from tests.support.hosts import DRIVERS, connected


@pytest.fixture(params=DRIVERS)
async def chat(
    request: pytest.FixtureRequest, client_url: str, database: Database
) -> AsyncIterator[Chat]:
    """Without a feed, whose connection is always in use."""
    options = Options(disabled_capabilities=frozenset({Capability.STREAMS}))
    async with (
        connected(request.param, client_url) as client,
        Chat(client[database.name], options=options) as chat,
    ):
        yield chat


def between_two_roles(chat: Chat) -> int:
    """Make all connections that are kept such ones; how many there are."""
    client = chat._context.database.client
    client = vars(client).get("delegate", client)
    found = [
        connection
        for server in client._topology._servers.values()
        for connection in server.pool.conns
    ]
    for connection in found:
        connection.supports_sessions = False
    return len(found)


async def test_a_connection_on_which_no_session_works(chat: Chat) -> None:
    """Neither a send nor a change of a conversation fails, and nothing is left locked."""
    group = await chat.api.create_group_conversation("alice")
    poisoned = 0
    for number in range(1, 4):
        poisoned += between_two_roles(chat)
        message = await chat.api.send_message("alice", group.id, "hello")
        assert message.seq == number
        poisoned += between_two_roles(chat)
        await chat.api.add_participants("alice", group.id, [f"guest {number}"])
    assert poisoned > 1


async def test_a_commit_on_such_a_connection(chat: Chat, database: Database) -> None:
    """Whether it has come through is asked on another one."""
    group = await chat.api.create_group_conversation("alice")
    kept = chat._context.database

    async def body(session: Any) -> None:
        chosen = {"_id": group.id}
        await kept.counters.update_one(chosen, {"$inc": {"fence": 1}}, session=session)
        between_two_roles(chat)

    await transact(kept, body)
    head = await database["counters"].find_one({"_id": group.id})
    assert head is not None
    assert head["fence"] == 1
