"""Deleting conversations: who may, what it leaves, and what everybody sees of it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from chat_aio import Hooks
from chat_aio.actions.deletion import delete_conversation
from chat_aio.errors import (
    ConversationNotFound,
    InvalidInput,
    LegalHold,
    NotConversationAdmin,
)
from chat_aio.hooks import PermissionContext
from chat_aio.plugins import BlockedWords, Filter
from chat_aio.store.maintenance import legal_holds
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.checking import expect_no_violation
from tests.support.deleted import KEPT, naming, settled
from tests.support.people import PATIENCE, Answer, Person

People = Callable[[str], Person]


def is_host(asked: PermissionContext) -> bool:
    return asked.user_id == "host"


HOOKS = Hooks(can_delete=is_host, can_moderate=lambda asked: asked.user_id == "mod")


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(HOOKS, room_controls=True, inbox=True, moderation_tools=True)


async def test_without_a_rule_only_the_host_may(person: People, make_chat: MakeChat) -> None:
    group = await person("alice").group("bob")
    chat = await make_chat()
    with pytest.raises(NotConversationAdmin):
        await delete_conversation(chat._context, "alice", group)
    await chat.conversations.delete_conversation("alice", group)


async def remove(who: Person, conversation_id: str, reason: str | None = None) -> Answer:
    given = {} if reason is None else {"json": {"reason": reason}}
    return await who.call("DELETE", f"/conversations/{conversation_id}", **given)


async def test_nothing_of_it_is_left(person: People, database: Database) -> None:
    alice, bob, host = person("alice"), person("bob"), person("host")
    group, other = await alice.group("bob", visibility="public"), await alice.group("bob")
    root = await alice.send(group, "one @bob", mentions=["bob"])
    await bob.send(group, "a reply", threadRootMessageId=root["id"])
    await bob.edit((await bob.send(group, "before"))["id"], "after")
    await bob.react(root["id"], "👍")
    here = f"/conversations/{group}"
    await bob.post(f"{here}/threads/{root['id']}/follow")
    await alice.post(f"{here}/pins", {"messageId": root["id"]})
    await alice.post(f"{here}/invites")
    await alice.post(f"{here}/bans", {"userId": "mallory"})
    await person("carol").post(f"{here}/join-requests")
    await bob.post("/moderation/mutes", {"conversationId": group})
    report = {"targetType": "message", "targetId": root["id"], "reason": "spam"}
    assert (await bob.post("/moderation/reports", report)).status == 200
    kept = await bob.send(other, "stays")
    assert (await remove(host, group, " order cancelled ")).json == {"ok": True}
    for who in (alice, bob, host):
        assert (await who.get(here)).code == "CONVERSATION_NOT_FOUND"
        assert (await who.get(f"{here}/messages")).code == "CONVERSATION_NOT_FOUND"
        answer = await who.post(f"{here}/messages", {"body": "late"})
        assert answer.code == "CONVERSATION_NOT_FOUND"
        assert (await remove(who, group)).code == "CONVERSATION_NOT_FOUND"
    listed = (await bob.get("/conversations")).json["conversations"]
    assert [message["id"] for message in listed] == [other]
    for path in ("/search/messages?q=one", "/mentions", "/channels", "/threads"):
        (rows,) = (v for v in (await bob.get(path)).json.values() if isinstance(v, list))
        assert rows == []
    row = await settled(database, group)
    assert (await bob.get("/moderation/mutes")).json["mutes"] == []
    assert row["lastSeq"] == 3
    assert (await naming(database, group)).keys() <= KEPT
    assert (await bob.listed(f"/conversations/{other}/messages")) == [kept]
    (reported,) = (await person("mod").get("/moderation/reports")).json["reports"]
    assert reported["evidence"]["body"] == "one @bob"
    entry = await database["audit"].find_one({"action": "delete-conversation"})
    assert entry is not None
    assert (entry["actorUserId"], entry["targetId"]) == ("host", group)
    assert entry["details"] == {"reason": "order cancelled"}
    await expect_no_violation(database)


async def test_who_may(serve: MakePeople, database: Database) -> None:
    """Over HTTP users for whom the hook returns True; without it there is no such route."""
    person, plain = await serve(HOOKS), await serve()
    alice = person("alice")
    group = await alice.group("bob")
    assert (await remove(plain("alice"), group)).code == "NOT_FOUND"
    assert (await remove(alice, group)).code == "NOT_CONVERSATION_ADMIN"
    assert (await remove(person("host"), "unknown")).code == "CONVERSATION_NOT_FOUND"
    assert (await remove(alice, "unknown")).code == "CONVERSATION_NOT_FOUND"
    assert (await remove(person("host"), group, "x" * 1_001)).code == "INVALID_INPUT"
    assert (await alice.get(f"/conversations/{group}")).status == 200
    # In process the host itself acts, whoever it names.
    chat = plain("alice").chat
    with pytest.raises(InvalidInput):
        await chat.conversations.delete_conversation("shop", group, reason="x" * 1_001)
    await chat.conversations.delete_conversation("shop", group)
    with pytest.raises(ConversationNotFound):
        await chat.conversations.delete_conversation("shop", group)
    await settled(database, group)


@pytest.mark.parametrize("target", ["conversation", "participant", "writer"])
async def test_a_legal_hold_keeps_it(person: People, database: Database, target: str) -> None:
    alice, host = person("alice"), person("host")
    group = await alice.group("bob", "carol")
    await person("carol").send(group, "hers")
    await alice.call("DELETE", f"/conversations/{group}/participants", json={"userId": "carol"})
    kind: legal_holds.Target = "conversation" if target == "conversation" else "user"
    held = {"conversation": group, "participant": "bob", "writer": "carol"}[target]
    hold: Any = {
        "_id": legal_holds.hold_id(kind, held),
        "targetType": kind,
        "targetId": held,
        "reason": "case 12",
        "createdByUserId": "mod",
        "createdAt": host.chat._context.clock(),
    }
    await database["legal_holds"].insert_one(hold)
    assert (await remove(host, group)).code == "LEGAL_HOLD"
    with pytest.raises(LegalHold):
        await host.chat.conversations.delete_conversation("shop", group)
    assert len(await alice.listed(f"/conversations/{group}/messages")) == 1
    await database["legal_holds"].delete_many({})
    assert (await remove(host, group)).status == 200


async def test_streams_of_every_process_drop_it(serve: MakePeople, database: Database) -> None:
    one, two = await serve(HOOKS), await serve(HOOKS)
    alice, bob = one("alice"), two("bob")
    group = await alice.group("bob", name="Order 7", metadata={"order": 7})
    async with alice.tab() as near, bob.tab() as far, two("eve").tab() as foreign:
        await remove(one("host"), group)
        for tab in (near, far):
            event = await tab.event("participant.removed")
            assert event["actorId"] == "host"
            assert sorted(event["affectedUserIds"]) == ["alice", "bob"]
            conversation = event["conversation"]
            assert (conversation["name"], conversation["participants"]) == ("Order 7", [])
            assert conversation["metadata"] == {"order": 7}
        await bob.send(await bob.direct("alice"), "next")
        for tab in (near, far):
            assert await tab.bodies(1) == ["next"]
        await one("eve").send(await one("eve").direct("alice"), "for eve")
        assert await foreign.bodies(1) == ["for eve"]
    await settled(database, group)


async def test_the_event_of_its_own(serve: MakePeople) -> None:
    person = await serve(HOOKS, extra_events=True)
    alice = person("alice")
    group = await alice.group("bob")
    async with person("bob").tab() as tab:
        async with person("bob").chat.events(user_id="bob") as heard:
            await remove(person("host"), group)
            expected = {"type": "conversation.deleted", "conversationId": group, "actorId": "host"}
            assert await tab.event("conversation.deleted") == expected
            event = await asyncio.wait_for(anext(heard), PATIENCE)
            assert event.model_dump(by_alias=True) == expected
        next_one = await alice.group("bob")
        assert (await tab.event("participant.added"))["conversationId"] == next_one


async def test_a_pair_begins_again(person: People, database: Database) -> None:
    alice, bob = person("alice"), person("bob")
    ids = []
    for round_number in range(3):
        direct = await alice.direct("bob")
        assert await bob.direct("alice") == direct
        await bob.send(direct, f"round {round_number}")
        assert await alice.unread(direct) == 1
        assert (await remove(person("host"), direct)).status == 200
        ids.append(direct)
    fresh = await alice.direct("bob")
    assert len({*ids, fresh}) == 4
    assert await alice.listed(f"/conversations/{fresh}/messages") == []
    # A block keeps the next one from being opened as well.
    assert (await remove(person("host"), fresh)).status == 200
    assert (await bob.post("/moderation/blocks", {"targetUserId": "alice"})).status == 200
    answer = await alice.post("/conversations", {"otherUserId": "bob"})
    assert answer.code == "DIRECT_INTERACTION_BLOCKED"
    for conversation_id in ids:
        await settled(database, conversation_id)
    await expect_no_violation(database)


async def test_held_messages_go_too(serve: MakePeople, database: Database) -> None:
    person = await serve(HOOKS, plugins=[Filter([BlockedWords(["buy"], action="hold")])])
    group = await person("alice").group("bob")
    answer = await person("alice").post(f"/conversations/{group}/messages", {"body": "buy now"})
    assert answer.code == "MESSAGE_HELD"
    await remove(person("host"), group)
    await settled(database, group)
    assert await database["held_messages"].count_documents({}) == 0


@pytest.mark.parametrize("extra_events", [True, False])
async def test_departures(serve: MakePeople, database: Database, extra_events: bool) -> None:
    """Users who are removed or lose a conversation are noted only with the option, which has a use
    for them."""
    person = await serve(HOOKS, extra_events=extra_events)
    alice = person("alice")
    group = await alice.group("bob", "carol")
    path = f"/conversations/{group}/participants"

    async def departed() -> list[str]:
        rows = await database["departures"].find({"conversationId": group}).to_list(None)
        return sorted(row["userId"] for row in rows)

    assert (await alice.call("DELETE", path, json={"userId": "bob"})).status == 200
    assert await departed() == (["bob"] if extra_events else [])
    await alice.post(path, {"userIds": ["bob"]})
    await remove(person("host"), group)
    await settled(database, group)
    assert await departed() == (["alice", "bob", "carol"] if extra_events else [])
