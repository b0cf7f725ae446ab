"""Invites: links made, shown, redeemed, spent and revoked."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chat_aio import Chat, Hooks
from chat_aio.actions.context import utc_now
from chat_aio.capabilities import Capability
from chat_aio.errors import InviteExpired
from chat_aio.hooks import PermissionContext
from tests.conftest import Database, MakePeople
from tests.support.people import Answer, Person

People = Callable[[str], Person]


async def invite(who: Person, group: str, **given: Any) -> dict[str, Any]:
    """A new invite into a group."""
    answer = await who.post(f"/conversations/{group}/invites", given or None)
    assert answer.status == 201, answer
    made: dict[str, Any] = answer.json["invite"]
    return made


async def accept(who: Person, link: dict[str, Any], **given: Any) -> Answer:
    return await who.post(f"/invites/{link['code']}/accept", given or None)


async def test_an_invite_is_made_and_listed(person: People) -> None:
    alice = person("alice")
    group = await alice.group("bob", name="Tea")
    plain = await invite(alice, group)
    assert plain == {
        "code": plain["code"],
        "conversationId": group,
        "createdBy": "alice",
        "createdAt": plain["createdAt"],
        "expiresAt": None,
        "maxUses": None,
        "uses": 0,
        "requiresApproval": False,
        "metadata": {},
    }
    assert len(plain["code"]) == 43
    assert plain["code"].replace("-", "a").replace("_", "a").isalnum()
    given = {"expiresInSeconds": 60, "maxUses": 2, "requiresApproval": True, "metadata": {"$": 1}}
    full = await invite(alice, group, **given)
    assert (full["maxUses"], full["requiresApproval"], full["metadata"]) == (2, True, {"$": 1})
    assert full["expiresAt"] > full["createdAt"]
    listed = await alice.get(f"/conversations/{group}/invites")
    assert listed.json == {"invites": [full, plain]}
    assert await alice.chat.api.list_invites("alice", group) != ()


@pytest.mark.parametrize(
    "given",
    [
        {"expiresInSeconds": 0},
        {"expiresInSeconds": -1},
        {"expiresInSeconds": 1.5},
        {"expiresInSeconds": "60"},
        {"expiresInSeconds": 10**12},
        {"expiresInSeconds": True},
        {"maxUses": 0},
        {"maxUses": 1_000_001},
        {"maxUses": "1"},
        {"requiresApproval": 1},
        {"metadata": []},
    ],
)
async def test_invites_that_are_refused(
    person: People, database: Database, given: dict[str, Any]
) -> None:
    group = await person("alice").group()
    answer = await person("alice").post(f"/conversations/{group}/invites", given)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    assert await database["invites"].count_documents({}) == 0


async def test_an_open_link_lets_in(person: People, database: Database) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group(name="Tea", metadata={"a": 1})
    link = await invite(alice, group, maxUses=1)
    preview = await bob.get(f"/invites/{link['code']}")
    assert preview.json["invite"] == {
        "conversationId": group,
        "name": "Tea",
        "participantCount": 1,
        "requiresApproval": False,
        "invitedBy": "alice",
        "alreadyParticipant": False,
    }
    answer = await accept(bob, link)
    assert answer.status == 200
    assert (answer.json["status"], answer.json["joinRequest"]) == ("joined", None)
    joined = answer.json["conversation"]
    assert [participant["userId"] for participant in joined["participants"]] == ["alice", "bob"]
    assert joined["participants"][1]["role"] == "member"
    assert (await accept(bob, link)).json == answer.json
    assert (await accept(alice, link)).json["status"] == "joined"
    shown = (await bob.get(f"/invites/{link['code']}")).json["invite"]
    assert (shown["alreadyParticipant"], shown["participantCount"]) == (True, 2)
    eve = person("eve")
    for answer in (await accept(eve, link), await eve.get(f"/invites/{link['code']}")):
        assert (answer.status, answer.code) == (410, "INVITE_EXPIRED")
    (spent,) = (await alice.get(f"/conversations/{group}/invites")).json["invites"]
    assert spent["uses"] == 1


async def test_a_link_expires(person: People, database: Database) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("carol")
    link = await invite(alice, group, expiresInSeconds=60)
    past = {"$set": {"expiresAt": utc_now() - timedelta(seconds=1)}}
    await database["invites"].update_one({"_id": link["code"]}, past)
    for answer in (await bob.get(f"/invites/{link['code']}"), await accept(bob, link)):
        assert (answer.status, answer.code) == (410, "INVITE_EXPIRED")
    assert (await person("carol").get(f"/invites/{link['code']}")).status == 200
    assert (await accept(person("carol"), link)).json["status"] == "joined"
    assert len((await alice.get(f"/conversations/{group}/invites")).json["invites"]) == 1


async def test_a_revoked_link_never_was(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("carol")
    link = await invite(alice, group)
    path = f"/conversations/{group}/invites/{link['code']}"
    assert (await person("carol").call("DELETE", path)).code == "NOT_CONVERSATION_ADMIN"
    other = await bob.group()
    elsewhere = f"/conversations/{other}/invites/{link['code']}"
    assert (await bob.call("DELETE", elsewhere)).json == {"ok": True}
    assert (await bob.get(f"/invites/{link['code']}")).status == 200
    for _ in range(2):
        assert (await alice.call("DELETE", path)).json == {"ok": True}
    assert (await alice.call("DELETE", f"/conversations/{group}/invites/{'x' * 300}")).status == 200
    for answer in (await bob.get(f"/invites/{link['code']}"), await accept(bob, link)):
        assert (answer.status, answer.code) == (404, "INVITE_NOT_FOUND")
    assert (await bob.get("/invites/" + "x" * 300)).code == "INVITE_NOT_FOUND"


async def test_an_approval_link_asks(person: People) -> None:
    alice, bob, eve = person("alice"), person("bob"), person("eve")
    group = await alice.group()
    link = await invite(alice, group, requiresApproval=True, maxUses=1)
    answer = await accept(bob, link, message="  let me in ")
    asked = answer.json["joinRequest"]
    assert answer.json == {"status": "pending", "conversation": None, "joinRequest": asked}
    assert asked == {
        "id": asked["id"],
        "conversationId": group,
        "userId": "bob",
        "status": "pending",
        "message": "let me in",
        "inviteCode": link["code"],
        "createdAt": asked["createdAt"],
        "resolvedAt": None,
        "resolvedBy": None,
        "metadata": {},
    }
    assert (await accept(bob, link, message="again")).json == answer.json
    assert (await accept(eve, link)).code == "INVITE_EXPIRED"
    assert (await bob.get(f"/conversations/{group}")).code == "FORBIDDEN_READ"
    body = {"userId": "bob", "decision": "approve"}
    await alice.call("PATCH", f"/conversations/{group}/join-requests", json=body)
    assert (await accept(bob, link)).json["status"] == "joined"


async def test_an_open_link_closes_a_request(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group(visibility="public")
    await bob.post(f"/conversations/{group}/join-requests")
    link = await invite(alice, group)
    assert (await accept(bob, link)).json["status"] == "joined"
    path = f"/conversations/{group}/join-requests?status=approved"
    (closed,) = (await alice.get(path)).json["joinRequests"]
    assert (closed["userId"], closed["resolvedBy"]) == ("bob", "alice")


async def test_a_full_group_burns_no_use(person: People) -> None:
    alice = person("alice")
    group = await alice.group(*(f"user {number}" for number in range(255)))
    link = await invite(alice, group, maxUses=5)
    answer = await accept(person("eve"), link)
    assert (answer.status, answer.code) == (422, "GROUP_LIMIT_EXCEEDED")
    (found,) = (await alice.get(f"/conversations/{group}/invites")).json["invites"]
    assert found["uses"] == 0


async def test_a_group_has_so_many_invites(person: People) -> None:
    alice = person("alice")
    group = await alice.group()
    links = [await invite(alice, group) for _ in range(50)]
    answer = await alice.post(f"/conversations/{group}/invites")
    assert (answer.status, answer.code) == (422, "INVITE_LIMIT_EXCEEDED")
    await alice.call("DELETE", f"/conversations/{group}/invites/{links[0]['code']}")
    await invite(alice, group)


async def test_who_may_invite(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    for who, where, status, code in (
        (bob, group, 403, "NOT_CONVERSATION_ADMIN"),
        (alice, direct, 409, "NOT_GROUP_CONVERSATION"),
        (alice, "none", 404, "CONVERSATION_NOT_FOUND"),
    ):
        path = f"/conversations/{where}/invites"
        for answer in (
            await who.post(path, {"maxUses": 0}),
            await who.get(path),
            await who.call("DELETE", f"{path}/x"),
        ):
            assert (answer.status, answer.code) == (status, code)


async def test_the_host_says_who_may_invite(serve: MakePeople) -> None:
    def can_invite(context: PermissionContext) -> bool:
        return context.user_id in context.conversation.roles

    person = await serve(Hooks(can_invite=can_invite))
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    link = await invite(bob, group)
    assert (await bob.get(f"/conversations/{group}/invites")).code == "NOT_CONVERSATION_ADMIN"
    assert (await accept(person("carol"), link)).json["status"] == "joined"


async def test_an_installation_without_invites(serve: MakePeople) -> None:
    person = await serve(disabled_capabilities={Capability.INVITES})
    alice = person("alice")
    for method, path, body in (
        ("POST", "/conversations/none/invites", None),
        ("GET", "/conversations/none/invites", None),
        ("DELETE", "/conversations/none/invites/x", None),
        ("GET", "/invites/x", None),
        ("POST", "/invites/x/accept", None),
        ("POST", "/conversations/none/join-requests", None),
        ("GET", "/conversations/none/join-requests", None),
        ("PATCH", "/conversations/none/join-requests", {"userId": "b", "decision": "deny"}),
    ):
        answer = await alice.call(method, path, **({"json": body} if body else {}))
        assert (answer.status, answer.code) == (501, "INVITES_UNSUPPORTED"), path
    assert (await alice.get("/conversations/x/join-requests?status=x")).code == "INVALID_INPUT"


async def test_the_server_api_invites(chat: Chat) -> None:
    group = await chat.api.create_group_conversation("alice")
    link = await chat.api.create_invite("alice", group.id, max_uses=1)
    preview = await chat.api.get_invite_preview("bob", link.code)
    assert preview.conversation_id == group.id
    joined = await chat.api.accept_invite("bob", link.code)
    assert joined.conversation is not None
    assert list(joined.conversation.roles) == ["alice", "bob"]
    with pytest.raises(InviteExpired):
        await chat.api.accept_invite("eve", link.code)
    await chat.api.revoke_invite("alice", link.code)
    await chat.api.revoke_invite("alice", "unknown")
    assert await chat.api.list_invites("alice", group.id) == ()
