"""Slow mode: the wait between two messages of a member, and its guard with many callers at once."""

import asyncio
from datetime import timedelta
from unittest.mock import AsyncMock, patch

import pytest

from chat_aio import Chat, Options, Quotas
from chat_aio.actions.context import utc_now
from chat_aio.errors import SlowMode
from chat_aio.store import slow_mode
from tests.actions.test_membership_guards import outcomes
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.rooms import People, refusal, say, two, update
from tests.support.saboteurs import prove

ROUNDS = 8


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(room_controls=True)


async def test_slow_mode_spaces_the_messages_of_members(person: People) -> None:
    alice, bob, carol = person("alice"), person("bob"), person("carol")
    group, elsewhere = await alice.group("bob", "carol"), await bob.group()
    root = await alice.send(group, "root")
    source = await bob.send(elsewhere, "from elsewhere")
    await update(alice, group, slowModeSeconds=60)
    first = await say(bob, group, "first", clientMessageId="k")
    assert first.status == 201
    refused = [
        await say(bob, group),
        await say(bob, group, threadRootMessageId=root["id"]),
        await bob.post(f"/messages/{source['id']}/forward", {"conversationId": group}),
    ]
    for answer in refused:
        assert refusal(answer) == (429, "SLOW_MODE")
        assert 55 <= int(answer.headers["Retry-After"]) <= 60
    again = await say(bob, group, "first", clientMessageId="k")
    assert (again.status, again.json["message"]["id"]) == (200, first.json["message"]["id"])
    # Nothing but sending is slow, and nobody else.
    await bob.edit(first.json["message"]["id"], "edited")
    await bob.react(root["id"], "+1")
    await carol.send(group, "her first")
    for body in ("one", "two"):
        await alice.send(group, body)
    await bob.send(elsewhere, "again")
    await update(alice, group, slowModeSeconds=0)
    await bob.send(group, "second")


async def test_what_slow_mode_refuses_is_a_request_and_no_message(serve: MakePeople) -> None:
    quotas = Quotas(requests_per_minute=12, messages_per_minute=2)
    person = await serve(room_controls=True, quotas=quotas)
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    await update(alice, group, slowModeSeconds=3_600)
    assert (await say(bob, group)).status == 201
    answers = [refusal(await say(bob, group)) for _ in range(12)]
    assert answers == [(429, "SLOW_MODE")] * 11 + [(429, "RATE_LIMITED")]


async def test_leaving_does_not_shorten_the_wait(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob", visibility="public", joinPolicy="open")
    await update(alice, group, slowModeSeconds=60)
    await bob.send(group, "first")
    await bob.call("DELETE", f"/conversations/{group}/participants", json={"userId": "bob"})
    assert (await bob.post(f"/conversations/{group}/join")).status == 200
    assert refusal(await say(bob, group)) == (429, "SLOW_MODE")


async def test_the_wait_is_over_after_so_many_seconds(database: Database) -> None:
    now = utc_now()
    chat = Chat(database, options=Options(room_controls=True), clock=lambda: now)
    async with chat:
        group = await chat.api.create_group_conversation("alice", user_ids=["b.ob", "carol"])
        await chat.rooms.update_conversation("alice", group.id, slow_mode_seconds=10)
        await chat.api.send_message("b.ob", group.id, "first")
        await chat.api.send_message("carol", group.id, "first")
        now += timedelta(seconds=9.5)
        with pytest.raises(SlowMode) as refused:
            await chat.api.send_message("b.ob", group.id, "second")
        assert refused.value.retry_after == 1
        now += timedelta(seconds=0.5)
        await chat.api.send_message("b.ob", group.id, "second")
        # Times that say nothing any more are not kept.
        head = await database["counters"].find_one({"_id": group.id})
        assert head is not None
        assert list(head["lastSentAt"]) == ["b%2Eob"]
        # Nobody waits longer than the interval, whatever a clock has said.
        now -= timedelta(hours=1)
        with pytest.raises(SlowMode) as refused:
            await chat.api.send_message("b.ob", group.id, "third")
        assert refused.value.retry_after == 10
        await chat.rooms.update_conversation("alice", group.id, slow_mode_seconds=0)
        head = await database["counters"].find_one({"_id": group.id})
        assert head is not None
        assert "lastSentAt" not in head


async def test_one_message_of_each_member_at_once(make_chat: MakeChat) -> None:
    chats = await two(make_chat)

    async def scenario() -> None:
        members = ["bob", "carol", "dora"]
        group = await chats[0].api.create_group_conversation("alice", user_ids=members)
        await chats[0].rooms.update_conversation("alice", group.id, slow_mode_seconds=600)
        sent = await outcomes(
            chats[number % 2].api.send_message(who, group.id, f"{number}")
            for number in range(12)
            for who in (*members, "alice")
        )
        page = await chats[1].api.list_messages("alice", group.id, limit=200)
        by = [message.sender_id for message in page.messages]
        assert {who: by.count(who) for who in (*members, "alice")} == {
            **dict.fromkeys(members, 1),
            "alice": 12,
        }
        assert [message.seq for message in page.messages] == [*range(15, 0, -1)]
        assert sent == {"done": 15, SlowMode.__name__: 33}

    await prove(scenario, sabotage=patch.object(slow_mode, "refuse", AsyncMock(return_value={})))


async def test_slow_mode_holds_for_sends_that_were_checked_before(make_chat: MakeChat) -> None:
    """The other process does not know yet that slow mode is on."""
    here, there = await two(make_chat)
    group = await here.api.create_group_conversation("alice", user_ids=["bob"])
    old = await there._context.snapshots.find_fresh(group.id)
    await here.rooms.update_conversation("alice", group.id, slow_mode_seconds=600)
    with patch.object(there._context.snapshots, "find", AsyncMock(return_value=old)):
        sent = await outcomes(
            there.api.send_message("bob", group.id, f"{number}") for number in range(10)
        )
    assert sent == {"done": 1, SlowMode.__name__: 9}


async def test_repetitions_at_once_are_one_message(make_chat: MakeChat) -> None:
    chats = await two(make_chat)
    group = await chats[0].api.create_group_conversation("alice", user_ids=["bob"])
    await chats[0].rooms.update_conversation("alice", group.id, slow_mode_seconds=600)
    sent = await asyncio.gather(
        *(
            chats[number % 2].api.send_message("bob", group.id, "once", client_message_id="k")
            for number in range(20)
        )
    )
    assert len({message.id for message in sent}) == 1


async def test_other_conversations_of_a_batch_go_on(make_chat: MakeChat) -> None:
    """A message that comes too early takes nothing of its batch with it."""
    chat = await make_chat(room_controls=True)
    slow = await chat.api.create_group_conversation("alice", user_ids=["bob"])
    quick = await chat.api.create_group_conversation("bob")
    await chat.rooms.update_conversation("alice", slow.id, slow_mode_seconds=600)
    await chat.api.send_message("bob", slow.id, "first")
    before = (await chat.api.list_messages("bob", slow.id)).messages
    for _ in range(ROUNDS):
        sent = await outcomes(
            chat.api.send_message("bob", group.id, "again") for group in (slow, quick)
        )
        assert sent == {"done": 1, SlowMode.__name__: 1}
    assert (await chat.api.list_messages("bob", slow.id)).messages == before
    listed = (await chat.api.list_conversations("bob")).conversations
    assert [message.id for message in listed] == [quick.id, slow.id]
