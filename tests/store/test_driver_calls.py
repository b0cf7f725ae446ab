"""Every call of the driver is made in a task of its own, which nobody cancels."""

import asyncio
import traceback
from pathlib import Path
from typing import Any

import pytest
from pymongo.asynchronous.topology import Topology

from chat_aio import store
from chat_aio.plugins import Presence, Receipts, Typing
from chat_aio.store.calls import Calls
from chat_aio.store.database import Database
from tests.conftest import MakePeople

PACKAGE = str(Path(store.__file__).parents[1])


class Watch:
    """Which calls of the driver were made by our code outside of the calls of a database."""

    def __init__(self) -> None:
        self.known: set[asyncio.Task[Any]] = set()
        self.bare: list[str] = []
        self.seen = 0

    def note(self) -> None:
        self.seen += 1
        frames = traceback.extract_stack()
        ours = [each for each in frames if each.filename.startswith(PACKAGE)]
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
    run, apart = Calls.run, Calls._apart

    async def ran(self: Calls, call: Any, *, seconds: float) -> Any:
        async def noted() -> Any:
            task = asyncio.current_task()
            assert task is not None
            watch.known.add(task)
            return await call()

        return await run(self, noted, seconds=seconds)

    def left(self: Calls, work: Any) -> asyncio.Task[Any]:
        task = apart(self, work)
        watch.known.add(task)
        return task

    select = Topology.select_server

    async def selected(topology: Topology, *args: Any, **options: Any) -> Any:
        watch.note()
        return await select(topology, *args, **options)

    patch.setattr(Calls, "run", ran)
    patch.setattr(Calls, "_apart", left)
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
    assert any(each.startswith("conversations.py") for each in watch.bare)
