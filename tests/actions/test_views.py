"""A user's view of their conversations: archive, favourites, hidden, cleared."""

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat, Hooks
from chat_aio.errors import ForbiddenRead, InvalidInput
from chat_aio.schema.events import MessageEvent
from chat_aio.store import views
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.checking import expect_no_violation
from tests.support.people import PATIENCE, Answer, Person, caught_up

People = Callable[[str], Person]
UNSET = {"archived": False, "favourite": False, "hidden": False, "clearedUpToSeq": 0}


@pytest.fixture
async def person(serve: MakePeople) -> People:
    return await serve(inbox=True, extra_events=True, room_controls=True)


async def view(who: Person, conversation_id: str, **given: Any) -> Answer:
    return await who.call("PATCH", f"/conversations/{conversation_id}/view", json=given)


async def viewed(who: Person, conversation_id: str, **given: Any) -> Any:
    answer = await view(who, conversation_id, **given)
    assert answer.status == 200, answer
    return answer.json["conversation"]["view"]


async def listed(who: Person, query: str = "") -> list[str]:
    answer = await who.get(f"/conversations?{query}")
    assert answer.status == 200, answer
    return [conversation["id"] for conversation in answer.json["conversations"]]


async def test_a_view_is_private_and_everywhere_in_the_users_answers(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    opened = await alice.post("/conversations", {"otherUserId": "bob"})
    assert opened.json["conversation"]["view"] == UNSET
    direct = opened.json["conversation"]["id"]
    made = await alice.post("/conversations/group", {"userIds": ["bob"]})
    assert made.json["conversation"]["view"] == UNSET
    expected = {**UNSET, "archived": True, "favourite": True}
    assert await viewed(alice, direct, archived=True, favourite=True) == expected
    for path in (f"/conversations/{direct}", "/conversations"):
        for who, theirs in ((alice, expected), (bob, UNSET)):
            found = (await who.get(path)).json
            (shown,) = (
                conversation
                for conversation in found.get("conversations", [found.get("conversation")])
                if conversation["id"] == direct
            )
            assert shown["view"] == theirs
    assert await viewed(alice, direct, archived=False) == {**expected, "archived": False}


async def test_lists_filter_by_the_view(person: People) -> None:
    alice = person("alice")
    one, two, three = [await alice.group("bob") for _ in range(3)]
    await viewed(alice, one, archived=True, favourite=True)
    await viewed(alice, two, archived=False, favourite=True)
    assert await listed(alice) == [three, two, one]
    assert await listed(alice, "archived=true") == [one]
    assert await listed(alice, "archived=false") == [three, two]
    assert await listed(alice, "favourite=true") == [two, one]
    assert await listed(alice, "favourite=true&archived=false") == [two]
    assert await listed(alice, "favourite=false") == [three]
    assert await listed(person("bob"), "archived=true") == []
    for query in ("archived=yes", "favourite=", "archived="):
        assert (await alice.get(f"/conversations?{query}")).code == "INVALID_INPUT"
    assert (await alice.get("/conversations?key=a")).code == "INVALID_INPUT"


async def test_a_hidden_conversation_returns_with_its_next_message(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group, empty = await alice.group("bob"), await alice.group("bob")
    await bob.send(group, "one")
    assert (await viewed(alice, group, hidden=True))["hidden"] is True
    assert (await viewed(alice, empty, hidden=True))["hidden"] is True
    assert await listed(alice) == []
    assert await listed(bob) == [group, empty]
    assert (await alice.get(f"/conversations/{group}")).json["conversation"]["view"]["hidden"]
    await bob.send(group, "two")
    assert await listed(alice) == [group]
    assert not (await alice.get(f"/conversations/{group}")).json["conversation"]["view"]["hidden"]
    assert (await viewed(alice, empty, hidden=False))["hidden"] is False
    assert await listed(alice) == [group, empty]


async def test_pages_are_filled_around_hidden_ones(person: People) -> None:
    alice = person("alice")
    groups = [await alice.group("bob") for _ in range(6)]
    for group in groups[1:5]:
        await viewed(alice, group, hidden=True)
    first = (await alice.get("/conversations?limit=1")).json
    assert [conversation["id"] for conversation in first["conversations"]] == [groups[5]]
    assert await listed(alice, f"limit=1&cursor={first['nextCursor']}") == [groups[0]]


async def test_nothing_before_a_clear_is_shown_again(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    root = await bob.send(group, "an old word @alice", mentions=["alice"])
    await bob.send(group, "an old reply", threadRootMessageId=root["id"])
    await alice.post(f"/conversations/{group}/threads/{root['id']}/follow")
    assert await viewed(alice, group, clear=True) == {**UNSET, "clearedUpToSeq": 2}
    here = f"/conversations/{group}"
    summary = (await alice.get("/conversations?include=lastMessage,unread")).json
    assert summary["lastMessages"] == {}
    assert summary["unreadSummaries"][group]["firstUnreadSeq"] is None
    assert await alice.unread(group) == 0
    assert await alice.listed(f"{here}/messages") == []
    for path in (
        f"{here}/messages?around={root['id']}",
        f"{here}/messages/{root['id']}",
        f"{here}/threads/{root['id']}/messages",
    ):
        assert (await alice.get(path)).code == "MESSAGE_NOT_FOUND", path
    for path, name in (
        ("/search/messages?q=old", "messages"),
        ("/mentions", "mentions"),
        ("/threads", "threads"),
    ):
        assert (await alice.get(path)).json[name] == [], path
    late = await bob.send(group, "quotes", replyToMessageId=root["id"])
    (shown,) = await alice.listed(f"{here}/messages")
    assert (shown["id"], shown["replyTo"]["deleted"]) == (late["id"], True)
    assert await alice.unread(group) == 1
    assert len(await bob.listed(f"{here}/messages")) == 2
    found = await alice.chat.api.list_messages_after("alice", group, 0)
    assert [message.id for message in found] == [late["id"]]


async def test_open_streams_and_replays_leave_out_what_is_cleared(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    first = await bob.send(group, "one")
    async with alice.tab() as tab:
        await viewed(alice, group, clear=True)
        told = await tab.event("view.updated")
        assert (told["conversationId"], told["unreadCount"]) == (group, 0)
        assert told["view"] == {**UNSET, "clearedUpToSeq": 1}
        await bob.edit(first["id"], "ONE")
        await bob.react(first["id"], "+1")
        second = await bob.send(group, "two", replyToMessageId=first["id"])
        created = (await tab.event("message.created"))["message"]
        assert (created["id"], created["replyTo"]["excerpt"]) == (second["id"], "")
    await viewed(alice, group, clear=True)
    await bob.edit(second["id"], "TWO")
    await bob.send(group, "three")
    await alice.told_all()  # What the feed has not delivered yet comes after the replay.
    async with alice.tab(f"{group}:1") as tab:
        assert await tab.bodies(1) == ["three"]


async def test_what_is_changed_is_named_after_a_replay(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    other = await alice.group("bob")
    await bob.send(other, "a position")
    await alice.told_all()
    await viewed(alice, group, archived=True)
    async with alice.tab(f"{other}:1") as tab:
        changed = await tab.event("stream.changed")
        assert changed["conversations"]["ownMarks"] == [group]


async def test_other_processes_and_tabs_follow(make_chat: MakeChat) -> None:
    one, two = [await make_chat(inbox=True, extra_events=True) for _ in range(2)]
    group = await one.api.create_group_conversation("alice", user_ids=["bob"])
    await one.api.send_message("bob", group.id, "one")
    assert len((await two.api.list_messages("alice", group.id)).messages) == 1
    await caught_up(two)
    async with two.events(user_id="alice") as events:
        changed = await one.inbox.change_view("alice", group.id, clear=True, favourite=True)
        event = await asyncio.wait_for(anext(events), PATIENCE)
        assert event.type == "view.updated"
        assert getattr(event, "view", None) == changed.view
        assert (await two.api.list_messages("alice", group.id)).messages == ()


async def test_of_two_clears_at_once_the_later_one_stays(make_chat: MakeChat) -> None:
    """In storage, and in streams that are open."""
    one, two = [await make_chat(inbox=True, extra_events=True) for _ in range(2)]
    group = await one.api.create_group_conversation("alice", user_ids=["bob"])
    await one.api.send_message("bob", group.id, "one")
    change, is_waiting, goes_on = views.change, asyncio.Event(), asyncio.Event()

    async def held(database: Any, *given: Any, **more: Any) -> bool:
        if database is one._context.database:
            is_waiting.set()
            await asyncio.wait_for(goes_on.wait(), PATIENCE)
        return await change(database, *given, **more)

    await caught_up(two)
    async with two.events(user_id="alice") as events:

        async def next_body() -> str:
            async with asyncio.timeout(PATIENCE):
                async for event in events:
                    if isinstance(event, MessageEvent):
                        return event.message.body
            raise AssertionError

        with patch.object(views, "change", held):
            earlier = asyncio.create_task(one.inbox.change_view("alice", group.id, clear=True))
            await asyncio.wait_for(is_waiting.wait(), PATIENCE)
            second = await one.api.send_message("bob", group.id, "two")
            # It is delivered before it is cleared.
            assert await next_body() == "two"
            later = await two.inbox.change_view("alice", group.id, clear=True)
            goes_on.set()
            for found in (later, await earlier):
                assert found.view is not None
                assert found.view.cleared_up_to_seq == 2
        for chat in (one, two):
            assert (await chat.api.list_messages("alice", group.id)).messages == ()
        await one.api.edit_message("bob", second.id, "TWO")
        await one.api.send_message("bob", group.id, "three")
        assert await next_body() == "three"


async def test_an_id_like_the_name_of_a_field(person: People) -> None:
    alice = person("$alice")
    one, _ = [await alice.group("bob") for _ in range(2)]
    await viewed(alice, one, archived=True)
    assert await listed(alice, "archived=true") == [one]


async def test_a_view_ends_with_the_stay(person: People, database: Database) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    await bob.send(group, "one")
    await viewed(bob, group, archived=True, favourite=True, hidden=True, clear=True)
    here = f"/conversations/{group}/participants"
    assert (await bob.call("DELETE", here, json={"userId": "bob"})).status == 200
    assert (await view(bob, group, archived=False)).code == "FORBIDDEN_READ"
    assert (await alice.post(here, {"userIds": ["bob"]})).status == 200
    assert await viewed(bob, group, archived=False) == UNSET
    assert len(await bob.listed(f"/conversations/{group}/messages")) == 1
    await expect_no_violation(database)


async def test_malformed_views_are_left_out_and_logged(
    person: People, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    alice = person("alice")
    wrong, right = await alice.group("bob"), await alice.group("bob")
    await viewed(alice, right, archived=True)
    await viewed(alice, wrong, archived=True)
    await database.command("collMod", "conversations", validator={})
    # In Python `1` equals `True`: it is not taken for the well-formed one.
    malformed = {"$set": {"participants.$.view": {"archived": 1}}}
    mine = {"_id": wrong, "participants.userId": "alice"}
    await database["conversations"].update_one(mine, malformed)
    found = await views.of_user(alice.chat._context.database, "alice")
    assert found == {right: {"archived": True}}
    assert f"left out 1 malformed rows: ['{wrong}']" in caplog.text


async def test_other_changes_keep_a_view(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    await viewed(bob, group, archived=True, favourite=True)
    here = f"/conversations/{group}/participants"
    assert (await alice.post(here, {"userIds": ["carol"]})).status == 200
    assert (await alice.call("PATCH", here, json={"userId": "bob", "role": "admin"})).status == 200
    sent = await alice.send(group, "one")
    await bob.read(group, sent["id"])
    expected = {**UNSET, "archived": True, "favourite": True}
    assert await viewed(bob, group, hidden=False) == expected


async def test_what_is_refused(person: People) -> None:
    alice = person("alice")
    group = await alice.group("bob")
    for given in ({}, {"clear": False}, {"archived": None}, {"archived": 1}, {"hidden": "true"}):
        assert (await view(alice, group, **given)).code == "INVALID_INPUT", given
    assert (await view(alice, "gone", archived=True)).code == "CONVERSATION_NOT_FOUND"
    assert (await view(person("mallory"), group, archived=True)).code == "FORBIDDEN_READ"


async def test_readers_who_are_not_in_it_have_no_view(make_chat: MakeChat) -> None:
    chat = await make_chat(Hooks(can_read=lambda _: True), inbox=True)
    group = await chat.api.create_group_conversation("alice")
    with pytest.raises(ForbiddenRead):
        await chat.inbox.change_view("watcher", group.id, archived=True)


async def test_without_the_option_nothing_of_it_is_there(make_chat: MakeChat) -> None:
    chat: Chat = await make_chat()
    group = await chat.api.create_group_conversation("alice")
    assert group.view is None
    (found,) = (await chat.api.list_conversations("alice")).conversations
    assert found.view is None
    with pytest.raises(InvalidInput):
        await chat.api.list_conversations("alice", archived=False)
    with pytest.raises(InvalidInput):
        await chat.api.list_conversations("alice", favourite=True)


async def test_a_view_that_another_program_has_spoilt(
    make_chat: MakeChat, database: Database
) -> None:
    chat = await make_chat(inbox=True)
    good, bad = [await chat.api.create_group_conversation("alice") for _ in range(2)]
    await chat.inbox.change_view("alice", good.id, archived=True)
    await database.command("collMod", "conversations", validator={})
    await database["conversations"].update_one(
        {"_id": bad.id}, {"$set": {"participants.0.view": {"archived": "yes"}}}
    )
    (found,) = (await chat.api.list_conversations("alice", archived=True)).conversations
    assert found.id == good.id
