"""Every call of the driver is made in a task of its own, which nobody cancels."""

import asyncio
import time
import traceback
from pathlib import Path
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from pymongo.asynchronous.topology import Topology

from chat_aio import store
from chat_aio.errors import StorageUnavailable
from chat_aio.plugins import Presence, Receipts, Typing
from chat_aio.store.calls import Calls
from chat_aio.store.database import Database
from chat_aio.store.transactions import Session, attempt
from tests.conftest import Database as PlainDatabase
from tests.conftest import MakePeople

PACKAGE = str(Path(store.__file__).parents[1])


async def test_a_transaction_past_its_deadline_leaves_no_locks(
    database: PlainDatabase, mongo_url: str
) -> None:
    """Whoever writes there next does not wait until the server gives it up, a minute later."""
    kept = Database(database)
    await database.counters.insert_one({"_id": "locked", "epoch": 1})
    deadline = time.monotonic() + 0.5

    async def body(session: Session) -> None:
        row = {"_id": "locked"}
        await kept.counters.update_one(row, {"$inc": {"epoch": 1}}, session=session)
        await asyncio.sleep(deadline - time.monotonic() + 0.01)
        await kept.counters.find_one(row, session=session)  # Refused by the driver, not sent.

    with pytest.raises(StorageUnavailable):
        await attempt(kept, body, deadline=deadline)
    async with AsyncMongoClient[dict[str, Any]](mongo_url) as another:
        found = await another[database.name].counters.find_one_and_update(
            {"_id": "locked"}, {"$inc": {"epoch": 1}}, return_document=True, maxTimeMS=10_000
        )
    assert found is not None
    assert found["epoch"] == 2


class Watch:
    """Which calls of the driver were made by our code outside of the calls of a database."""

    def __init__(self) -> None:
        self.known: set[asyncio.Task[Any]] = set()
        self.bare: list[str] = []
        self.seen = 0

    def note(self) -> None:
        self.seen += 1
        frames = traceback.extract_stack()
        ours = [frame for frame in frames if frame.filename.startswith(PACKAGE)]
        if ours and asyncio.current_task() not in self.known:
            self.bare.append(f"{Path(ours[-1].filename).name}:{ours[-1].lineno}")


async def test_no_call_is_made_where_it_could_be_cancelled(serve: MakePeople) -> None:
    """A walk through what a chat does, from its start to its end."""
    watch = Watch()
    with pytest.MonkeyPatch.context() as patch:
        calls_only(patch, watch)
        people = await serve(
            plugins=[Typing(), Presence(), Receipts()],
            extra_events=True,
        )
        alice, bob = people("alice"), people("bob")
        group = await alice.group("bob")
        async with bob.tab() as tab:
            message = await alice.send(group, "hi there")
            await tab.until(lambda frame: frame.event == "message.created")
            await bob.read(group, message["id"])
            await alice.react(message["id"], "+1")
            await alice.edit(message["id"], "hello", mentions=["bob"])
            await bob.post(f"/conversations/{group}/typing", {})
            assert (await bob.get("/presence?userIds=alice,bob")).status == 200
            for path in ("/conversations", f"/conversations/{group}/messages", "/channels"):
                assert (await bob.get(path)).status == 200
            assert (await bob.get("/search/messages?q=hello")).status == 200
            await alice.direct("bob")
            await alice.post(f"/conversations/{group}/participants", {"userIds": ["carol"]})
            invite = await alice.post(f"/conversations/{group}/invites", {})
            code = invite.json["invite"]["code"]
            assert (await people("dan").post(f"/invites/{code}/accept", {})).status == 200
            await alice.post("/moderation/blocks", {"targetUserId": "dan"})
            report = {"targetType": "user", "targetId": "dan", "reason": "x"}
            await alice.post("/moderation/reports", report)
            await alice.delete(message["id"])
        async with bob.tab(f"{group}:1") as tab:
            await tab.next()
        await alice.chat.close()
    assert watch.seen > 50
    assert watch.bare == []


def calls_only(patch: pytest.MonkeyPatch, watch: Watch) -> None:
    """Tasks that `Calls` makes are known; those that the rest of the program makes are not."""
    run, leave = Calls.run, Calls.leave

    async def ran(self: Calls, call: Any, *, seconds: float) -> Any:
        async def noted() -> Any:
            task = asyncio.current_task()
            assert task is not None
            watch.known.add(task)
            return await call()

        return await run(self, noted, seconds=seconds)

    def left(self: Calls, work: Any) -> asyncio.Task[Any]:
        task = leave(self, work)
        watch.known.add(task)
        return task

    select = Topology.select_server

    async def selected(topology: Topology, *args: Any, **options: Any) -> Any:
        watch.note()
        return await select(topology, *args, **options)

    patch.setattr(Calls, "run", ran)
    patch.setattr(Calls, "leave", left)
    patch.setattr(Topology, "select_server", selected)


async def test_a_bare_call_is_noticed(serve: MakePeople) -> None:
    async def bare(self: Database, call: Any, **options: Any) -> Any:
        return await call()

    watch = Watch()
    people = await serve()
    with pytest.MonkeyPatch.context() as patch:
        calls_only(patch, watch)
        patch.setattr(Database, "read", bare)
        assert (await people("alice").get("/conversations")).status == 200
    assert any(text.startswith("conversations.py") for text in watch.bare)
