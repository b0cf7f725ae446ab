"""Every write is answered once a majority has it, and every read sees only what a majority has."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from pymongo.monitoring import CommandListener, CommandStartedEvent

from chat_aio.actions.context import new_id, utc_now
from chat_aio.store import conversations, edits
from chat_aio.store.documents import Change
from chat_aio.store.edits import NewText
from tests.conftest import Database
from tests.store.conftest import Store, store_over

READS = frozenset({"find", "aggregate", "distinct"})
WRITES = frozenset({"insert", "update", "delete", "findAndModify", "commitTransaction"})


class Concerns(CommandListener):
    """The write concerns of commands, and the read concerns, without those of transactions, which
    have one of their own at their start."""

    def __init__(self) -> None:
        self.of_writes: dict[str, set[Any]] = {}
        self.of_reads: dict[str, set[Any]] = {}

    def started(self, event: CommandStartedEvent) -> None:
        name, command = event.command_name, event.command
        is_within = "autocommit" in command
        if name in WRITES and (name == "commitTransaction" or not is_within):
            self.of_writes.setdefault(name, set()).add(command.get("writeConcern", {}).get("w"))
        if name in READS and not is_within:
            self.of_reads.setdefault(name, set()).add(command.get("readConcern", {}).get("level"))

    def succeeded(self, event: Any) -> None: ...

    def failed(self, event: Any) -> None: ...


@pytest.fixture
def concerns() -> Concerns:
    return Concerns()


@pytest.fixture
async def heard(database: Database, client_url: str, concerns: Concerns) -> AsyncIterator[Store]:
    """A store whose commands are noted."""
    async with AsyncMongoClient[dict[str, Any]](client_url, event_listeners=[concerns]) as client:
        yield store_over(client[database.name])


async def test_a_send_is_committed_by_a_majority(heard: Store, concerns: Concerns) -> None:
    group = await heard.conversation("alice", "bob")
    concerns.of_writes.clear()
    await heard.send(group)
    assert concerns.of_writes == {"commitTransaction": {"majority"}}


async def test_a_read_mark_is_acknowledged_by_a_majority(heard: Store, concerns: Concerns) -> None:
    group = await heard.conversation("alice", "bob")
    sent = await heard.send(group)
    concerns.of_writes.clear()
    await heard.read_marks.mark(group["_id"], "bob", sent["_id"])
    assert concerns.of_writes == {"update": {"majority"}}


async def test_an_edit_is_acknowledged_by_a_majority(heard: Store, concerns: Concerns) -> None:
    sent = await heard.send(await heard.conversation("alice"))
    change: Change = {
        "id": new_id(),
        "at": utc_now(),
        "kind": "message.updated",
        "actorId": "alice",
    }
    concerns.of_writes.clear()
    update = edits.edited(NewText("new", None), change=change, mentions=(), metadata={})
    assert await edits.change_live(heard.database, sent, update, history=None)
    assert concerns.of_writes == {"findAndModify": {"majority"}}


async def test_only_what_a_majority_has_is_read(heard: Store, concerns: Concerns) -> None:
    """Anything else could be undone by a failover after it was shown."""
    group = await heard.conversation("alice")
    await heard.send(group)
    concerns.of_reads.clear()
    await conversations.find(heard.database, group["_id"])
    await conversations.list_heads(heard.database, [group["_id"]], limit=1)
    await heard.database.aggregate(heard.database.messages, [{"$match": {}}])
    assert concerns.of_reads == {"find": {"majority"}, "aggregate": {"majority"}}
