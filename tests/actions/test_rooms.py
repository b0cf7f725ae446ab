"""Room controls: freezing a group and bans from it, over HTTP and by `chat.rooms`."""

from collections.abc import Callable
from typing import Any

import pytest

from chat_aio.errors import ConversationBanned, ConversationFrozen, InvalidInput
from chat_aio.plugins import Typing
from tests.conftest import MakeChat, MakePeople
from tests.support.people import Answer, Person
from tests.support.verify import verify_action

People = Callable[[str], Person]


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(plugins=[Typing()], room_controls=True)


async def update(who: Person, group: str, **given: Any) -> Answer:
    return await who.call("PATCH", f"/conversations/{group}", json=given)


async def say(who: Person, group: str, body: str = "a word", **given: Any) -> Answer:
    return await who.post(f"/conversations/{group}/messages", {"body": body, **given})


async def ban(who: Person, group: str, user_id: str, **given: Any) -> Answer:
    return await who.post(f"/conversations/{group}/bans", {"userId": user_id, **given})


async def lift(who: Person, group: str, user_id: str) -> Answer:
    return await who.call("DELETE", f"/conversations/{group}/bans/{user_id}")


async def banned(who: Person, group: str, query: str = "") -> Answer:
    return await who.get(f"/conversations/{group}/bans{query}")


def refusal(answer: Answer) -> tuple[int, str | None]:
    return answer.status, answer.code


FROZEN = (403, "CONVERSATION_FROZEN")
BANNED = (403, "CONVERSATION_BANNED")
NO_ADMIN = (403, "NOT_CONVERSATION_ADMIN")


async def test_without_the_option_there_is_nothing_of_it(serve: MakePeople) -> None:
    alice = (await serve())("alice")
    group = await alice.group("bob")
    assert refusal(await update(alice, group, frozen=True)) == (400, "INVALID_INPUT")
    renamed = (await update(alice, group, name="a", frozen=True, slowModeSeconds=9)).json
    assert not {"frozen", "slowModeSeconds"} & renamed["conversation"].keys()
    for answer in (
        await ban(alice, group, "bob"),
        await banned(alice, group),
        await lift(alice, group, "bob"),
    ):
        assert refusal(answer) == (404, "NOT_FOUND")
    with pytest.raises(RuntimeError, match="room_controls"):
        _ = alice.chat.rooms


async def test_what_was_set_does_not_hold_where_the_option_is_off_again(
    make_chat: MakeChat,
) -> None:
    with_it, without = await make_chat(room_controls=True), await make_chat()
    group = await with_it.api.create_group_conversation("alice", user_ids=["bob"])
    await with_it.rooms.update_conversation("alice", group.id, frozen=True, slow_mode_seconds=60)
    await with_it.rooms.ban_from_conversation("alice", group.id, "carol")
    with pytest.raises(ConversationFrozen):
        await with_it.api.send_message("bob", group.id, "no")
    for body in ("one", "two"):
        await without.api.send_message("bob", group.id, body)
    await without.api.add_participants("alice", group.id, ["carol"])
    assert (await without.api.get_conversation("bob", group.id)).frozen is None


async def test_the_keys_are_in_every_answer_and_event(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    direct = await alice.direct("bob")
    for path in (f"/conversations/{group}", f"/conversations/{direct}"):
        shown = (await alice.get(path)).json["conversation"]
        assert (shown["frozen"], shown["slowModeSeconds"]) == (False, 0)
    listed = (await alice.get("/conversations")).json["conversations"]
    assert {each["frozen"] for each in listed} == {False}

    async def freeze() -> None:
        answer = await update(alice, group, frozen=True, slowModeSeconds=30, name="Quiet")
        shown = answer.json["conversation"]
        assert (shown["frozen"], shown["slowModeSeconds"]) == (True, 30)

    (event,) = await verify_action(bob, freeze, "conversation.updated")
    assert (event.data["conversation"]["frozen"], event.data["actorId"]) == (True, "alice")


async def test_setting_what_holds_already_is_no_event(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")

    async def twice() -> None:
        for _ in range(2):
            assert (await update(alice, group, frozen=False, slowModeSeconds=0)).status == 200
            assert (await update(alice, group, frozen=True)).status == 200

    await verify_action(
        bob, twice, "conversation.updated", "conversation.updated", "conversation.updated"
    )


async def test_who_may_and_what_is_no_value(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    for given in ({"frozen": True}, {"slowModeSeconds": 5}):
        assert refusal(await update(bob, group, **given)) == NO_ADMIN
        assert refusal(await update(alice, direct, **given)) == (409, "NOT_GROUP_CONVERSATION")
    wrong: list[dict[str, Any]] = [
        {"frozen": "yes"},
        {"frozen": 1},
        {"slowModeSeconds": "5"},
        {"slowModeSeconds": 1.5},
        {"slowModeSeconds": True},
        {"slowModeSeconds": -1},
        {"slowModeSeconds": 3_601},
        {"frozen": None},
        {},
    ]
    for given in wrong:
        assert refusal(await update(alice, group, **given)) == (400, "INVALID_INPUT"), given
    assert (await update(alice, group, slowModeSeconds=3_600)).status == 200


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
    assert [refusal(each) for each in refused] == [FROZEN] * len(refused)
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
    assert [refusal(each) for each in ways_in] == [BANNED] * len(ways_in)
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
    assert [each["userId"] for each in denied.json["joinRequests"]] == ["bob"]
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
        found += [each["userId"] for each in page["conversationBans"]]
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
        assert [each.event for each in seen if each.event] == ["message.created"]


async def test_both_doors_answer_the_same(person: People) -> None:
    alice = person("alice")
    rooms = alice.chat.rooms
    group = await alice.group("bob")
    made = await rooms.ban_from_conversation("alice", group, "bob", reason="spam")
    assert (
        made.model_dump(mode="json", by_alias=True)
        == (await ban(alice, group, "bob")).json["conversationBan"]
    )
    page = await rooms.list_conversation_bans("alice", group)
    assert page.model_dump(mode="json", by_alias=True) == (await banned(alice, group)).json
    await rooms.unban("alice", group, "bob")
    assert (await banned(alice, group)).json == {"conversationBans": [], "nextCursor": None}
    shown = await rooms.update_conversation("alice", group, frozen=True, slow_mode_seconds=5)
    answer = await alice.get(f"/conversations/{group}")
    assert shown.model_dump(mode="json", by_alias=True) == answer.json["conversation"]
