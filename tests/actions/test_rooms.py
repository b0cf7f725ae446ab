"""Room controls: settings of a group, over HTTP and by `chat.rooms`."""

from typing import Any

import pytest

from chat_aio.errors import ConversationFrozen
from tests.conftest import MakeChat, MakePeople
from tests.support.rooms import NO_ADMIN, People, ban, banned, lift, refusal, update
from tests.support.verify import verify_action


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(room_controls=True)


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
    assert {conversation["frozen"] for conversation in listed} == {False}

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
    await rooms.unban_from_conversation("alice", group, "bob")
    assert (await banned(alice, group)).json == {"conversationBans": [], "nextCursor": None}
    shown = await rooms.update_conversation("alice", group, frozen=True, slow_mode_seconds=5)
    answer = await alice.get(f"/conversations/{group}")
    assert shown.model_dump(mode="json", by_alias=True) == answer.json["conversation"]
