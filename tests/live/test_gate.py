"""A host's own `can_read`, asked on opening a stream, when somebody is let in, at heartbeats."""

import asyncio

from chat_aio import Hooks
from chat_aio.hooks import PermissionContext
from tests.conftest import Database, MakePeople
from tests.support.membership import change
from tests.support.people import PATIENCE


class Rule:
    """Participants read, but for the conversations that are closed to them."""

    def __init__(self) -> None:
        self.closed: set[tuple[str, str]] = set()
        self.closed_names: set[str] = set()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.asked = asyncio.Event()

    async def __call__(self, asked: PermissionContext) -> bool:
        self.asked.set()
        await asyncio.wait_for(self.may_answer.wait(), PATIENCE)
        conversation = asked.conversation
        is_closed = (asked.user_id, conversation.id) in self.closed
        is_closed_name = asked.user_id == "bob" and conversation.name in self.closed_names
        return asked.user_id in conversation.roles and not is_closed and not is_closed_name


async def test_what_may_not_be_read_is_neither_told_nor_replayed(serve: MakePeople) -> None:
    rule = Rule()
    person = await serve(Hooks(can_read=rule))
    alice, bob = person("alice"), person("bob")
    seen, closed = await alice.group("bob"), await alice.group("bob")
    await alice.send(seen, "position")
    await alice.send(closed, "secret 1")
    await alice.send(seen, "missed")
    await alice.told_all()
    rule.closed.add(("bob", closed))
    places = [person, await serve(Hooks(can_read=rule), replay_buffer_seconds=0)]
    for count, place in enumerate(places, 1):
        async with place("bob").tab(f"{seen}:1") as tab:
            assert await tab.bodies(count) == ["missed"] * count
            await alice.send(closed, "secret 2")
            await alice.send(seen, "missed")
            assert await tab.bodies(1) == ["missed"]
    assert (await bob.get(f"/conversations/{closed}")).code == "FORBIDDEN_READ"


async def test_who_is_let_in_hears_once_the_host_has_said_yes(serve: MakePeople) -> None:
    rule = Rule()
    person = await serve(Hooks(can_read=rule))
    alice = person("alice")
    old, group, closed = await alice.group("bob"), await alice.group(), await alice.group()
    async with person("bob").tab() as tab:
        rule.closed.add(("bob", closed))
        rule.may_answer.clear()
        for conversation_id in (group, closed):
            await change(alice.chat, conversation_id, add=("bob",))
            await alice.chat.api.send_message("alice", conversation_id, "meanwhile")
        await alice.chat.api.send_message("alice", old, "waits as well")
        rule.asked.clear()
        await alice.told_all()
        rule.may_answer.set()
        assert (await tab.event("participant.added"))["conversationId"] == group
        assert await tab.bodies(2) == ["meanwhile", "waits as well"]
        await alice.chat.api.send_message("alice", closed, "secret")
        await alice.chat.api.send_message("alice", group, "live")
        assert await tab.bodies(1) == ["live"]


async def test_a_host_that_thinks_again_is_asked_at_heartbeats(serve: MakePeople) -> None:
    rule = Rule()
    person = await serve(Hooks(can_read=rule), heartbeat_interval_ms=50)
    alice = person("alice")
    group, other = await alice.group("bob", name="tea"), await alice.group("bob")
    async with person("bob").tab() as tab:
        await alice.send(group, "heard")
        assert await tab.bodies(1) == ["heard"]
        rule.closed_names.add("tea")
        live = alice.chat._live
        async with asyncio.timeout(PATIENCE):
            while len(live.hub._by_conversation[group]):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await alice.send(group, "not heard")
        await alice.send(other, "heard")
        assert await tab.bodies(1) == ["heard"]
        position = tab.last_event_id
        rule.closed_names.clear()
        await tab.end()
    await alice.send(group, "heard again")
    async with person("bob").tab(position) as tab:
        assert await tab.bodies(1) == ["heard again"]


async def test_heartbeats_go_on_while_a_host_does_not_answer(serve: MakePeople) -> None:
    rule = Rule()
    person = await serve(Hooks(can_read=rule), heartbeat_interval_ms=50, hook_timeout_seconds=60)
    alice = person("alice")
    group = await alice.group("bob")
    async with person("bob").tab() as tab:
        rule.may_answer.clear()
        rule.asked.clear()
        await asyncio.wait_for(rule.asked.wait(), PATIENCE)
        await alice.send(group, "heard")
        assert await tab.bodies(1) == ["heard"]
        before = len(tab.comments)
        listening = asyncio.create_task(tab.next())
        try:
            async with asyncio.timeout(PATIENCE):
                while len(tab.comments) < before + 5:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        finally:
            rule.may_answer.set()
        assert set(tab.comments[before:]) == {"keep-alive"}
        listening.cancel()


async def test_a_conversation_that_cannot_be_loaded_is_not_told_and_stops_nothing(
    serve: MakePeople, database: Database
) -> None:
    rule = Rule()
    person = await serve(Hooks(can_read=rule), heartbeat_interval_ms=100)
    alice = person("alice")
    group = await alice.group("bob")
    row = await database["conversations"].find_one({"_id": group})
    assert row is not None
    del row["epoch"]
    async with person("bob").tab() as tab:
        await database["conversations"].insert_one(
            {**row, "_id": "broken"}, bypass_document_validation=True
        )
        await alice.send(group, "heard")
        assert await tab.bodies(1) == ["heard"]
        rule.asked.clear()
        await asyncio.wait_for(rule.asked.wait(), PATIENCE)
        await alice.send(group, "heard after a heartbeat")
        assert await tab.bodies(1) == ["heard after a heartbeat"]
    async with person("bob").tab() as tab:
        await alice.send(group, "heard by who comes back")
        assert await tab.bodies(1) == ["heard by who comes back"]
