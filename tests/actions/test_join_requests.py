"""Join requests: asking, waiting, deciding."""

from collections.abc import Callable
from typing import Any

import pytest

from chat_aio import Chat
from tests.support.people import Answer, Person

People = Callable[[str], Person]


async def ask(who: Person, group: str, **given: Any) -> Answer:
    return await who.post(f"/conversations/{group}/join-requests", given or None)


async def join(who: Person, group: str, **given: Any) -> Answer:
    return await who.post(f"/conversations/{group}/join", given or None)


async def resolve(who: Person, group: str, user_id: Any, decision: Any) -> Answer:
    body = {"userId": user_id, "decision": decision}
    return await who.call("PATCH", f"/conversations/{group}/join-requests", json=body)


async def queue(who: Person, group: str, query: str = "") -> list[dict[str, Any]]:
    answer = await who.get(f"/conversations/{group}/join-requests{query}")
    assert answer.status == 200, answer
    found: list[dict[str, Any]] = answer.json["joinRequests"]
    return found


async def test_a_request_is_made_and_approved(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group()
    answer = await ask(bob, group, message=" \n ")
    asked = answer.json["joinRequest"]
    assert answer.status == 201
    assert (asked["message"], asked["inviteCode"], asked["status"]) == (None, None, "pending")
    again = await ask(bob, group, message="please")
    assert (again.status, again.json["joinRequest"]) == (201, asked)
    assert await queue(alice, group) == [asked]
    resolved = await resolve(alice, group, "bob", "approve")
    assert resolved.status == 200
    request = resolved.json["joinRequest"]
    assert request == {
        **asked,
        "status": "approved",
        "resolvedAt": request["resolvedAt"],
        "resolvedBy": "alice",
    }
    conversation = resolved.json["conversation"]
    assert [participant["userId"] for participant in conversation["participants"]] == [
        "alice",
        "bob",
    ]
    assert await queue(alice, group) == []
    assert await queue(alice, group, "?status=approved") == [request]
    assert (await ask(bob, group)).code == "ALREADY_PARTICIPANT"
    for decision in ("approve", "deny"):
        answer = await resolve(alice, group, "bob", decision)
        assert (answer.status, answer.code) == (404, "JOIN_REQUEST_NOT_FOUND")


async def test_a_denial_is_no_block(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group()
    asked = (await ask(bob, group, message="one")).json["joinRequest"]
    denied = (await resolve(alice, group, "bob", "deny")).json
    assert denied["conversation"] is None
    assert (denied["joinRequest"]["status"], denied["joinRequest"]["id"]) == ("denied", asked["id"])
    assert await queue(alice, group, "?status=denied") == [denied["joinRequest"]]
    assert (await resolve(alice, group, "bob", "approve")).code == "JOIN_REQUEST_NOT_FOUND"
    again = (await ask(bob, group, message="two")).json["joinRequest"]
    assert (again["message"], again["status"], again["resolvedBy"]) == ("two", "pending", None)
    assert await queue(alice, group, "?status=denied") == []
    assert await queue(alice, group) == [again]


async def test_who_was_removed_may_ask_again(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    await bob.call("DELETE", f"/conversations/{group}/participants", json={"userId": "bob"})
    assert (await ask(bob, group)).status == 201
    answer = await alice.post(f"/conversations/{group}/participants", {"userIds": ["bob"]})
    assert answer.status == 200
    (closed,) = await queue(alice, group, "?status=approved")
    assert (closed["userId"], closed["resolvedBy"]) == ("bob", "alice")


async def test_a_queue_is_paged(person: People) -> None:
    alice = person("alice")
    group = await alice.group()
    for number in range(5):
        await ask(person(f"user {number}"), group)
    told: list[str] = []
    cursor = ""
    for _ in range(3):
        answer = await alice.get(f"/conversations/{group}/join-requests?limit=2{cursor}")
        told += [join_request["userId"] for join_request in answer.json["joinRequests"]]
        cursor = f"&cursor={answer.json['nextCursor']}"
    assert (told, answer.json["nextCursor"]) == ([f"user {n}" for n in (4, 3, 2, 1, 0)], None)


async def test_a_full_group_leaves_it_pending(person: People) -> None:
    alice = person("alice")
    group = await alice.group(*(f"user {number}" for number in range(255)))
    await ask(person("eve"), group)
    answer = await resolve(alice, group, "eve", "approve")
    assert (answer.status, answer.code) == (422, "GROUP_LIMIT_EXCEEDED")
    assert [request["status"] for request in await queue(alice, group)] == ["pending"]


async def test_who_may_see_and_decide(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    for who, where, status, code in (
        (bob, group, 403, "NOT_CONVERSATION_ADMIN"),
        (alice, direct, 409, "NOT_GROUP_CONVERSATION"),
        (alice, "none", 404, "CONVERSATION_NOT_FOUND"),
    ):
        for answer in (
            await who.get(f"/conversations/{where}/join-requests"),
            await resolve(who, where, "eve", "approve"),
        ):
            assert (answer.status, answer.code) == (status, code)
    assert (await ask(person("eve"), direct)).code == "NOT_GROUP_CONVERSATION"
    assert (await ask(person("eve"), "none")).code == "CONVERSATION_NOT_FOUND"


@pytest.mark.parametrize(
    ("user_id", "decision"), [("eve", "maybe"), ("eve", None), (None, "deny"), ("", "deny")]
)
async def test_decisions_that_are_refused(person: People, user_id: Any, decision: Any) -> None:
    group = await person("alice").group()
    assert (await resolve(person("alice"), group, user_id, decision)).code == "INVALID_INPUT"


@pytest.mark.parametrize("message", ["x" * 501, 7, ["x"]])
async def test_notes_that_are_refused(person: People, message: Any) -> None:
    group = await person("alice").group(visibility="public")
    for act in (ask, join):
        assert (await act(person("eve"), group, message=message)).code == "INVALID_INPUT"


async def test_the_server_api_asks_and_joins(chat: Chat) -> None:
    group = await chat.api.create_group_conversation("alice", visibility="public")
    asked = await chat.api.request_to_join("bob", group.id, message="hi")
    assert asked.status == "pending"
    page = await chat.api.list_join_requests("alice", group.id)
    assert page.join_requests == (asked,)
    denied = await chat.api.resolve_join_request("alice", group.id, "bob", "deny")
    assert denied.conversation is None
    joining = await chat.api.join_conversation("bob", group.id)
    assert (joining.status, joining.conversation) == ("pending", None)
    directory = await chat.api.list_public_conversations("bob")
    assert [channel.request_pending for channel in directory.channels] == [True]
