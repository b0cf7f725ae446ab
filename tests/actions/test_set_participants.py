"""All participants of a group set in one step."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from chat_aio import Chat, Hooks
from chat_aio.errors import (
    ChatError,
    ConversationBanned,
    ConversationNotFound,
    DirectInteractionBlocked,
    GroupLimitExceeded,
    NotConversationAdmin,
    NotGroupConversation,
    UserNotFound,
)
from tests.conftest import MakeChat, MakePeople
from tests.support.people import Answer, Person
from tests.support.verify import verify_action

People = Callable[[str], Person]

KINDS = ("participant.removed", "participant.added", "conversation.updated")


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(conversation_keys=True)


@pytest.fixture
async def keyed(make_chat: MakeChat) -> Chat:
    return await make_chat(conversation_keys=True)


async def put(who: Person, group: str, **participants: str) -> Answer:
    path = f"/conversations/{group}/participants"
    return await who.call("PUT", path, json={"participants": participants})


def roles_in(answer: Answer) -> dict[str, str]:
    shown = answer.json["conversation"]["participants"]
    return {participant["userId"]: participant["role"] for participant in shown}


WANTED = {"alice": "admin", "bob": "admin", "dan": "member", "eve": "admin"}
"""Of a group of alice, bob and carol: carol leaves, dan and eve join, bob becomes an admin."""


async def test_one_step_is_one_event_of_each_kind(person: People) -> None:
    alice = person("alice")
    group = await alice.group("bob", "carol")

    async def change() -> None:
        answer = await put(alice, group, **WANTED)
        assert (answer.status, roles_in(answer)) == (200, WANTED)
        for _ in range(2):
            assert (await put(alice, group, **WANTED)).status == 200

    events = await verify_action(person("bob"), change, *KINDS)
    assert [set(event.data["affectedUserIds"]) for event in events] == [
        {"carol"},
        {"dan", "eve"},
        {"bob"},
    ]
    assert {event.data["actorId"] for event in events} == {"alice"}
    for event in events:
        shown = event.data["conversation"]["participants"]
        assert {one["userId"]: one["role"] for one in shown} == WANTED


@pytest.mark.parametrize(
    ("viewer", "kinds"),
    [("carol", KINDS[:1]), ("dan", KINDS[1:]), ("alice", KINDS), ("stranger", ())],
)
async def test_what_each_of_them_is_told(
    person: People, viewer: str, kinds: tuple[str, ...]
) -> None:
    alice = person("alice")
    group = await alice.group("bob", "carol")
    direct = await person(viewer).direct("zoe")

    async def change() -> None:
        await put(alice, group, **WANTED)
        await alice.send(group, "to those inside")
        await person("zoe").send(direct, "to the viewer")

    inside = ["message.created"] if viewer in WANTED else []
    await verify_action(person(viewer), change, *kinds, *inside, "message.created")


@pytest.mark.parametrize(
    ("wanted", "kind", "affected"),
    [
        ({"alice": "admin", "bob": "member"}, KINDS[0], {"carol"}),
        (
            {"alice": "admin", "bob": "member", "carol": "member", "dan": "member"},
            KINDS[1],
            {"dan"},
        ),
        ({"alice": "admin", "bob": "admin", "carol": "member"}, KINDS[2], {"bob"}),
    ],
)
async def test_a_part_of_it_is_that_event_alone(
    person: People, wanted: dict[str, str], kind: str, affected: set[str]
) -> None:
    alice = person("alice")
    group = await alice.group("bob", "carol")

    async def change() -> None:
        assert roles_in(await put(alice, group, **wanted)) == wanted

    (event,) = await verify_action(alice, change, kind)
    assert set(event.data["affectedUserIds"]) == affected


async def test_those_who_stay_keep_their_place(keyed: Chat) -> None:
    group = await keyed.api.create_group_conversation("alice", user_ids=["bob", "carol"])
    first = await keyed.api.send_message("alice", group.id, "one")
    await keyed.api.send_message("alice", group.id, "two")
    await keyed.api.mark_read("bob", group.id, first.id)
    after = await keyed.conversations.set_participants(
        "alice", group.id, {"dan": "member", "bob": "admin", "alice": "member"}
    )
    assert [participant.user_id for participant in after.participants] == ["alice", "bob", "dan"]
    before = {participant.user_id: participant for participant in group.participants}
    stays = {participant.user_id: participant for participant in after.participants}
    assert stays["bob"].joined_at == before["bob"].joined_at
    assert stays["bob"].last_read_message_id == first.id
    assert (await keyed.api.get_conversation("bob", group.id)).unread_count == 1
    assert (await keyed.api.get_conversation("dan", group.id)).unread_count == 2


async def test_an_admin_may_leave_by_it(keyed: Chat) -> None:
    group = await keyed.api.create_group_conversation("alice", user_ids=["bob"])
    after = await keyed.conversations.set_participants("alice", group.id, {"bob": "admin"})
    assert (after.roles, after.unread_count) == ({"bob": "admin"}, 0)
    with pytest.raises(NotConversationAdmin):
        await keyed.conversations.set_participants("alice", group.id, {"alice": "admin"})


async def test_who_may_and_where(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    assert (await put(bob, group, bob="admin")).code == "NOT_CONVERSATION_ADMIN"
    assert (await put(alice, direct, alice="admin")).code == "NOT_GROUP_CONVERSATION"
    assert (await put(alice, "none", alice="admin")).code == "CONVERSATION_NOT_FOUND"
    assert (await put(alice, group, alice="member")).code == "LAST_ADMIN_REMAINING"
    assert (await put(alice, group, alice="owner")).code == "INVALID_INPUT"
    path = f"/conversations/{group}/participants"
    assert (await alice.call("PUT", path, json={})).code == "INVALID_INPUT"


async def test_only_new_ones_are_looked_up_and_checked(make_chat: MakeChat) -> None:
    asked: list[str] = []

    def exists(user_id: str) -> bool:
        asked.append(user_id)
        return user_id != "nobody"

    chat = await make_chat(
        Hooks(user_exists=exists),
        conversation_keys=True,
        room_controls=True,
        hide_blocked_users=True,
    )
    group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
    await chat.rooms.ban_from_conversation("alice", group.id, "mallory")
    await chat.api.moderation.block_user("bob", target_user_id="alice")
    await chat.api.moderation.block_user("eve", target_user_id="alice")
    refused: list[tuple[str, type[ChatError]]] = [
        ("nobody", UserNotFound),
        ("mallory", ConversationBanned),
        ("eve", DirectInteractionBlocked),
    ]
    stays: Any = {"alice": "admin", "bob": "admin"}
    for user_id, error in refused:
        with pytest.raises(error):
            await chat.conversations.set_participants(
                "alice", group.id, {**stays, user_id: "member"}
            )
    assert (await chat.api.get_conversation("bob", group.id)).roles["bob"] == "member"
    asked.clear()
    await chat.conversations.set_participants("alice", group.id, {**stays, "carol": "member"})
    assert asked == ["carol"]


async def test_a_participant_who_leaves_meanwhile_is_looked_up_as_well(
    make_chat: MakeChat,
) -> None:
    """Participants are not looked up: bob leaves while carol is, and his account is gone."""
    gone: list[str] = []

    async def exists(user_id: str) -> bool:
        if user_id == "carol" and not gone:
            gone.append("bob")
            await chat.api.remove_participant("bob", group.id, "bob")
        return user_id not in gone

    chat = await make_chat(Hooks(user_exists=exists))
    group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
    wanted: Any = {"alice": "admin", "bob": "member", "carol": "member"}
    with pytest.raises(UserNotFound, match="bob"):
        await chat.conversations.set_participants("alice", group.id, wanted)
    assert (await chat.api.get_conversation("alice", group.id)).roles == {"alice": "admin"}


async def test_a_pending_request_is_approved(keyed: Chat) -> None:
    group = await keyed.api.create_group_conversation("alice")
    await keyed.api.request_to_join("bob", group.id)
    await keyed.conversations.set_participants(
        "alice", group.id, {"alice": "admin", "bob": "member"}
    )
    page = await keyed.api.list_join_requests("alice", group.id, status="approved")
    assert [
        (join_request.status, join_request.resolved_by) for join_request in page.join_requests
    ] == [("approved", "alice")]


async def test_a_direct_conversation_is_none_of_it(keyed: Chat) -> None:
    direct = await keyed.api.get_or_create_conversation("alice", "bob")
    for conversation_id, error in ((direct.id, NotGroupConversation), ("x", ConversationNotFound)):
        with pytest.raises(error):
            await keyed.conversations.set_participants("alice", conversation_id, {"alice": "admin"})


async def test_sets_and_other_changes_at_once_leave_a_sound_group(make_chat: MakeChat) -> None:
    """Each set is the whole one: the last to commit wins, and nothing is mixed."""
    chats = [await make_chat(conversation_keys=True) for _ in range(2)]
    group = await chats[0].api.create_group_conversation("alice", user_ids=["bob"])
    sets: list[Any] = [
        {"alice": "admin", **{f"u{number}-{n}": "member" for n in range(250)}}
        for number in range(4)
    ]

    async def put_all(number: int) -> None:
        await chats[number % 2].conversations.set_participants("alice", group.id, sets[number % 4])

    async def add(number: int) -> None:
        more = [f"more{number}-{n}" for n in range(4)]
        with suppress(GroupLimitExceeded):
            await chats[number % 2].api.add_participants("alice", group.id, more)

    await asyncio.gather(*(put_all(n) for n in range(16)), *(add(n) for n in range(16)))
    roles = (await chats[0].api.get_conversation("alice", group.id)).roles
    assert len(roles) <= 256
    kept = [given for given in sets if given.items() <= roles.items()]
    assert len(kept) == 1
    assert {name for name in roles if not name.startswith("more")} == set(kept[0])


async def test_two_admins_who_set_each_other_out(make_chat: MakeChat) -> None:
    chats = [await make_chat(conversation_keys=True) for _ in range(2)]
    for _ in range(8):
        group = await chats[0].api.create_group_conversation("alice", user_ids=["bob"])
        await chats[0].api.set_participant_role("alice", group.id, "bob", "admin")
        answers = await asyncio.gather(
            chats[0].conversations.set_participants("alice", group.id, {"alice": "admin"}),
            chats[1].conversations.set_participants("bob", group.id, {"bob": "admin"}),
            return_exceptions=True,
        )
        refused = [answer for answer in answers if isinstance(answer, ChatError)]
        assert [error.code for error in refused] == ["NOT_CONVERSATION_ADMIN"]


async def test_read_marks_at_the_same_time_are_not_lost(make_chat: MakeChat) -> None:
    chats = [await make_chat(conversation_keys=True) for _ in range(2)]
    readers = [f"r{n}" for n in range(24)]
    group = await chats[0].api.create_group_conversation("alice", user_ids=readers)
    message = await chats[0].api.send_message("alice", group.id, "read this")
    everyone: Any = {"alice": "admin", **dict.fromkeys(readers, "member")}

    async def change(number: int) -> None:
        wanted = {**everyone, f"new{number}": "member", readers[0]: "admin"}
        await chats[0].conversations.set_participants("alice", group.id, wanted)

    await asyncio.gather(
        *(change(n) for n in range(8)),
        *(chats[1].api.mark_read(name, group.id, message.id) for name in readers),
    )
    after = await chats[0].api.get_conversation("alice", group.id)
    read = {
        participant.user_id
        for participant in after.participants
        if participant.last_read_message_id
    }
    assert read >= set(readers)
