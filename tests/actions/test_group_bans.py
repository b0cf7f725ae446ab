"""Bans from a group: who may ban and lift, every way in is closed, and the guard of that."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import AsyncMock, patch

import pytest

from chat_aio.actions import join_requests, membership
from chat_aio.errors import ConversationBanned, InvalidInput
from tests.actions.test_membership_guards import outcomes
from tests.conftest import MakeChat, MakePeople
from tests.support.rooms import NO_ADMIN, People, ban, banned, lift, refusal, say, two
from tests.support.saboteurs import prove
from tests.support.verify import verify_action

BANNED = (403, "CONVERSATION_BANNED")
ROUNDS = 8


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(room_controls=True)


async def test_a_ban_removes_and_keeps_out(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob", "carol", visibility="public", joinPolicy="open")
    made = await alice.post(f"/conversations/{group}/invites")
    link = made.json["invite"]["code"]

    async def expel() -> None:
        answer = await ban(alice, group, "bob", reason="spam")
        assert answer.status == 200
        assert answer.json["conversationBan"] == {
            "conversationId": group,
            "userId": "bob",
            "createdByUserId": "alice",
            "reason": "spam",
            "createdAt": answer.json["conversationBan"]["createdAt"],
        }

    (event,) = await verify_action(person("carol"), expel, "participant.removed")
    assert event.data["affectedUserIds"] == ["bob"]
    assert refusal(await say(bob, group)) == (403, "FORBIDDEN_WRITE")
    ways_in = [
        await bob.post(f"/conversations/{group}/join"),
        await bob.post(f"/invites/{link}/accept"),
        await bob.post(f"/conversations/{group}/join-requests"),
        await alice.post(f"/conversations/{group}/participants", {"userIds": ["dora", "bob"]}),
    ]
    assert [refusal(answer) for answer in ways_in] == [BANNED] * len(ways_in)
    roles = (await alice.chat.api.get_conversation("alice", group)).roles
    assert roles.keys() == {"alice", "carol"}
    (unused,) = await alice.chat.api.list_invites("alice", group)
    assert unused.uses == 0
    lifted = await lift(alice, group, "bob")
    assert (lifted.status, lifted.json) == (200, {"ok": True})
    assert refusal(await lift(alice, group, "bob")) == (404, "BAN_NOT_FOUND")
    assert (await bob.post(f"/conversations/{group}/join")).status == 200


async def test_who_asks_to_join_a_channel_or_waits_is_kept_out(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group(visibility="public")
    link = await alice.chat.api.create_invite("alice", group, requires_approval=True)
    await bob.post(f"/conversations/{group}/join")
    await ban(alice, group, "bob")
    denied = await alice.get(f"/conversations/{group}/join-requests?status=denied")
    assert [join_request["userId"] for join_request in denied.json["joinRequests"]] == ["bob"]
    for path in (f"/conversations/{group}/join", f"/invites/{link.code}/accept"):
        assert refusal(await bob.post(path)) == BANNED
    approve = {"userId": "bob", "decision": "approve"}
    answer = await alice.call("PATCH", f"/conversations/{group}/join-requests", json=approve)
    assert refusal(answer) == (404, "JOIN_REQUEST_NOT_FOUND")


async def test_a_request_from_when_the_option_was_off_is_not_approved(
    make_chat: MakeChat,
) -> None:
    with_it, without = await make_chat(room_controls=True), await make_chat()
    group = await with_it.api.create_group_conversation("alice")
    await with_it.rooms.ban_from_conversation("alice", group.id, "bob")
    await without.api.request_to_join("bob", group.id)
    with pytest.raises(ConversationBanned):
        await with_it.api.resolve_join_request("alice", group.id, "bob", "approve")


async def test_who_may_ban_whom(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    for who in (bob, person("stranger")):
        for answer in (
            await ban(who, group, "dora"),
            await banned(who, group),
            await lift(who, group, "dora"),
        ):
            assert refusal(answer) == NO_ADMIN
    for answer in (
        await ban(alice, direct, "bob"),
        await banned(alice, direct),
        await lift(alice, direct, "bob"),
    ):
        assert refusal(answer) == (409, "NOT_GROUP_CONVERSATION")
    assert refusal(await ban(alice, "nowhere", "bob")) == (404, "CONVERSATION_NOT_FOUND")
    assert refusal(await ban(alice, group, "alice")) == (400, "INVALID_INPUT")
    for wrong in ({}, {"userId": ""}, {"userId": 1}, {"userId": "x", "reason": "r" * 1_001}):
        answer = await alice.post(f"/conversations/{group}/bans", wrong)
        assert refusal(answer) == (400, "INVALID_INPUT")
    await alice.chat.api.set_participant_role("alice", group, "bob", "admin")
    assert (await ban(bob, group, "alice")).status == 200
    with pytest.raises(InvalidInput):
        await alice.chat.rooms.ban_from_conversation("bob", group, "bob")


async def test_bans_are_listed_and_kept_as_they_were(person: People) -> None:
    alice = person("alice")
    group, other = await alice.group("user 1"), await alice.group()
    await ban(alice, other, "elsewhere")
    for number in range(5):
        answer = await ban(alice, group, f"user {number}", reason=f"{number}")
        assert answer.status == 200
    again = await ban(alice, group, "user 3", reason="another")
    assert again.json["conversationBan"]["reason"] == "3"
    found: list[str] = []
    cursor = ""
    while True:
        page = (await banned(alice, group, f"?limit=2{cursor}")).json
        found += [conversation_ban["userId"] for conversation_ban in page["conversationBans"]]
        if page["nextCursor"] is None:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert found == [f"user {number}" for number in reversed(range(5))]
    assert refusal(await banned(alice, group, "?cursor=x")) == (400, "INVALID_INPUT")


async def test_admins_hear_of_bans_and_nobody_else(person: People) -> None:
    alice, carol = person("alice"), person("carol")
    group = await alice.group("carol")
    async with alice.tab() as admins, carol.tab() as members:
        await ban(alice, group, "stranger", reason="known")
        await ban(alice, group, "stranger")
        await lift(alice, group, "stranger")
        created = await admins.event("conversation_ban.created")
        assert created["conversationBan"]["reason"] == "known"
        lifted = await admins.event("conversation_ban.removed")
        assert lifted["conversationBan"]["userId"] == "stranger"
        await alice.send(group, "the end")
        seen = await members.until(lambda frame: frame.event == "message.created")
        assert [event.event for event in seen if event.event] == ["message.created"]


async def test_nobody_comes_in_past_a_ban(make_chat: MakeChat) -> None:
    """By any way, while an admin of the other process bans them."""
    here, there = await two(make_chat)

    async def one_round(way: Callable[[str, str], Awaitable[object]]) -> None:
        group = await here.api.create_group_conversation(
            "alice", visibility="public", join_policy="open"
        )
        link = await here.api.create_invite("alice", group.id)
        await outcomes(
            [
                way(group.id, link.code),
                here.rooms.ban_from_conversation("alice", group.id, "bob"),
                way(group.id, link.code),
            ]
        )
        await outcomes([way(group.id, link.code)])
        assert "bob" not in (await there.api.get_conversation("alice", group.id)).roles
        waiting = await there.api.list_join_requests("alice", group.id)
        assert waiting.join_requests == ()
        bans = await there.rooms.list_conversation_bans("alice", group.id)
        assert [conversation_ban.user_id for conversation_ban in bans.conversation_bans] == ["bob"]

    ways: list[Callable[[str, str], Awaitable[object]]] = [
        lambda group, _: there.api.join_conversation("bob", group),
        lambda _, code: there.api.accept_invite("bob", code),
        lambda group, _: there.api.add_participants("alice", group, ["bob"]),
        lambda group, _: there.api.request_to_join("bob", group),
    ]
    for way in ways:

        async def scenario(way: Callable[[str, str], Awaitable[object]] = way) -> None:
            for _ in range(ROUNDS):
                await one_round(way)

        await prove(scenario, sabotage=_all_ways_open())


@contextmanager
def _all_ways_open() -> Iterator[None]:
    with ExitStack() as stack:
        for module in (membership, join_requests):
            stack.enter_context(patch.object(module, "require_admissible", AsyncMock()))
        yield
