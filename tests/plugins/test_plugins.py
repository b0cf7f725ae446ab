"""Typing, receipts, extra events and a host's own plugin, over HTTP, across processes."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio.errors import InvalidInput
from chat_aio.plugins import Plugin, PluginRequest, PluginRoute, Receipts, Typing, typing_indicator
from tests.conftest import Database, MakePeople
from tests.support.people import Frame, Person, Tab
from tests.support.verify import verify_action


async def next_event(tab: Tab) -> Frame:
    """The next event; id-only frames are passed."""
    while (frame := await tab.next()).event is None:
        pass
    return frame


async def test_typing_is_told_to_the_others_on_every_process(serve: MakePeople) -> None:
    one, two = await serve(plugins=[Typing()]), await serve(plugins=[Typing()])
    alice, bob = one("alice"), two("bob")
    group = await alice.group("bob")
    await bob.told_all()
    async with bob.tab() as his, alice.tab() as hers:
        for given, name in ((None, "started"), (False, "stopped")):
            answer = await alice.post(f"/conversations/{group}/typing", {"isTyping": given})
            assert answer.json == {"ok": True}
            told = await next_event(his)
            assert (told.event, told.id) == (f"typing.{name}", None)
            age = datetime.now(UTC) - datetime.fromisoformat(told.data.pop("at"))
            assert timedelta() <= age < timedelta(minutes=1)
            assert told.data == {
                "type": f"typing.{name}",
                "ephemeral": True,
                "conversationId": group,
                "senderId": "alice",
                "payload": {"isTyping": given is not False},
            }
        await bob.send(group, "hi")
        assert await hers.bodies(1) == ["hi"]


async def test_a_repeated_ping_is_sent_once_a_second(serve: MakePeople) -> None:
    now = 100.0
    people = await serve(plugins=[plugin := Typing()])
    alice, bob, eve = people("alice"), people("bob"), people("eve")
    group, other = await alice.group("bob", "eve"), await alice.group("bob")
    await bob.told_all()

    async def types(who: Person, here: str, is_typing: bool = True) -> None:
        answer = await who.post(f"/conversations/{here}/typing", {"isTyping": is_typing})
        assert answer.json == {"ok": True}

    with patch.object(typing_indicator, "monotonic", lambda: now):
        async with bob.tab() as tab:
            for _ in range(200):
                await types(alice, group)
            await types(eve, group)
            await types(alice, other)
            now += 0.5
            await types(alice, group)
            for _ in range(50):
                await types(alice, group, False)  # A stop is published at once, and
                await types(alice, group)  # a start a second after the last one.
            now += 0.6
            await types(alice, group)
            now += 0.1
            await types(alice, group)
            frames = [await next_event(tab) for _ in range(5)]
            await alice.send(group, "the end")
            assert await tab.bodies(1) == ["the end"]
        assert [(frame.data["senderId"], frame.data["conversationId"]) for frame in frames] == [
            *(("alice", group), ("eve", group), ("alice", other)),
            *[("alice", group)] * 2,
        ]
        assert [str(frame.event).partition(".")[2] for frame in frames] == [
            *["started"] * 3,
            *("stopped", "started"),
        ]
        # What is older than a second is forgotten.
        now += 5.0
        await types(eve, group)
        assert len(plugin._published) == 1


async def test_who_may_not_write_does_not_type(serve: MakePeople) -> None:
    person = await serve(plugins=[Typing()])
    alice, bob = person("alice"), person("bob")
    group = await alice.group()
    refused = {
        (group, None): (403, "FORBIDDEN_WRITE"),
        ("unknown", None): (404, "CONVERSATION_NOT_FOUND"),
        (group, "yes"): (400, "INVALID_INPUT"),
        (group, 1): (400, "INVALID_INPUT"),
    }
    for (conversation_id, given), expected in refused.items():
        body = {} if given is None else {"isTyping": given}
        answer = await bob.post(f"/conversations/{conversation_id}/typing", body)
        assert (answer.status, answer.code) == expected
    broken = await bob.post(f"/conversations/{group}/typing", data=b"[]")
    assert (broken.status, broken.code) == (400, "INVALID_INPUT")


async def test_who_is_blocked_types_unheard(serve: MakePeople) -> None:
    person = await serve(plugins=[Typing()])
    alice, bob = person("alice"), person("bob")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    await alice.post("/moderation/blocks", {"targetUserId": "bob"})
    async with alice.tab() as hers:
        assert (await bob.post(f"/conversations/{direct}/typing")).json == {"ok": True}
        await bob.post(f"/conversations/{group}/typing")
        assert (await hers.event("typing.started"))["conversationId"] == group


async def test_routes_are_there_only_where_their_plugin_is(serve: MakePeople) -> None:
    person = await serve()
    alice = person("alice")
    group = await alice.group()
    for answer in (
        await alice.post(f"/conversations/{group}/typing"),
        await alice.get("/presence?userIds=alice"),
    ):
        assert (answer.status, answer.code) == (404, "NOT_FOUND")


async def receipts(tab: Tab, count: int) -> list[tuple[str, str, str, Any]]:
    """The next receipts, in the order of their names and senders."""
    found: list[tuple[str, str, str, Any]] = []
    while len(found) < count:
        frame = await tab.next()
        if frame.event and frame.event.startswith("receipt."):
            assert frame.id is None
            data = frame.data
            assert data["ephemeral"] is True
            told = (frame.event, data["senderId"], data["conversationId"], data["payload"])
            found.append(told)
    return sorted(found, key=lambda receipt: receipt[:2])


async def test_a_message_is_delivered_once_to_each_recipient(serve: MakePeople) -> None:
    one, two = await serve(plugins=[Receipts()]), await serve(plugins=[Receipts()])
    alice = one("alice")
    group = await alice.group("bob", "carol", "dave")
    async with alice.tab() as hers:
        async with one("bob").tab(), one("bob").tab(), two("carol").tab():
            sent = await alice.send(group, "hi")
            payload = {"messageId": sent["id"], "seq": 1}
            assert await receipts(hers, 2) == [
                ("receipt.delivered", "bob", group, payload),
                ("receipt.delivered", "carol", group, payload),
            ]
        async with one("dave").tab(), one("dave").tab():
            await one("bob").send(group, "from bob")
            await alice.send(group, "again")
            (told,) = await receipts(hers, 1)
            assert told[:3] == ("receipt.delivered", "dave", group)
            assert told[3]["seq"] == 3


async def test_a_replay_delivers_as_well(serve: MakePeople) -> None:
    person = await serve(plugins=[Receipts()])
    alice = person("alice")
    group = await alice.group("bob")
    await alice.send(group, "seen")
    sent = await alice.send(group, "missed")
    await alice.told_all()
    later = await serve(plugins=[Receipts()], replay_buffer_seconds=0)
    back = f"{group}:1"
    async with alice.tab() as hers, person("bob").tab(back), later("bob").tab(back):
        told = await receipts(hers, 2)
        assert [receipt[3] for receipt in told] == [{"messageId": sent["id"], "seq": 2}] * 2


async def test_who_has_read_is_told_to_the_others(serve: MakePeople) -> None:
    person = await serve(plugins=[Receipts()])
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob", "carol")
    sent = await alice.send(group, "hi")
    await alice.told_all()
    async with alice.tab() as hers, bob.tab() as his, person("carol").tab() as tab:
        await bob.read(group, sent["id"])
        for reader in (hers, tab):
            expected = ("receipt.read", "bob", group, {"messageId": sent["id"]})
            assert await receipts(reader, 1) == [expected]
        await alice.read(group, sent["id"])
        assert (await receipts(his, 1))[0][1] == "alice"


async def test_many_receipts_travel_together(serve: MakePeople, database: Database) -> None:
    users = [f"user {number}" for number in range(60)]
    person = await serve(plugins=[Receipts()])
    alice = person("alice")
    group = await alice.group(*users)
    async with asyncio.timeout(60), alice.tab() as hers:
        tabs = [person(user).tab() for user in users]
        await asyncio.gather(*(tab.__aenter__() for tab in tabs))
        await alice.send(group, "to sixty")
        assert len({receipt[1] for receipt in await receipts(hers, 60)}) == 60
        await asyncio.gather(*(tab.__aexit__(None, None, None) for tab in tabs))
    assert await database["signals"].count_documents({"kind": "notes"}) <= 5


async def test_old_signals_are_not_told(serve: MakePeople, database: Database) -> None:
    """A feed that reads into the past passes over what is long gone, and over broken rows."""
    person = await serve(plugins=[Typing()])
    alice = person("alice")
    group = await alice.group("bob")
    await alice.told_all()
    async with person("bob").tab() as tab:
        await alice.post(f"/conversations/{group}/typing")
        await tab.event("typing.started")
        stored = await database["signals"].find_one({"kind": "notes"})
        assert stored is not None
        old = {**stored, "_id": "old", "at": datetime.now(UTC) - timedelta(seconds=91)}
        await database["signals"].insert_many(
            [old, {"_id": "broken", "kind": "notes"}], bypass_document_validation=True
        )
        await alice.send(group, "hi")
        assert await tab.bodies(1) == ["hi"]


async def test_extra_events(serve: MakePeople) -> None:
    person = await serve(extra_events=True)
    alice, bob, carol = person("alice"), person("bob"), person("carol")
    group = await alice.group("bob", visibility="public", joinPolicy="approval")
    sent = [await alice.send(group, str(number)) for number in range(3)]

    async def read() -> None:
        await bob.read(group, sent[1]["id"])

    (told,) = await verify_action(bob, read, "read.updated")
    assert told.data == {
        "type": "read.updated",
        "conversationId": group,
        "messageId": sent[1]["id"],
        "unreadCount": 1,
    }
    await verify_action(alice, lambda: alice.direct("dave"), "conversation.created")
    (told,) = await verify_action(bob, lambda: alice.direct("bob"), "conversation.created")
    assert told.data["actorId"] == "alice"
    assert "unreadCount" not in told.data["conversation"]

    path = f"/conversations/{group}/join-requests"
    async with alice.tab() as hers, bob.tab() as his, carol.tab() as theirs:
        await carol.post(path, {"message": "please"})
        for tab in (hers, theirs):
            data = await tab.event("join_request.created")
            assert (data["conversationId"], data["joinRequest"]["message"]) == (group, "please")
        assert (await carol.post(path, {"message": "please, please"})).status == 201
        for decision, status in (("deny", "denied"), ("approve", "approved")):
            decided = {"userId": "carol", "decision": decision}
            assert (await alice.call("PATCH", path, json=decided)).status == 200
            for tab in (hers, theirs):
                if status == "approved":
                    await tab.event("participant.added")
                data = await tab.event("join_request.resolved")
                assert data["joinRequest"]["status"] == status
            if status == "denied":
                await carol.post(path)
                for tab in (hers, theirs):
                    await tab.event("join_request.created")
        assert (await his.event("participant.added"))["affectedUserIds"] == ["carol"]


async def test_extra_events_are_off_by_default(serve: MakePeople, database: Database) -> None:
    person = await serve()
    alice, bob = person("alice"), person("bob")
    async with bob.tab() as tab:
        direct = await alice.direct("bob")
        sent = await alice.send(direct, "hi")
        await bob.read(direct, sent["id"])
        assert await tab.bodies(1) == ["hi"]
    assert await database["signals"].count_documents({"kind": "notes"}) == 0


class Echo(Plugin):
    """A host's own."""

    def __init__(self) -> None:
        self.opened = 0
        self.closed = 0
        self.heard: list[str] = []
        self.routes = (PluginRoute(method="GET", path="/echo/{word}", handler=self._answer),)

    async def open(self) -> None:
        self.opened += 1

    async def close(self) -> None:
        self.closed += 1

    def stream_opened(self, user_id: str) -> None:
        self.heard.append(f"+{user_id}")

    def stream_closed(self, user_id: str) -> None:
        self.heard.append(f"-{user_id}")

    async def _answer(self, request: PluginRequest) -> Mapping[str, object]:
        if request.query.get("fail"):
            raise InvalidInput("as asked")
        return {"user": request.user_id, "word": request.path["word"]}


async def test_a_plugin_of_the_hosts(serve: MakePeople) -> None:
    echo = Echo()
    person = await serve(plugins=[echo])
    alice = person("alice")
    assert (await alice.get("/echo/hi")).json == {"user": "alice", "word": "hi"}
    assert (await alice.get("/echo/hi?fail=1")).code == "INVALID_INPUT"
    assert (await alice.call("POST", "/echo/hi")).code == "NOT_FOUND"
    async with alice.tab() as tab:
        await alice.chat.close()
        await tab.end()
    assert (echo.opened, echo.closed, echo.heard) == (1, 1, ["+alice", "-alice"])


@pytest.mark.parametrize("plugin", [Typing, Receipts])
async def test_a_chat_with_plugins_closes_at_once(serve: MakePeople, plugin: Any) -> None:
    person = await serve(plugins=[plugin()])
    await person("alice").chat.close()
