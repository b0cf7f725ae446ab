"""Frozen groups: only admins write, and the guard of that with many callers at once."""

from unittest.mock import AsyncMock, patch

import pytest

from chat_aio.errors import ConversationFrozen
from chat_aio.plugins import Typing
from chat_aio.store import edits
from chat_aio.store.sequencer import Sequencer
from tests.actions.test_membership_guards import outcomes
from tests.conftest import MakeChat, MakePeople
from tests.support.rooms import People, refusal, say, two, update
from tests.support.saboteurs import append_without_fence, prove

FROZEN = (403, "CONVERSATION_FROZEN")


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(plugins=[Typing()], room_controls=True)


async def test_a_frozen_group_is_read_only_for_members(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob", "carol")
    elsewhere = await bob.group()
    mine, taken_back = await bob.send(group, "mine"), await bob.send(group, "a slip")
    source = await bob.send(elsewhere, "from elsewhere")
    await bob.react(mine["id"], "+1")
    key = {"clientMessageId": "k"}
    stored = await say(bob, group, "stored before", **key)
    await update(alice, group, frozen=True)
    message = f"/messages/{mine['id']}"
    refused = [
        await say(bob, group),
        await say(bob, group, threadRootMessageId=mine["id"]),
        await bob.call("PATCH", message, json={"body": "changed"}),
        await bob.post(f"{message}/reactions", {"emoji": "!"}),
        await bob.post(f"/messages/{source['id']}/forward", {"conversationId": group}),
        await bob.post(f"/conversations/{group}/typing", {}),
    ]
    assert [refusal(answer) for answer in refused] == [FROZEN] * len(refused)
    # What takes nothing but one's own away, what only reads, and what was stored before.
    await bob.delete(taken_back["id"])
    await bob.unreact(mine["id"], "+1")
    await bob.read(group, mine["id"])
    assert len(await bob.listed(f"/conversations/{group}/messages")) == 3
    again = await say(bob, group, "stored before", **key)
    assert (again.status, again.json["message"]["id"]) == (200, stored.json["message"]["id"])
    forwarded = await bob.post(f"{message}/forward", {"conversationId": elsewhere})
    assert forwarded.status == 201
    own = await alice.send(group, "admins can")
    await alice.edit(own["id"], "and change")
    await alice.react(mine["id"], "+1")
    left = await bob.call("DELETE", f"/conversations/{group}/participants", json={"userId": "bob"})
    assert left.status == 200
    await update(alice, group, frozen=False)
    assert (await say(person("carol"), group)).status == 201


async def test_nothing_is_sent_past_a_freeze(make_chat: MakeChat) -> None:
    """The other process still has the conversation as it was before."""
    here, there = await two(make_chat)

    async def scenario() -> None:
        group = await here.api.create_group_conversation("alice", user_ids=["bob"])
        old = await there._context.snapshots.find_fresh(group.id)
        await here.rooms.update_conversation("alice", group.id, frozen=True)
        with patch.object(there._context.snapshots, "find", AsyncMock(return_value=old)):
            sent = await outcomes(
                there.api.send_message("bob", group.id, f"{number}") for number in range(10)
            )
        assert sent == {ConversationFrozen.__name__: 10}

    await prove(scenario, sabotage=patch.object(Sequencer, "append", append_without_fence))


async def test_nothing_is_edited_past_a_freeze(make_chat: MakeChat) -> None:
    here, there = await two(make_chat)

    async def scenario() -> None:
        group = await here.api.create_group_conversation("alice", user_ids=["bob"])
        mine = await there.api.send_message("bob", group.id, "mine")
        old = await there._context.snapshots.find_fresh(group.id)
        await here.rooms.update_conversation("alice", group.id, frozen=True)
        with patch.object(there._context.snapshots, "find", AsyncMock(return_value=old)):
            edited = await outcomes([there.api.edit_message("bob", mine.id, "changed")])
        assert edited == {ConversationFrozen.__name__: 1}

    async def unfenced(database: object, _: object, *given: object, **__: object) -> object:
        return await edits.change_live(database, *given, history=None)  # type: ignore[arg-type]

    await prove(scenario, sabotage=patch.object(edits, "change_live_fenced", unfenced))
