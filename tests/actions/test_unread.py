"""One number of unread messages: what is counted, and how streams learn of its changes."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat, Hooks
from chat_aio.errors import StorageUnavailable
from chat_aio.live import unread_notifier
from chat_aio.live.feed import Feed
from chat_aio.schema.events import UnreadEvent
from chat_aio.store import unread_totals
from tests.conftest import Database, MakeChat, MakePeople
from tests.live.test_history import feed_behind
from tests.support.people import PATIENCE, Person, Tab, caught_up

People = Callable[[str], Person]
NONE = {"messages": 0, "mentions": 0, "conversations": 0}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are sent as soon as they are known."""
    monkeypatch.setattr(unread_notifier, "PAUSE_SECONDS", 0.01)


@pytest.fixture
async def person(serve: MakePeople) -> People:
    hooks = Hooks(can_delete=lambda asked: asked.user_id == "host")
    return await serve(hooks, inbox=True, extra_events=True)


def numbers(messages: int, mentions: int = 0, conversations: int = 1) -> dict[str, int]:
    return {"messages": messages, "mentions": mentions, "conversations": conversations}


async def number(who: Person) -> Any:
    answer = await who.get("/unread")
    assert answer.status == 200, answer
    return answer.json


async def view(who: Person, conversation_id: str, **given: bool) -> None:
    answer = await who.call("PATCH", f"/conversations/{conversation_id}/view", json=given)
    assert answer.status == 200, answer


async def told(tab: Tab, wanted: Any, unmuted: Any = None) -> None:
    """Wait until a stream is told this number; those before it are of states in between."""
    expected = {"type": "unread.updated", "all": wanted, "unmuted": unmuted or wanted}
    await tab.until(lambda frame: bool(frame.data == expected))


async def test_what_is_counted(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    assert await number(alice) == {"all": NONE, "unmuted": NONE}
    one, two, three = [await alice.group("bob") for _ in range(3)]
    for group in (one, two, three):
        await bob.send(group, "hello")
        await alice.send(group, "mine, @alice", mentions=["alice"])
    await bob.send(two, "@alice", mentions=["alice"])
    gone = await bob.send(two, "@alice", mentions=["alice"])
    await bob.delete(gone["id"])
    await alice.post("/moderation/mutes", {"conversationId": one})
    await view(alice, three, archived=True)
    assert await number(alice) == {"all": numbers(4, 1, 2), "unmuted": numbers(3, 1)}
    assert await number(bob) == {"all": numbers(3, 0, 3), "unmuted": numbers(3, 0, 3)}
    await view(alice, three, archived=False)
    await view(alice, two, hidden=True)
    assert await number(alice) == {"all": numbers(2, 0, 2), "unmuted": numbers(1)}
    last = await bob.send(two, "seen again")
    assert (await number(alice))["all"] == numbers(6, 1, 3)
    await alice.post(f"/conversations/{two}/read", {"messageId": last["id"]})
    await view(alice, one, clear=True)
    assert await number(alice) == {"all": numbers(1), "unmuted": numbers(1)}
    await alice.post(f"/conversations/{two}/unread", {"messageId": gone["id"]})
    assert (await number(alice))["all"] == numbers(3, 0, 2)


async def test_the_sum_is_that_of_the_conversations(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    for size in (0, 1, 5):
        group = await alice.group("bob")
        for _ in range(size):
            await bob.send(group, "a word")
    listed = (await alice.get("/conversations")).json["conversations"]
    assert sum(conversation["unreadCount"] for conversation in listed) == 6
    assert (await number(alice))["all"] == numbers(6, 0, 2)


async def test_what_the_host_hides_is_not_counted(make_chat: MakeChat) -> None:
    def can_read(asked: Any) -> bool:
        return bool(asked.user_id == "bob" or asked.conversation.name != "secret")

    chat = await make_chat(Hooks(can_read=can_read), inbox=True)
    for name in ("secret", "open"):
        group = await chat.api.create_group_conversation("bob", user_ids=["alice"], name=name)
        await chat.api.send_message("bob", group.id, "one")
    assert (await chat.inbox.count_unread("alice")).all.messages == 1


async def test_mentions_end_at_their_limit(
    make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread_totals, "MOST_MENTIONS", 3)
    monkeypatch.setattr(unread_totals, "BRANCHES_AT_ONCE", 1)
    chat = await make_chat(inbox=True)
    for _ in range(3):
        group = await chat.api.create_group_conversation("bob", user_ids=["alice"])
        for _ in range(2):
            await chat.api.send_message("bob", group.id, "@alice", mentions=["alice"])
    counted = await chat.inbox.count_unread("alice")
    assert (counted.all.messages, counted.all.mentions) == (6, 3)


async def test_rows_of_another_program_are_left_out(
    make_chat: MakeChat, database: Database
) -> None:
    chat = await make_chat(inbox=True)
    groups = [await chat.api.create_group_conversation("bob", user_ids=["alice"]) for _ in range(6)]
    for group in groups:
        await chat.api.send_message("bob", group.id, "one")
    for name in ("conversations", "counters"):
        await database.command("collMod", name, validator={})
    for group, collection, field, value in (
        (groups[0], "counters", "seq", "many"),
        (groups[1], "counters", "floorSeq", {"x": 1}),
        (groups[2], "conversations", "participants.0.lastReadSeq", "none"),
        (groups[3], "conversations", "participants.0.view", "archived"),
        (groups[4], "conversations", "participants", {"userId": "alice", "lastReadSeq": 0}),
    ):
        await database[collection].update_one({"_id": group.id}, {"$set": {field: value}})
    assert (await chat.inbox.count_unread("alice")).all.messages == 1


async def send_one(bob: Person, group: str) -> None:
    await bob.send(group, "@alice", mentions=["alice"])


Change = Callable[[Person, Person, str, dict[str, Any]], Awaitable[Any]]
CHANGES: dict[str, tuple[Change, Any, Any]] = {
    "a message": (lambda a, b, g, m: b.send(g, "two"), numbers(2, 1), None),
    "a mention": (lambda a, b, g, m: send_one(b, g), numbers(2, 2), None),
    "an edit": (lambda a, b, g, m: b.edit(m["id"], "no one", mentions=[]), numbers(1), None),
    "a deletion": (lambda a, b, g, m: b.delete(m["id"]), numbers(1), None),
    "reading": (lambda a, b, g, m: a.read(g, m["id"]), NONE, None),
    "an archive": (lambda a, b, g, m: view(a, g, archived=True), NONE, None),
    "a clear": (lambda a, b, g, m: view(a, g, clear=True), NONE, None),
    "hiding": (lambda a, b, g, m: view(a, g, hidden=True), NONE, None),
    "a mute": (
        lambda a, b, g, m: a.post("/moderation/mutes", {"conversationId": g}),
        numbers(1, 1),
        NONE,
    ),
    "leaving": (
        lambda a, b, g, m: a.call(
            "DELETE", f"/conversations/{g}/participants", json={"userId": "alice"}
        ),
        NONE,
        None,
    ),
    "the end of it": (
        lambda a, b, g, m: Person("host", a.client, a.chat).call("DELETE", f"/conversations/{g}"),
        NONE,
        None,
    ),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_streams_are_told_of_every_change(person: People, change: str) -> None:
    """In each tab; and what is requested then is the same."""
    alice, bob = person("alice"), person("bob")
    group = await bob.group("alice")
    make, wanted, unmuted = CHANGES[change]
    async with alice.tab() as one, alice.tab() as two:
        message = await bob.send(group, "@alice", mentions=["alice"])
        for tab in (one, two):
            await told(tab, numbers(1, 1))
        await make(alice, bob, group, message)
        for tab in (one, two):
            await told(tab, wanted, unmuted)
        assert await number(alice) == {"all": wanted, "unmuted": unmuted or wanted}


async def test_a_conversation_that_comes_is_counted(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await bob.group()
    await bob.send(group, "before")
    async with alice.tab() as tab:
        added = await bob.post(f"/conversations/{group}/participants", {"userIds": ["alice"]})
        assert added.status == 200
        await told(tab, numbers(1))
        await alice.post(f"/conversations/{group}/unread", {"messageId": "x"})
        await bob.send(group, "after")
        await told(tab, numbers(2))


async def test_every_process_tells_its_streams(make_chat: MakeChat) -> None:
    one, two = [await make_chat(inbox=True, extra_events=True) for _ in range(2)]
    group = await one.api.create_group_conversation("bob", user_ids=["alice"])
    async with one.events(user_id="alice") as here, two.events(user_id="alice") as there:

        async def both(wanted: int) -> None:
            async with asyncio.timeout(PATIENCE):
                for events in (here, there):
                    async for event in events:
                        if isinstance(event, UnreadEvent) and event.all.messages == wanted:
                            break

        sent = await one.api.send_message("bob", group.id, "one")
        await both(1)
        await two.api.mark_read("alice", group.id, sent.id)
        await both(0)
        for _ in range(20):
            sent = await two.api.send_message("bob", group.id, "one")
        await both(20)
        await one.inbox.change_view("alice", group.id, archived=True)
        await both(0)
        await two.inbox.change_view("alice", group.id, archived=False)
        await both(20)
        assert [(await chat.inbox.count_unread("alice")).all.messages for chat in (one, two)] == [
            20,
            20,
        ]


async def test_an_answer_has_all_that_other_processes_have_written(make_chat: MakeChat) -> None:
    """Also what this process has not heard of yet when it is asked."""
    one, two = [await make_chat(inbox=True, extra_events=True) for _ in range(2)]
    group = await one.api.create_group_conversation("bob", user_ids=["alice"])
    catch_up = Feed.catch_up
    async with two.events(user_id="alice"):
        assert (await two.inbox.count_unread("alice")).all.messages == 0
        async with feed_behind() as go_on:

            async def noted(self: Feed, **given: Any) -> None:
                go_on()
                await catch_up(self, **given)

            await one.api.send_message("bob", group.id, "a word")
            with patch.object(Feed, "catch_up", noted):
                assert (await two.inbox.count_unread("alice")).all.messages == 1


async def test_an_id_like_the_name_of_a_field(person: People) -> None:
    alice, bob = person("$alice"), person("bob")
    group = await bob.group("$alice")
    await bob.send(group, "@alice", mentions=["$alice"])
    assert (await number(alice))["all"] == numbers(1, 1)
    async with alice.tab() as tab:
        await bob.send(group, "two")
        await told(tab, numbers(2, 1))


async def test_messages_cause_no_count(person: People) -> None:
    """Once a conversation is known, only the events of its messages are added up."""
    alice, bob = person("alice"), person("bob")
    group = await bob.group("alice")
    counts: list[Any] = []
    count = unread_totals.count

    async def counted(database: Any, user_id: str, ids: Any = None) -> Any:
        counts.append(ids)
        return await count(database, user_id, ids)

    async with alice.tab() as tab:
        await bob.send(group, "first")
        await told(tab, numbers(1))
        with patch.object(unread_totals, "count", counted):
            for number_ in range(2, 12):
                await bob.send(group, "a word")
                if number_ % 3 == 0:
                    await told(tab, numbers(number_))
            await told(tab, numbers(11))
            assert await number(alice) == {"all": numbers(11), "unmuted": numbers(11)}
        assert counts == []


async def test_own_messages_change_nothing(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await bob.group("alice")
    async with alice.tab() as tab:
        await bob.send(group, "one")
        await told(tab, numbers(1))
        await alice.send(group, "mine, @alice", mentions=["alice"])
        await bob.send(group, "two")
        await told(tab, numbers(2))


async def test_a_count_that_fails_is_made_up_for(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await bob.group("alice")
    count, failures = unread_totals.count, iter([StorageUnavailable(), StorageUnavailable()])

    async def failing(database: Any, user_id: str, ids: Any = None) -> Any:
        if failure := next(failures, None):
            raise failure
        return await count(database, user_id, ids)

    async with alice.tab() as tab:
        with patch.object(unread_totals, "count", failing):
            await bob.send(group, "one")
            await told(tab, numbers(1))


async def test_a_stream_of_some_conversations_has_no_number(make_chat: MakeChat) -> None:
    chat: Chat = await make_chat(inbox=True, extra_events=True)
    one = await chat.api.create_group_conversation("bob", user_ids=["alice"])
    two = await chat.api.create_group_conversation("bob", user_ids=["alice"])
    await caught_up(chat)
    async with chat.events(user_id="alice", conversation_ids=[one.id]) as events:
        for group in (one, two, one):
            await chat.api.send_message("bob", group.id, "one")
        async with asyncio.timeout(PATIENCE):
            assert [(await anext(events)).type for _ in range(2)] == ["message.created"] * 2
        assert (await chat.inbox.count_unread("alice")).all.messages == 3


async def test_nothing_is_told_without_extra_events(serve: MakePeople) -> None:
    person = await serve(inbox=True)
    alice, bob = person("alice"), person("bob")
    group = await bob.group("alice")
    async with alice.tab() as tab:
        for body in ("one", "two"):
            await bob.send(group, body)
        frames = [await tab.next() for _ in range(2)]
        assert {frame.event for frame in frames} <= {"message.created", None}
        assert (await number(alice))["all"] == numbers(2)
    assert not alice.chat._context.unread_tallies.has_changed.is_set()
