"""The host's `can_create`, `can_leave` and `can_delete_message`: what they refuse, and when."""

import asyncio
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest

from chat_aio import ChatError, Hooks
from chat_aio.capabilities import Capability
from chat_aio.hooks import CreateContext, PermissionContext
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.people import PATIENCE, Answer, Person
from tests.support.processes import until

NO_ANSWERS: tuple[Any, ...] = (False, None, 1, "yes")


async def opened(who: Person, other: str, **given: Any) -> Answer:
    return await who.post("/conversations", {"otherUserId": other, **given})


async def grouped(who: Person, **given: Any) -> Answer:
    return await who.post("/conversations/group", given)


async def left(who: Person, group: str) -> Answer:
    body = {"userId": who.user_id}
    return await who.call("DELETE", f"/conversations/{group}/participants", json=body)


async def deleted(who: Person, message_id: str) -> Answer:
    return await who.call("DELETE", f"/messages/{message_id}")


async def test_can_create_gets_the_conversation_that_would_be(serve: MakePeople) -> None:
    asked: list[CreateContext] = []

    async def can_create(context: CreateContext) -> bool:
        asked.append(context)
        context.metadata["order"] = "changed"  # A copy.
        return True

    ann = (await serve(Hooks(can_create=can_create)))("ann")
    direct = await opened(ann, "bob", metadata={"order": 1})
    group = await grouped(ann, userIds=["cat", "ann", "bob", "cat"], metadata={"order": 2})
    empty = await ann.post("/conversations/group")
    assert [asked[0].kind, asked[0].user_ids] == ["direct", ("bob",)]
    assert [asked[1].kind, asked[1].user_ids] == ["group", ("cat", "bob")]
    assert [asked[2].kind, asked[2].user_ids] == ["group", ()]
    assert {context.user_id for context in asked} == {"ann"}
    metadata = [answer.json["conversation"]["metadata"] for answer in (direct, group, empty)]
    assert metadata == [{"order": 1}, {"order": 2}, {}]


async def test_an_existing_direct_conversation_is_found_without_can_create(
    serve: MakePeople,
) -> None:
    asked: list[CreateContext] = []

    def only_once(context: CreateContext) -> bool:
        asked.append(context)
        return len(asked) == 1

    people = await serve(Hooks(can_create=only_once))
    first = await opened(people("ann"), "bob")
    for who, other in (("ann", "bob"), ("bob", "ann")):
        found = await opened(people(who), other)
        assert found.json["conversation"]["id"] == first.json["conversation"]["id"]
    assert len(asked) == 1
    refused = await opened(people("ann"), "cat")
    assert (refused.status, refused.code) == (403, "CREATE_NOT_ALLOWED")


@pytest.mark.parametrize("answer", NO_ANSWERS)
async def test_all_but_true_refuses(serve: MakePeople, database: Database, answer: Any) -> None:
    rule = Hooks(
        can_create=lambda asked: answer if asked.user_id != "ann" else True,
        can_leave=lambda _: answer,
        can_delete_message=lambda _: answer,
    )
    people = await serve(rule)
    ann, bob = people("ann"), people("bob")
    here = await ann.group("bob")
    message = await bob.send(here, "mine")
    for refused, code in (
        (await opened(bob, "cat"), "CREATE_NOT_ALLOWED"),
        (await grouped(bob), "CREATE_NOT_ALLOWED"),
        (await left(bob, here), "LEAVE_NOT_ALLOWED"),
        (await deleted(bob, message["id"]), "DELETE_NOT_ALLOWED"),
    ):
        assert (refused.status, refused.code) == (403, code)
    assert await database["conversations"].count_documents({}) == 1
    shown = (await ann.get(f"/conversations/{here}/messages")).json["messages"]
    assert [message["body"] for message in shown] == ["mine"]


async def test_a_hook_that_raises_is_500_and_nothing_is_written(
    serve: MakePeople, database: Database
) -> None:
    raising = False

    def rule(_: object) -> bool:
        if raising:
            raise ZeroDivisionError
        return True

    people = await serve(Hooks(can_create=rule, can_leave=rule, can_delete_message=rule))
    ann, bob = people("ann"), people("bob")
    here = await ann.group("bob")
    message = await bob.send(here, "mine")
    raising = True
    before = await everything(database)
    for failed in (
        await opened(bob, "cat"),
        await grouped(bob, userIds=["cat"]),
        await left(bob, here),
        await deleted(bob, message["id"]),
    ):
        assert (failed.status, failed.code) == (500, "INTERNAL_ERROR")
    assert await everything(database) == before


async def everything(database: Database) -> list[Any]:
    """The conversations and messages, as they are stored."""
    return [
        row
        for name in ("conversations", "messages")
        async for row in database[name].find().sort("_id")
    ]


async def test_can_create_comes_behind_shape_and_before_what_needs_data(
    serve: MakePeople,
) -> None:
    looked_up: list[str] = []

    def user_exists(user_id: str) -> bool:
        looked_up.append(user_id)
        return False

    ann = (await serve(Hooks(can_create=lambda _: False, user_exists=user_exists)))("ann")
    crowd = [f"u{number}" for number in range(300)]
    for answer, stated in (
        (await opened(ann, ""), (400, "INVALID_INPUT")),
        (await opened(ann, "ann"), (400, "INVALID_INPUT")),
        (await grouped(ann, name=" "), (400, "INVALID_INPUT")),
        (await opened(ann, "ghost"), (403, "CREATE_NOT_ALLOWED")),
        (await grouped(ann, userIds=["ghost"]), (403, "CREATE_NOT_ALLOWED")),
        (await grouped(ann, userIds=crowd), (403, "CREATE_NOT_ALLOWED")),
    ):
        assert (answer.status, answer.code) == stated
    assert looked_up == []


async def test_missing_channels_come_before_can_create(serve: MakePeople) -> None:
    ann = (
        await serve(Hooks(can_create=lambda _: False), disabled_capabilities={Capability.CHANNELS})
    )("ann")
    assert (await grouped(ann, visibility="public")).code == "CHANNELS_UNSUPPORTED"


async def test_can_leave_is_about_participants_of_groups_who_leave(serve: MakePeople) -> None:
    asked: list[PermissionContext] = []

    def can_leave(context: PermissionContext) -> bool:
        asked.append(context)
        return False

    people = await serve(Hooks(can_leave=can_leave))
    ann, bob, stranger = people("ann"), people("bob"), people("stranger")
    here, direct = await ann.group("bob"), await ann.direct("bob")
    assert (await left(stranger, here)).code == "NOT_CONVERSATION_ADMIN"
    assert (await left(ann, direct)).code == "NOT_GROUP_CONVERSATION"
    assert (await left(ann, "nowhere")).code == "CONVERSATION_NOT_FOUND"
    assert asked == []
    # Before the last admin is looked at.
    assert (await left(ann, here)).code == "LEAVE_NOT_ALLOWED"
    assert {(context.user_id, context.conversation.id) for context in asked} == {("ann", here)}
    asked.clear()
    body = {"userId": "bob"}
    removed = await ann.call("DELETE", f"/conversations/{here}/participants", json=body)
    assert (removed.status, asked) == (200, [])
    assert (await left(bob, here)).code == "NOT_CONVERSATION_ADMIN"


async def test_an_old_snapshot_lets_nobody_leave(make_chat: MakeChat) -> None:
    """A snapshot of before the join must let nobody leave without the host's consent."""
    chat = await make_chat(Hooks(can_leave=lambda _: False))
    group = (await chat.api.create_group_conversation("ann")).id
    snapshots = chat._context.snapshots
    old = await snapshots.find_fresh(group)
    await chat.api.add_participants("ann", group, ["bob"])
    with patch.object(snapshots, "find", AsyncMock(return_value=old)):
        with pytest.raises(ChatError) as refused:
            await chat.api.remove_participant("bob", group, "bob")
        assert refused.value.code == "LEAVE_NOT_ALLOWED"
        with pytest.raises(ChatError) as refused:
            await chat.api.remove_participant("stranger", group, "stranger")
        assert refused.value.code == "NOT_CONVERSATION_ADMIN"


async def test_can_delete_message_is_about_live_messages_of_their_senders(
    serve: MakePeople,
) -> None:
    asked: list[PermissionContext] = []

    def kept(context: PermissionContext) -> bool:
        asked.append(context)
        assert context.message is not None
        return context.message.body != "evidence"

    people = await serve(Hooks(can_delete_message=kept))
    ann, bob = people("ann"), people("bob")
    here = await ann.group("bob")
    evidence, slip = await bob.send(here, "evidence"), await bob.send(here, "slip")
    assert (await deleted(ann, evidence["id"])).code == "NOT_MESSAGE_SENDER"
    assert (await deleted(ann, "nothing")).code == "MESSAGE_NOT_FOUND"
    assert asked == []
    assert (await deleted(bob, evidence["id"])).code == "DELETE_NOT_ALLOWED"
    assert (await deleted(bob, slip["id"])).status == 200
    asked.clear()
    assert (await deleted(bob, slip["id"])).status == 200  # The tombstone, without a question.
    assert asked == []
    with pytest.raises(ChatError) as refused:
        await bob.chat.api.delete_message("bob", evidence["id"])
    assert refused.value.code == "DELETE_NOT_ALLOWED"
    body = {"userId": "bob"}
    await ann.call("DELETE", f"/conversations/{here}/participants", json=body)
    assert (await deleted(bob, evidence["id"])).code == "FORBIDDEN_WRITE"


async def test_many_who_open_the_same_pair_are_all_allowed_or_find_it(
    make_chat: MakeChat,
) -> None:
    """Only one of the two may create it; the other finds it, or is refused before it exists."""
    one = await make_chat(Hooks(can_create=lambda asked: asked.user_id == "ann"))
    other = await make_chat(Hooks(can_create=lambda asked: asked.user_id == "ann"))
    calls = [
        chat.api.get_or_create_conversation(*pair)
        for _ in range(16)
        for chat in (one, other)
        for pair in (("ann", "bob"), ("bob", "ann"))
    ]
    done = await asyncio.gather(*calls, return_exceptions=True)
    ids = {outcome.id for outcome in done if not isinstance(outcome, BaseException)}
    codes = {outcome.code for outcome in done if isinstance(outcome, ChatError)}
    assert len(ids) == 1
    assert codes <= {"CREATE_NOT_ALLOWED"}
    assert all(not isinstance(outcome, BaseException) for outcome in done[::2])


async def test_keyed_groups_are_created_with_permission_and_found_without(
    make_chat: MakeChat,
) -> None:
    asked: list[CreateContext] = []

    def only_shop(context: CreateContext) -> bool:
        asked.append(context)
        return context.user_id == "shop"

    chat = await make_chat(Hooks(can_create=only_shop), conversation_keys=True)
    find = chat.conversations.get_or_create_group
    roles: Any = {"ann": "admin", "bob": "member"}
    with pytest.raises(ChatError) as refused:
        await find("ann", key="order:7", participants=roles)
    assert refused.value.code == "CREATE_NOT_ALLOWED"
    made = await find("shop", key="order:7", participants=roles, metadata={"order": 7})
    assert (asked[-1].kind, asked[-1].user_ids) == ("group", ("ann", "bob"))
    assert asked[-1].metadata == {"order": 7}
    asked.clear()
    assert (await find("ann", key="order:7", participants=roles)).id == made.id
    assert asked == []
    with pytest.raises(ChatError) as refused:
        await chat.conversations.create_group("ann", participants={"bob": "member"})
    assert refused.value.code == "CREATE_NOT_ALLOWED"


async def test_nobody_leaves_by_a_set_of_participants(make_chat: MakeChat) -> None:
    chat = await make_chat(
        Hooks(can_leave=lambda _: False, can_manage=lambda _: True), conversation_keys=True
    )
    group = (await chat.api.create_group_conversation("ann", user_ids=["bob"])).id
    with pytest.raises(ChatError) as refused:
        await chat.conversations.set_participants("bob", group, {"ann": "admin"})
    assert refused.value.code == "LEAVE_NOT_ALLOWED"
    # Others are removed, and users who are not in the group leave nothing.
    await chat.conversations.set_participants("ann", group, {"ann": "admin"})
    left = await chat.conversations.set_participants("shop", group, {"bob": "admin"})
    assert [participant.user_id for participant in left.participants] == ["bob"]


async def test_a_storm_of_metadata_while_participants_are_removed(serve: MakePeople) -> None:
    """Each change is by a participant of that moment, and none is lost."""
    people = await serve(Hooks(can_set_metadata=lambda _: True), editable_metadata=True)
    ada, users = people("ada"), [f"u{number}" for number in range(20)]
    made = await ada.post("/conversations/group", {"name": "x", "userIds": users})
    path = f"/conversations/{made.json['conversation']['id']}"
    authors: dict[int, str] = {}

    async def change(user: str) -> None:
        given = {"json": {"metadata": {"by": user}}}
        while (answer := await people(user).call("PATCH", path, **given)).status == 200:
            written = answer.json["conversation"]
            assert written["metadata"] == {"by": user}
            assert user in [participant["userId"] for participant in written["participants"]]
            # Twice where nobody else has changed it meanwhile: nothing is written then.
            assert authors.setdefault(written["metadataVersion"], user) == user
        assert answer.code in ("CONVERSATION_NOT_FOUND", "NOT_CONVERSATION_ADMIN"), answer

    async def remove(user: str) -> None:
        await until(lambda: user in authors.values())
        gone = {"userId": user}
        assert (await ada.call("DELETE", f"{path}/participants", json=gone)).status == 200

    async with ada.tab() as tab:
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as tasks:
            for user in users:
                tasks.create_task(change(user))
                tasks.create_task(remove(user))
        assert sorted(authors) == [*range(2, 2 + len(authors))]
        await ada.call("PATCH", path, json={"name": "the end"})
        frames = await tab.until(
            lambda frame: bool(frame.data) and frame.data["conversation"]["name"] == "the end"
        )
    shown = (frames[-1].data or {})["conversation"]
    assert shown["metadataVersion"] == max(authors)


async def test_metadata_by_a_participant_who_is_removed_meanwhile(serve: MakePeople) -> None:
    """The host's hook takes its time; the right is checked again under the lock."""

    async def remove_and_allow(asked: PermissionContext) -> bool:
        await chat.api.remove_participant("ada", asked.conversation.id, asked.user_id)
        return True

    people = await serve(Hooks(can_set_metadata=remove_and_allow), editable_metadata=True)
    ada, bob = people("ada"), people("bob")
    chat = ada.chat
    made = await ada.post("/conversations/group", {"name": "x", "userIds": ["bob"]})
    path = f"/conversations/{made.json['conversation']['id']}"
    answer = await bob.call("PATCH", path, json={"metadata": {"n": 1}})
    assert answer.code == "NOT_CONVERSATION_ADMIN"
    assert (await ada.get(path)).json["conversation"]["metadata"] == {}
