"""Groups: making them, who may change what, what changes nothing, and the last admin."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest

from chat_aio import Chat, Hooks
from chat_aio.actions import groups
from chat_aio.capabilities import Capability
from chat_aio.errors import ChannelsUnsupported, NotConversationAdmin
from chat_aio.hooks import PermissionContext
from chat_aio.store.conversations import new_participant
from chat_aio.store.documents import ParticipantDocument
from tests.conftest import Database, MakePeople
from tests.support.people import Answer, Person

People = Callable[[str], Person]


def people_in(answer: Answer) -> dict[str, str]:
    """Who is in the conversation of an answer, with their roles, in order."""
    assert answer.status == 200, answer
    return {
        participant["userId"]: participant["role"]
        for participant in answer.json["conversation"]["participants"]
    }


async def patch(who: Person, group: str, **given: Any) -> Answer:
    return await who.call("PATCH", f"/conversations/{group}", json=given)


async def add(who: Person, group: str, *user_ids: Any) -> Answer:
    return await who.post(f"/conversations/{group}/participants", {"userIds": user_ids})


async def remove(who: Person, group: str, user_id: Any) -> Answer:
    body = {"userId": user_id}
    return await who.call("DELETE", f"/conversations/{group}/participants", json=body)


async def set_role(who: Person, group: str, user_id: Any, role: Any) -> Answer:
    body = {"userId": user_id, "role": role}
    return await who.call("PATCH", f"/conversations/{group}/participants", json=body)


async def test_a_group_has_its_creator_as_admin(person: People) -> None:
    answer = await person("zoe").post(
        "/conversations/group",
        {"name": "  Tea ", "userIds": ["bob", "zoe", "bob", "al"], "metadata": {"$ref": "x"}},
    )
    conversation = answer.json["conversation"]
    assert answer.status == 201
    assert [
        (participant["userId"], participant["role"]) for participant in conversation["participants"]
    ] == [
        ("al", "member"),
        ("bob", "member"),
        ("zoe", "admin"),
    ]
    assert (conversation["type"], conversation["pairKey"]) == ("group", None)
    assert (conversation["name"], conversation["metadata"]) == ("Tea", {"$ref": "x"})
    assert conversation["unreadCount"] == 0


async def test_a_group_may_be_made_of_nothing(person: People) -> None:
    ids = set()
    requests: list[dict[str, Any]] = [
        {},
        {"json": {}},
        {"data": b""},
        {"json": {"name": None, "userIds": None}},
    ]
    for request in requests:
        answer = await person("alice").call("POST", "/conversations/group", **request)
        assert answer.status == 201
        conversation = answer.json["conversation"]
        assert (conversation["name"], len(conversation["participants"])) == (None, 1)
        ids.add(conversation["id"])
    assert len(ids) == 4


async def test_a_group_holds_256(person: People, database: Database) -> None:
    full = [f"u{number}" for number in range(255)]
    answer = await person("alice").post("/conversations/group", {"userIds": [*full, "alice"]})
    assert len(answer.json["conversation"]["participants"]) == 256
    answer = await person("alice").post("/conversations/group", {"userIds": [*full, "one more"]})
    assert (answer.status, answer.code) == (422, "GROUP_LIMIT_EXCEEDED")
    for users in (["bob"] * 4_097, [None] * 100_000):
        answer = await person("alice").post("/conversations/group", {"userIds": users})
        assert (answer.status, answer.code) == (422, "GROUP_LIMIT_EXCEEDED")
    assert await database["conversations"].count_documents({}) == 1


async def test_only_different_people_count(person: People) -> None:
    """Duplicates, the creator and participants are dropped before 256 are counted."""
    alice = person("alice")
    others = [f"u{number}" for number in range(255)]
    repeated = [*others, *others[:50], "alice"]
    assert len(repeated) == 306
    answer = await alice.post("/conversations/group", {"userIds": repeated})
    assert (answer.status, len(answer.json["conversation"]["participants"])) == (201, 256)

    group = await alice.group(*others[:10])
    answer = await add(alice, group, *repeated, *["alice"] * 3_000)
    assert (answer.status, len(people_in(answer))) == (200, 256)
    answer = await add(alice, group, *repeated, "one more")
    assert (answer.status, answer.code) == (422, "GROUP_LIMIT_EXCEEDED")


async def test_a_group_can_be_a_channel(serve: MakePeople) -> None:
    person = await serve()
    given = {"visibility": "public", "joinPolicy": "open"}
    answer = await person("alice").post("/conversations/group", given)
    assert given.items() <= answer.json["conversation"].items()


async def test_no_channels_without_the_capability(serve: MakePeople) -> None:
    person = await serve(disabled_capabilities={Capability.CHANNELS})
    for given in ({"visibility": "public"}, {"joinPolicy": "open"}):
        answer = await person("alice").post("/conversations/group", given)
        assert (answer.status, answer.code) == (501, ChannelsUnsupported.code)
    defaults = {"visibility": "private", "joinPolicy": "approval"}
    assert (await person("alice").post("/conversations/group", defaults)).status == 201
    wrong = await person("alice").post("/conversations/group", {"visibility": "x"})
    assert wrong.status == 400


async def test_a_group_is_renamed_and_published(person: People) -> None:
    alice = person("alice")
    group = await alice.group("bob", name="Tea", metadata={"a": 1})
    before = (await alice.get(f"/conversations/{group}")).json["conversation"]
    answer = await patch(alice, group, name=" Coffee ", visibility="public", joinPolicy="open")
    assert answer.json["conversation"] == {
        **before,
        "name": "Coffee",
        "visibility": "public",
        "joinPolicy": "open",
    }
    answer = await patch(alice, group, name=None)
    assert answer.json["conversation"]["name"] is None
    assert answer.json["conversation"]["visibility"] == "public"
    answer = await patch(alice, group, visibility="private", joinPolicy=None)
    found = answer.json["conversation"]
    assert (found["visibility"], found["joinPolicy"], found["name"]) == ("private", "open", None)
    listed = (await person("bob").get("/conversations")).json["conversations"]
    assert [{**conversation, "unreadCount": 0} for conversation in listed] == [
        {**found, "unreadCount": 0}
    ]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"visibility": None},
        {"name": ""},
        {"name": " "},
        {"name": "x" * 201},
        {"name": 7},
        {"visibility": "secret"},
        {"joinPolicy": True},
    ],
)
async def test_changes_that_are_refused(person: People, given: dict[str, Any]) -> None:
    group = await person("alice").group()
    answer = await patch(person("alice"), group, **given)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")


async def test_adding_members(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    assert people_in(await set_role(alice, group, "bob", "admin")) == {
        "alice": "admin",
        "bob": "admin",
    }
    message = await alice.send(group, "hi")
    await bob.read(group, message["id"])
    added = await add(bob, group, "carol", "bob", "carol", "alice", "dave")
    assert people_in(added) == {
        "alice": "admin",
        "bob": "admin",
        "carol": "member",
        "dave": "member",
    }
    reader = added.json["conversation"]["participants"][1]
    assert reader["lastReadMessageId"] == message["id"]
    assert people_in(await add(alice, group)) == people_in(added)
    assert await person("carol").unread(group) == 1


async def test_removing_and_leaving(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob", "carol", "dave")
    assert list(people_in(await remove(alice, group, "carol"))) == ["alice", "bob", "dave"]
    assert list(people_in(await remove(alice, group, "carol"))) == ["alice", "bob", "dave"]
    assert list(people_in(await remove(bob, group, "bob"))) == ["alice", "dave"]
    again = await remove(bob, group, "bob")
    assert (again.status, again.code) == (403, "NOT_CONVERSATION_ADMIN")
    assert (await bob.get(f"/conversations/{group}")).code == "FORBIDDEN_READ"
    message = await alice.send(group, "hi")
    await person("dave").read(group, message["id"])
    await remove(alice, group, "dave")
    rejoined = (await add(alice, group, "dave")).json["conversation"]["participants"][1]
    assert rejoined["lastReadMessageId"] is None
    assert rejoined["joinedAt"] > message["createdAt"]


async def test_a_group_keeps_an_admin(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, alone = await alice.group("bob"), await alice.group()
    for answer in (
        await remove(alice, group, "alice"),
        await set_role(alice, group, "alice", "member"),
        await remove(alice, alone, "alice"),
    ):
        assert (answer.status, answer.code) == (409, "LAST_ADMIN_REMAINING")
    await set_role(alice, group, "bob", "admin")
    assert people_in(await set_role(alice, group, "alice", "member"))["alice"] == "member"
    assert people_in(await remove(alice, group, "alice")) == {"bob": "admin"}
    assert (await remove(bob, group, "bob")).code == "LAST_ADMIN_REMAINING"


async def test_who_may_change_a_group(person: People) -> None:
    alice, bob, eve = person("alice"), person("bob"), person("eve")
    group, direct = await alice.group("bob", "carol"), await alice.direct("bob")
    for who in (bob, eve):
        for answer in (
            await patch(who, group, name="x"),
            await add(who, group, "dave"),
            await remove(who, group, "carol"),
            await set_role(who, group, "bob", "admin"),
        ):
            assert (answer.status, answer.code) == (403, "NOT_CONVERSATION_ADMIN")
    for who in (alice, eve):
        for answer in (
            await patch(who, direct, name="x"),
            await add(who, direct, "dave"),
            await remove(who, direct, "alice"),
            await set_role(who, direct, "bob", "member"),
        ):
            assert (answer.status, answer.code) == (409, "NOT_GROUP_CONVERSATION")
    for answer in (
        await patch(alice, "none", name="x"),
        await add(alice, "none", "dave"),
        await remove(alice, "none", "alice"),
        await set_role(alice, "none", "bob", "member"),
    ):
        assert (answer.status, answer.code) == (404, "CONVERSATION_NOT_FOUND")
    found = (await alice.get(f"/conversations/{group}")).json["conversation"]
    assert [participant["userId"] for participant in found["participants"]] == [
        "alice",
        "bob",
        "carol",
    ]


@pytest.mark.parametrize("value", [None, "", " ", 7, [["bob"]], {"$ne": ""}, "x" * 257, "a\0"])
async def test_ids_that_are_refused(person: People, value: Any) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    for answer in (
        await add(alice, group, value),
        await alice.post(f"/conversations/{group}/participants", {"userIds": value}),
        await remove(alice, group, value),
        await set_role(alice, group, value, "admin"),
        await set_role(alice, group, "bob", value),
        await set_role(alice, group, "bob", "owner"),
        await set_role(alice, group, "eve", "admin"),
    ):
        assert (answer.status, answer.code) == (400, "INVALID_INPUT")


async def test_a_full_group_takes_nobody(person: People) -> None:
    alice = person("alice")
    group = await alice.group(*(f"user {number}" for number in range(253)))
    answer = await add(alice, group, "a", "b", "c")
    assert (answer.status, answer.code) == (422, "GROUP_LIMIT_EXCEEDED")
    assert len(people_in(await add(alice, group, "a", "b", "user 7"))) == 256
    assert (await add(alice, group, "c")).code == "GROUP_LIMIT_EXCEEDED"


async def test_the_host_knows_who_can_be_added(serve: MakePeople) -> None:
    asked: list[str] = []

    async def exists(user_id: str) -> bool:
        asked.append(user_id)
        return user_id != "nobody"

    person = await serve(Hooks(user_exists=exists))
    alice = person("alice")
    group = await alice.group()
    answer = await add(alice, group, "bob", "nobody", "bob", "alice")
    assert (answer.status, answer.code) == (404, "USER_NOT_FOUND")
    assert sorted(asked) == ["bob", "nobody"]
    assert (await add(person("eve"), group, "nobody")).code == "NOT_CONVERSATION_ADMIN"
    many = await add(alice, group, *(f"user {number}" for number in range(257)))
    assert (many.code, len(asked)) == ("GROUP_LIMIT_EXCEEDED", 2)
    assert people_in(await add(alice, group, "bob")) == {"alice": "admin", "bob": "member"}


async def test_the_host_is_asked_only_about_who_is_not_in(serve: MakePeople) -> None:
    asked: list[str] = []
    gone: set[str] = set()

    async def exists(user_id: str) -> bool:
        asked.append(user_id)
        return user_id not in gone

    person = await serve(Hooks(user_exists=exists))
    alice = person("alice")
    group = await alice.group("bob")
    asked.clear()
    gone.add("bob")  # Whoever is in may have left the host's own users since.
    answer = await add(alice, group, "alice", "bob", "carol", "bob")
    assert people_in(answer) == {"alice": "admin", "bob": "member", "carol": "member"}
    assert asked == ["carol"]


async def test_who_leaves_while_being_added_is_asked_about(serve: MakePeople) -> None:
    """Bob was in when it was decided whom to ask about, and is not when he would be added."""
    asked: list[str] = []
    gone: set[str] = set()

    async def exists(user_id: str) -> bool:
        asked.append(user_id)
        if user_id == "carol" and not gone:
            gone.add("bob")
            await remove(person("bob"), group, "bob")
        return user_id not in gone

    person = await serve(Hooks(user_exists=exists))
    alice = person("alice")
    group = await alice.group("bob")
    asked.clear()
    answer = await add(alice, group, "bob", "carol")
    assert (answer.status, answer.code) == (404, "USER_NOT_FOUND")
    assert asked[0] == "carol"
    assert "bob" in asked
    listed = (await alice.get(f"/conversations/{group}")).json["conversation"]
    assert [participant["userId"] for participant in listed["participants"]] == ["alice"]


async def test_the_host_may_have_its_own_rule(serve: MakePeople) -> None:
    asked: list[PermissionContext] = []

    def can_manage(context: PermissionContext) -> bool:
        asked.append(context)
        return context.user_id == "warden"

    person = await serve(Hooks(can_manage=can_manage))
    alice, warden = person("alice"), person("warden")
    group = await alice.group("bob")
    assert (await patch(alice, group, name="x")).code == "NOT_CONVERSATION_ADMIN"
    assert (await patch(warden, group, name="x")).json["conversation"]["name"] == "x"
    assert (await remove(warden, group, "alice")).code == "LAST_ADMIN_REMAINING"
    assert list(people_in(await remove(warden, group, "bob"))) == ["alice"]
    assert (asked[0].user_id, asked[0].conversation.id, asked[0].message) == ("alice", group, None)


async def test_an_installation_without_channels(serve: MakePeople) -> None:
    person = await serve(disabled_capabilities={Capability.CHANNELS})
    alice = person("alice")
    group = await alice.group()
    for given in ({"visibility": "public"}, {"joinPolicy": "open"}):
        answer = await patch(alice, group, **given)
        assert (answer.status, answer.code) == (501, "CHANNELS_UNSUPPORTED")
        assert (await patch(alice, "none", **given)).code == "CHANNELS_UNSUPPORTED"
    answer = await patch(alice, group, visibility="private", joinPolicy="approval", name="x")
    assert answer.status == 200


async def test_the_server_api_changes_groups(chat: Chat) -> None:
    group = await chat.api.create_group_conversation("alice", name="Tea")
    changed = await chat.api.update_conversation("alice", group.id, visibility="public")
    assert (changed.name, changed.visibility) == ("Tea", "public")
    assert (await chat.api.update_conversation("alice", group.id, name=None)).name is None
    grown = await chat.api.add_participants("alice", group.id, ["bob"])
    assert grown.roles == {"alice": "admin", "bob": "member"}
    raised = await chat.api.set_participant_role("alice", group.id, "bob", "admin")
    assert raised.roles["bob"] == "admin"
    left = await chat.api.remove_participant("alice", group.id, "alice")
    assert left.roles == {"bob": "admin"}
    with pytest.raises(NotConversationAdmin):
        await chat.api.remove_participant("alice", group.id, "bob")


def test_who_joined_first_becomes_the_admin_when_none_stays() -> None:
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)

    def inside(user_id: str, role: Literal["admin", "member"], minute: int) -> ParticipantDocument:
        at = noon + timedelta(minutes=minute)
        return new_participant(user_id, role=role, at=at)

    group = [inside("ada", "admin", 0), inside("cy", "member", 2), inside("bob", "member", 1)]
    roles = {
        participant["userId"]: participant["role"]
        for participant in groups.without_erased(group, "ada")
    }
    assert roles == {"cy": "member", "bob": "admin"}
    assert groups.without_erased(group, "cy") == [group[0], group[2]]
    assert groups.without_erased(group[:1], "ada") == []
    tied = [inside("ada", "admin", 0), inside("cy", "member", 1), inside("bob", "member", 1)]
    assert groups.without_erased(tied, "ada")[1]["role"] == "admin"
