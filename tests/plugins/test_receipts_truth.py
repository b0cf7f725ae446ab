"""Receipts and extra events say what is so, to whom it may be said, and never stand in the way."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio.actions import optional_events
from chat_aio.errors import StorageUnavailable
from chat_aio.plugins import Receipts, Typing
from chat_aio.store.snapshots import Snapshots
from tests.conftest import Database, MakePeople
from tests.plugins.test_plugins import receipts
from tests.support.people import Frame, Person, Tab


def says(body: str) -> Callable[[Frame], bool]:
    return lambda frame: frame.event == "message.created" and frame.data["message"]["body"] == body


async def test_who_was_removed_hears_of_no_receipts(serve: MakePeople) -> None:
    person = await serve(plugins=[Receipts(), Typing()])
    alice, bob, carol = person("alice"), person("bob"), person("carol")
    group, direct = await alice.group("bob", "carol"), await alice.direct("bob")
    await alice.send(group, "seen")
    await bob.send(group, "of bob's")
    await alice.send(group, "of alice's")
    async with alice.tab() as hers, bob.tab() as his:
        path = f"/conversations/{group}/participants"
        await alice.call("DELETE", path, json={"userId": "bob"})
        async with carol.tab(f"{group}:1"):
            await carol.post(f"/conversations/{group}/typing")
            (told,) = await receipts(hers, 1)
            assert (told[:3], told[3]["seq"]) == (("receipt.delivered", "carol", group), 3)
        await alice.send(direct, "the end")
        frames = await his.until(says("the end"))
    names = [frame.event for frame in frames if frame.event]
    assert names == ["participant.removed", "message.created"]


async def test_who_reads_no_further_tells_nobody(serve: MakePeople) -> None:
    person = await serve(plugins=[Receipts()], extra_events=True)
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    first, second = [await alice.send(group, body) for body in ("first", "second")]
    await alice.told_all()
    async with alice.tab() as hers, bob.tab() as his:
        for message in (second, first, second):
            await bob.read(group, message["id"])
        third = await alice.send(group, "third")
        await bob.read(group, third["id"])
        told = await receipts(hers, 3)
        read = [receipt[3]["messageId"] for receipt in told if receipt[0] == "receipt.read"]
        assert read == [second["id"], third["id"]]
        updates = [await next_of(his, "read.updated") for _ in range(2)]
        assert [update["messageId"] for update in updates] == [second["id"], third["id"]]


async def next_of(tab: Tab, name: str) -> Any:
    """The data of the next event of this name."""
    return (await tab.until(lambda frame: frame.event == name))[-1].data


async def test_who_has_read_is_not_refused_for_what_is_told_of_it(serve: MakePeople) -> None:
    person = await serve(extra_events=True)
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    sent = await alice.send(group, "hi")

    async def fail(*_: Any) -> Any:
        raise StorageUnavailable

    with patch.object(optional_events, "find_viewed", fail):
        await bob.read(group, sent["id"])
    assert await bob.unread(group) == 0


async def test_who_has_asked_is_not_refused_for_what_is_told_of_it(
    serve: MakePeople, database: Database
) -> None:
    person = await serve(extra_events=True)
    alice, carol = person("alice"), person("carol")
    group = await alice.group("bob")
    find = Snapshots.find
    failed = False

    async def fail_afterwards(self: Snapshots, conversation_id: str) -> Any:
        nonlocal failed
        if await database["join_requests"].count_documents({}):
            failed = True
            raise StorageUnavailable
        return await find(self, conversation_id)

    with patch.object(Snapshots, "find", fail_afterwards):
        answer = await carol.post(f"/conversations/{group}/join-requests")
    assert (answer.status, answer.json["joinRequest"]["status"]) == (201, "pending")
    assert failed


async def added(alice: Person, carol: Person, group: str) -> None:
    await alice.post(f"/conversations/{group}/participants", {"userIds": ["carol"]})


async def invited(alice: Person, carol: Person, group: str) -> None:
    invite = (await alice.post(f"/conversations/{group}/invites")).json["invite"]
    await carol.post(f"/invites/{invite['code']}/accept")


async def joined(alice: Person, carol: Person, group: str) -> None:
    given = {"visibility": "public", "joinPolicy": "open"}
    await alice.call("PATCH", f"/conversations/{group}", json=given)
    await carol.post(f"/conversations/{group}/join")


@pytest.mark.parametrize(
    ("gets_in", "by"), [(added, "alice"), (invited, "alice"), (joined, "carol")]
)
async def test_a_request_is_resolved_by_getting_in_another_way(
    serve: MakePeople, gets_in: Any, by: str
) -> None:
    person = await serve(extra_events=True)
    alice, carol = person("alice"), person("carol")
    group = await alice.group("bob")
    async with alice.tab() as hers, carol.tab() as theirs:
        await carol.post(f"/conversations/{group}/join-requests")
        await gets_in(alice, carol, group)
        for tab in (hers, theirs):
            request = (await next_of(tab, "join_request.resolved"))["joinRequest"]
            told = [request[name] for name in ("userId", "status", "resolvedBy")]
            assert told == ["carol", "approved", by]
        listed = await alice.get(f"/conversations/{group}/join-requests?status=approved")
        assert listed.json["joinRequests"] == [request]


async def test_who_gets_in_without_having_asked_has_no_request_resolved(serve: MakePeople) -> None:
    person = await serve(extra_events=True)
    alice, carol = person("alice"), person("carol")
    group, other = await alice.group("bob"), await alice.group("bob")
    async with carol.tab() as tab:
        await carol.post(f"/conversations/{other}/join-requests")
        await added(alice, carol, group)
        await added(alice, carol, other)
        told = await next_of(tab, "join_request.resolved")
        assert told["conversationId"] == other
