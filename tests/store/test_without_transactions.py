"""mongomock-motor shows what a store without transactions and change streams still answers."""

from typing import Any

import pytest
from mongomock import filtering
from mongomock_motor import AsyncMongoMockClient

from chat_aio.actions.context import utc_now
from chat_aio.capabilities import Capability, require
from chat_aio.errors import ChannelsUnsupported, StreamUnsupported
from chat_aio.store import conversations, messages
from chat_aio.store.database import Database


class Bare:
    """mongomock's database as far as a store needs it; it knows no concerns."""

    def __init__(self, database: Any) -> None:
        self._database = database
        self.client = database.client

    def with_options(self, **_: Any) -> "Bare":
        return self

    def __getitem__(self, name: str) -> Any:
        return self._database[name]


@pytest.fixture(autouse=True)
def types_in_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """mongomock knows `$type` with one type only."""
    is_of: Any = filtering._type_op

    def is_of_any(value: Any, types: Any, **given: Any) -> bool:
        return any(is_of(value, kind, **given) for kind in ([types], types)[type(types) is list])

    monkeypatch.setitem(filtering._filterer_inst._operator_map, "$type", is_of_any)


@pytest.fixture
async def bare() -> Database:
    database = Database(Bare(AsyncMongoMockClient()["chat"]))
    for seq in range(1, 6):
        await database.messages.insert_one(
            {"_id": f"m{seq}", "conversationId": "c", "timelines": ["c"], "seq": seq}
        )
    await database.conversations.insert_one({"_id": "c", "participants": [{"userId": "ada"}]})
    await database.counters.insert_one({"_id": "c", "seq": 5, "activityAt": utc_now()})
    return database


async def test_simple_reads(bare: Database) -> None:
    assert await conversations.ids_of_user(bare, "ada") == ["c"]
    assert await conversations.ids_of_user(bare, "bob") == []
    after = await messages.list_after(bare, "c", after=3, limit=10)
    assert [message["seq"] for message in after] == [4, 5]
    heads = await conversations.list_heads(bare, ["c", "x"], limit=5)
    assert [head["_id"] for head in heads] == ["c"]


@pytest.mark.parametrize(
    ("capability", "error"),
    [
        (Capability.CHANNELS, ChannelsUnsupported),
        (Capability.STREAMS, StreamUnsupported),
    ],
)
def test_a_missing_capability_is_its_501(capability: Capability, error: type[Exception]) -> None:
    class Without:
        capabilities = frozenset(Capability) - {capability}

    with pytest.raises(error):
        require(Without(), capability)
    for other in Without.capabilities:
        require(Without(), other)
