"""Events of who is in a conversation: what they say, who hears them, and who does not any more."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from tests.conftest import Database, MakePeople
from tests.support.people import PATIENCE, Person
from tests.support.verify import verify_action

People = Callable[[str], Person]
Act = Callable[[], Awaitable[Any]]


async def invited(who: Person, group: str, **given: Any) -> str:
    """The path at which a new link is accepted."""
    answer = await who.post(f"/conversations/{group}/invites", given)
    return f"/invites/{answer.json['invite']['code']}/accept"


async def test_verify_changes_of_groups(person: People) -> None:
    alice, bob, carol, dave = map(person, ("alice", "bob", "carol", "dave"))
    group = await alice.group("bob", visibility="public", joinPolicy="open")
    here = f"/conversations/{group}"
    link = await invited(alice, group)
    await dave.post(f"{here}/join-requests")
    steps: list[tuple[Act, str, str, list[str]]] = [
        (
            lambda: alice.call("PATCH", here, json={"name": "Tea", "joinPolicy": "approval"}),
            *("conversation.updated", "alice", []),
        ),
        (
            lambda: alice.post(f"{here}/participants", {"userIds": ["eve", "bob"]}),
            *("participant.added", "alice", ["eve"]),
        ),
        (lambda: carol.post(link), *("participant.added", "alice", ["carol"])),
        (
            lambda: alice.call(
                "PATCH",
                f"{here}/join-requests",
                json={"userId": "dave", "decision": "approve"},
            ),
            *("participant.added", "alice", ["dave"]),
        ),
        (
            lambda: alice.call(
                "PATCH", f"{here}/participants", json={"userId": "carol", "role": "admin"}
            ),
            *("conversation.updated", "alice", ["carol"]),
        ),
        (
            lambda: carol.call("DELETE", f"{here}/participants", json={"userId": "dave"}),
            *("participant.removed", "carol", ["dave"]),
        ),
        (
            lambda: carol.call("PATCH", here, json={"joinPolicy": "open"}),
            *("conversation.updated", "carol", []),
        ),
        (lambda: dave.post(f"{here}/join"), *("participant.added", "dave", ["dave"])),
        (
            lambda: bob.call("DELETE", f"{here}/participants", json={"userId": "bob"}),
            *("participant.removed", "bob", ["bob"]),
        ),
    ]
    for act, event, actor, affected in steps:
        (frame,) = await verify_action(bob, act, event)
        assert set(frame.data) == {
            "type",
            "conversationId",
            "actorId",
            "affectedUserIds",
            "conversation",
        }
        assert (frame.id, frame.data["actorId"]) == (None, actor)
        assert frame.data["affectedUserIds"] == affected
        assert "unreadCount" not in frame.data["conversation"]


async def test_what_changes_nothing_tells_nothing(person: People) -> None:
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob", name="Tea")
    here = f"/conversations/{group}"
    link = await invited(alice, group)
    async with bob.tab() as tab:
        for answer in (
            await alice.call("PATCH", here, json={"name": " Tea ", "visibility": "private"}),
            await alice.post(f"{here}/participants", {"userIds": ["bob", "alice"]}),
            await alice.call("DELETE", f"{here}/participants", json={"userId": "eve"}),
            await alice.call(
                "PATCH", f"{here}/participants", json={"userId": "bob", "role": "member"}
            ),
            await bob.post(link),
            await person("eve").post(f"{here}/join-requests"),
            await alice.call(
                "PATCH", f"{here}/join-requests", json={"userId": "eve", "decision": "deny"}
            ),
        ):
            assert answer.status in (200, 201)
        await alice.send(group, "end")
        assert await tab.bodies(1) == ["end"]


async def test_who_is_removed_hears_of_it_and_of_nothing_after(serve: MakePeople) -> None:
    """On every open stream, in every process, while others go on."""
    one, other = await serve(), await serve()
    alice = one("alice")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    async with AsyncExitStack() as stack:
        tabs = [
            await stack.enter_async_context(place("bob").tab())
            for place in (one, other)
            for _ in range(2)
        ]
        body = {"userId": "bob"}
        await asyncio.gather(
            alice.call("DELETE", f"/conversations/{group}/participants", json=body),
            *(alice.send(group, str(number)) for number in range(30)),
        )
        last = await alice.send(group, "secret")
        await alice.edit(last["id"], "another secret")
        await alice.call("PATCH", f"/conversations/{group}", json={"name": "Without Bob"})
        await alice.send(direct, "end")
        for tab in tabs:
            frames = await tab.until(
                lambda frame: (
                    frame.event == "message.created" and frame.data["message"]["body"] == "end"
                )
            )
            of_group = [
                frame for frame in frames if frame.data and frame.data["conversationId"] == group
            ]
            names = [event.event for event in of_group]
            assert names.count("participant.removed") == 1
            assert names[-1] == "participant.removed"
            assert "secret" not in str(of_group)
            assert of_group[-1].data["affectedUserIds"] == ["bob"]


async def test_who_joins_elsewhere_hears_at_once(serve: MakePeople, database: Database) -> None:
    one, other = await serve(), await serve()
    alice, bob = one("alice"), other("bob")
    group = await alice.group(visibility="public", joinPolicy="open")
    async with bob.tab() as tab:
        await one("bob").post(f"/conversations/{group}/join")
        added = await tab.event("participant.added")
        assert (added["actorId"], added["affectedUserIds"]) == ("bob", ["bob"])
        await alice.send(group, "welcome")
        assert await tab.bodies(1) == ["welcome"]


async def test_who_went_out_is_not_shown_what_came_after(person: People) -> None:
    """The feed lags: it reads messages and groups as they are after the removal."""
    alice, bob, carol = map(person, ("alice", "bob", "carol"))
    group, direct = await alice.group("bob", "carol", name="Tea"), await alice.direct("bob")
    message = await alice.send(group, "hi")
    await alice.told_all()
    live = alice.chat._live
    gate = asyncio.Event()
    changed = live._changed

    async def late(changes: Any) -> None:
        await asyncio.wait_for(gate.wait(), PATIENCE)
        await changed(changes)

    async with bob.tab() as his, carol.tab() as hers:
        object.__setattr__(live.feed._listener, "changed", late)
        await alice.edit(message["id"], "before")
        await carol.react(message["id"], "👍")
        await alice.call("PATCH", f"/conversations/{group}", json={"name": "Before"})
        path = f"/conversations/{group}/participants"
        await alice.call("DELETE", path, json={"userId": "bob"})
        await alice.edit(message["id"], "a secret")
        await alice.send(direct, "end")
        gate.set()
        frames = await his.until(lambda frame: frame.event == "message.created")
        assert "secret" not in str(frames)
        assert [frame.event for frame in frames if frame.event] == [
            "participant.removed",
            "message.created",
        ]
        for name in (
            "message.updated",
            "reaction.added",
            "conversation.updated",
            "participant.removed",
            "message.updated",
        ):
            await hers.event(name)
