"""Supervisors: conversations that a user may read without being in them are followed live
(specification 19)."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Hooks
from chat_aio.actions import following
from chat_aio.errors import UserBanned
from chat_aio.hooks import PermissionContext
from chat_aio.live import service
from chat_aio.live.event import Event
from chat_aio.live.frames import frame_from
from chat_aio.plugin_types.base import DeliveredMessage
from chat_aio.plugins import Plugin, Presence, Receipts, Typing
from chat_aio.store import audit
from chat_aio.store.snapshots import Snapshot
from tests.conftest import Database, MakePeople
from tests.support.people import PATIENCE, Frame, Person, Tab

SOON = {"supervisors": True, "heartbeat_interval_ms": 50}
SELDOM = {"supervisors": True, "heartbeat_interval_ms": 3_600_000}

Serve = Callable[[str], Person]


@dataclass
class Rule:
    """Participants read, and supervisors what they were not refused since."""

    refused: set[str] = field(default_factory=set)
    fails: bool = False

    def __call__(self, asked: PermissionContext) -> bool:
        if self.fails:
            raise RuntimeError("the host's database is away")
        if asked.user_id in asked.conversation.roles:
            return True
        return asked.user_id.startswith("mona") and asked.conversation.id not in self.refused

    @property
    def hooks(self) -> Hooks:
        return Hooks(can_read=self)


class Listening(Plugin):
    """Records what plugins are notified of."""

    def __init__(self) -> None:
        self.present: list[str] = []
        self.delivered: list[tuple[str, int]] = []

    async def stream_opening(self, user_id: str) -> None:
        self.present.append(user_id)

    def stream_opened(self, user_id: str) -> None:
        self.present.append(user_id)

    def stream_closed(self, user_id: str) -> None:
        self.present.append(user_id)

    def message_delivered(self, user_id: str, message: DeliveredMessage) -> None:
        self.delivered.append((user_id, message.seq))


async def audited(database: Database) -> list[tuple[str, str]]:
    """Whose looks at which conversations the audit log has."""
    rows = database["audit"].find({"action": "follow-conversation"}).sort("at", 1)
    return [(row["actorUserId"], row["targetId"]) async for row in rows]


async def test_a_supervisor_hears_and_is_not_noticed(serve: MakePeople, database: Database) -> None:
    heard_by_plugins = Listening()
    plugins = [Presence(), Receipts(), Typing(), heard_by_plugins]
    person = await serve(Rule().hooks, plugins=plugins, **SELDOM)
    alice, bob, mona = person("alice"), person("bob"), person("mona")
    group, other, shared = [await alice.group(name) for name in ("bob", "bob", "mona")]
    async with mona.tab(following=[group]) as monas, bob.tab() as bobs:
        typing = await alice.post(f"/conversations/{group}/typing", {"isTyping": True})
        assert typing.status == 200
        await bobs.until(lambda frame: frame.event == "typing.started")
        await alice.send(other, "elsewhere")
        await alice.send(shared, "to mona, but not followed")
        first = await alice.send(group, "one")
        await alice.edit(first["id"], "two")
        await alice.react(first["id"], "+")
        await alice.delete(first["id"])
        await alice.call("PATCH", f"/conversations/{group}", json={"name": "tea"})
        frames = await monas.until(lambda frame: frame.event == "conversation.updated")
        assert [(frame.event, frame.id) for frame in frames] == [
            (name, None)
            for name in (
                *("message.created", "message.updated", "reaction.added"),
                *("message.deleted", "conversation.updated"),
            )
        ]
        assert all(frame.data["conversationId"] == group for frame in frames)
        assert monas.last_event_id is None
        await bobs.until(lambda frame: frame.event == "conversation.updated")
        shown = (await alice.get("/presence?userIds=mona,bob")).json["presence"]
        assert (shown["mona"]["online"], shown["bob"]["online"]) == (False, True)
        await alice.chat.end_streams("mona")
        await monas.end()
    assert {*heard_by_plugins.present} == {"bob"}
    assert {user_id for user_id, _ in heard_by_plugins.delivered} == {"bob"}
    assert await audited(database) == [("mona", group)]


async def test_events_for_a_person_are_not_for_a_stream_that_follows(serve: MakePeople) -> None:
    """Neither what is for the user alone, nor what moderators are notified of."""
    hooks = Hooks(can_read=Rule(), can_moderate=lambda asked: asked.user_id == "mona")
    person = await serve(
        hooks, plugins=[Receipts()], extra_events=True, moderation_tools=True, **SELDOM
    )
    alice, mona = person("alice"), person("mona")
    shared = await alice.group("mona")
    async with mona.tab(following=[shared]) as followed, mona.tab() as own:
        said = await alice.send(shared, "one")
        await mona.read(shared, said["id"])
        report = {"targetType": "user", "targetId": "alice", "reason": "spam"}
        assert (await mona.post("/moderation/reports", report)).status == 200
        await own.until(lambda frame: frame.event == "report.created")
        await alice.send(shared, "two")
        assert await followed.bodies(2) == ["one", "two"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "must be an id"),
        ("a,,b", "must be an id"),
        ("a,%00", "must be an id"),
        ("x" * 257, "must be an id"),
        (",".join(["a"] * 21), "at most 20"),
        (",".join(map(str, range(21))), "at most 20"),
    ],
)
async def test_what_is_no_list_of_ids(serve: MakePeople, given: str, said: str) -> None:
    mona = (await serve(Rule().hooks, **SELDOM))("mona")
    answer = await mona.follow(given)
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    assert said in answer.json["error"]["message"]


async def test_a_position_is_refused(serve: MakePeople) -> None:
    person = await serve(Rule().hooks, **SELDOM)
    alice, mona = person("alice"), person("mona")
    group = await alice.group("bob")
    await alice.send(group, "missed")
    for answer in (
        await mona.follow(group, **{"Last-Event-ID": f"{group}:1"}),
        await mona.follow(f"{group}&lastEventId={group}:1"),
    ):
        assert (answer.status, answer.code) == (400, "INVALID_INPUT")
        assert "no replay" in answer.json["error"]["message"]


async def test_without_the_option(serve: MakePeople) -> None:
    mona = (await serve(Rule().hooks))("mona")
    answer = await mona.follow("a")
    assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    assert "supervisors" in answer.json["error"]["message"]


async def test_all_of_them_must_be_readable(serve: MakePeople, database: Database) -> None:
    rule = Rule()
    person = await serve(rule.hooks, **SELDOM)
    alice, mona = person("alice"), person("mona")
    group, secret = await alice.group("bob"), await alice.group("bob")
    rule.refused.add(secret)
    for given, status, code, named in (
        (f"{group},none", 404, "CONVERSATION_NOT_FOUND", "none"),
        (f"{group},{secret}", 403, "FORBIDDEN_READ", secret),
    ):
        answer = await mona.follow(given)
        assert (answer.status, answer.code) == (status, code)
        assert answer.json["error"]["message"].endswith(f": {named}")
    assert await mona.chat_streams() == 0
    assert not mona.chat._live.hub._following
    assert await audited(database) == []
    refused = await person("eve").follow(group)
    assert (refused.status, refused.code) == (403, "FORBIDDEN_READ")
    rule.fails = True
    assert (await mona.follow(group)).status == 500


async def test_twenty_at_once(serve: MakePeople, database: Database) -> None:
    person = await serve(Rule().hooks, **SELDOM)
    alice, mona = person("alice"), person("mona")
    groups = [await alice.group("bob") for _ in range(20)]
    async with mona.tab(following=groups) as tab:
        for number, group in enumerate(groups):
            await alice.send(group, str(number))
        assert await tab.bodies(20) == [str(number) for number in range(20)]
    assert {*await audited(database)} == {("mona", group) for group in groups}


async def test_the_audit_log_can_do_without(serve: MakePeople, database: Database) -> None:
    person = await serve(Rule().hooks, audit_supervisors=False, **SELDOM)
    alice, mona = person("alice"), person("mona")
    group = await alice.group("bob")
    async with mona.tab(following=[group]) as tab:
        await alice.send(group, "hello")
        assert await tab.bodies(1) == ["hello"]
    assert await audited(database) == []


async def test_nothing_is_shown_before_the_audit_log_has_it(
    serve: MakePeople, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = await serve(Rule().hooks, **SELDOM)
    group = await person("alice").group("bob")

    async def fail(*_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(audit, "note", fail)
    assert (await person("mona").follow(group)).status == 500


async def test_participants_may_follow_as_well(serve: MakePeople, database: Database) -> None:
    """By the default rule they alone may; what is hidden from them stays so."""
    person = await serve(room_controls=True, **SELDOM)
    alice, bob = person("alice"), person("bob")
    group = await alice.group()
    here = f"/conversations/{group}"
    assert (await alice.call("PATCH", here, json={"history": "since_join"})).status == 200
    before = await alice.send(group, "before")
    assert (await alice.post(f"{here}/participants", {"userIds": ["bob"]})).status == 200
    async with bob.tab(following=[group]) as tab:
        await alice.edit(before["id"], "still before")
        quoting = await alice.send(group, "quoting", replyToMessageId=before["id"])
        said = await tab.event("message.created")
        assert said["message"]["id"] == quoting["id"]
        assert said["message"]["replyTo"]["deleted"]
    assert await audited(database) == []
    assert (await person("mona").follow(group)).code == "FORBIDDEN_READ"


async def test_a_right_that_ends(serve: MakePeople) -> None:
    """At the next heartbeat; the reader of both conversations learns from the answer which one."""
    rule = Rule()
    person = await serve(rule.hooks, **SOON)
    alice, mona, other = person("alice"), person("mona"), person("mona-2")
    group, secret = await alice.group("bob"), await alice.group("bob")
    async with mona.tab(following=[group, secret]) as tab, other.tab(following=[group]) as goes_on:
        rule.refused.add(secret)
        await tab.end()
        assert (await mona.follow(f"{group},{secret}")).code == "FORBIDDEN_READ"
        await alice.send(group, "hello")
        assert await goes_on.bodies(1) == ["hello"]


async def test_a_hook_that_fails_ends_it(serve: MakePeople) -> None:
    rule = Rule()
    person = await serve(rule.hooks, **SOON)
    group = await person("alice").group("bob")
    async with person("mona").tab(following=[group]) as tab:
        rule.fails = True
        await tab.end()


Ending = Callable[[Serve, str], Awaitable[object]]


async def delete(person: Serve, group: str) -> None:
    await person("alice").chat.conversations.delete_conversation("shop", group)


async def add(person: Serve, group: str) -> None:
    await person("alice").post(f"/conversations/{group}/participants", {"userIds": ["mona"]})


async def ban(person: Serve, group: str) -> None:
    await person("alice").chat.api.moderation.ban_user("root", "mona")


async def end_streams(person: Serve, group: str) -> None:
    await person("alice").chat.end_streams("mona")


async def lose_the_feed(person: Serve, group: str) -> None:
    person("alice").chat._live._lost(True)


@pytest.mark.parametrize(
    ("happen", "then"),
    [
        (delete, "CONVERSATION_NOT_FOUND"),
        (ban, "USER_BANNED"),
        (add, None),
        (end_streams, None),
        (lose_the_feed, None),
    ],
)
async def test_what_ends_it(serve: MakePeople, happen: Ending, then: str | None) -> None:
    """At once, though no heartbeat comes, and opening it again shows why."""
    hooks = Hooks(can_read=Rule(), can_moderate=lambda asked: asked.user_id == "root")
    person = await serve(hooks, **SELDOM)
    alice, mona = person("alice"), person("mona")
    group = await alice.group("bob")
    async with mona.tab(following=[group]) as tab:
        await happen(person, group)
        await tab.end()
    if then is not None:
        assert (await mona.follow(group)).code == then
        return
    async with mona.tab(following=[group]) as tab:
        await alice.send(group, "hello")
        assert await tab.bodies(1) == ["hello"]


async def test_deletion_is_the_last_event(serve: MakePeople) -> None:
    person = await serve(Rule().hooks, extra_events=True, **SELDOM)
    group = await person("alice").group("bob")
    async with person("mona").tab(following=[group]) as tab:
        await delete(person, group)
        assert (await tab.event("conversation.deleted"))["conversationId"] == group
        await tab.end()


async def test_being_added_is_the_last_event(serve: MakePeople) -> None:
    """Opened again it is a participant's, of whom the audit log has nothing."""
    person = await serve(Rule().hooks, **SELDOM)
    alice, mona = person("alice"), person("mona")
    group = await alice.group("bob")
    async with mona.tab(following=[group]) as tab:
        await add(person, group)
        assert (await tab.event("participant.added"))["affectedUserIds"] == ["mona"]
        await tab.end()


async def test_a_ban_is_seen_when_the_stream_is_registered(serve: MakePeople) -> None:
    hooks = Hooks(can_read=Rule(), can_moderate=lambda asked: asked.user_id == "root")
    person = await serve(hooks, **SELDOM)
    alice = person("alice")
    group = await alice.group("bob")
    await ban(person, group)
    with pytest.raises(UserBanned):
        await alice.chat._live.follow("mona", [group])
    assert await alice.chat_streams() == 0


async def test_participants_that_are_removed(serve: MakePeople) -> None:
    person = await serve(**SELDOM)
    alice, bob = person("alice"), person("bob")
    group = await alice.group("bob")
    async with bob.tab(following=[group]) as tab:
        removal = await alice.call(
            "DELETE", f"/conversations/{group}/participants", json={"userId": "bob"}
        )
        assert removal.status == 200
        assert (await tab.event("participant.removed"))["affectedUserIds"] == ["bob"]
        await tab.end()
    assert (await bob.follow(group)).code == "FORBIDDEN_READ"


async def test_a_frozen_conversation_goes_on(serve: MakePeople) -> None:
    person = await serve(Rule().hooks, room_controls=True, **SELDOM)
    alice, mona = person("alice"), person("mona")
    group = await alice.group("bob")
    async with mona.tab(following=[group]) as tab:
        answer = await alice.call("PATCH", f"/conversations/{group}", json={"frozen": True})
        assert answer.status == 200
        assert (await tab.event("conversation.updated"))["conversation"]["frozen"]
        await alice.send(group, "by an admin")
        assert await tab.bodies(1) == ["by an admin"]


@pytest.mark.parametrize("happen", [delete, add])
async def test_what_ends_it_while_it_opens(serve: MakePeople, happen: Ending) -> None:
    """After the right was checked, and before the stream is subscribed."""
    person = await serve(Rule().hooks, **SELDOM)
    alice, mona = person("alice"), person("mona")
    group = await alice.group("bob")

    async def load(*given: Any) -> tuple[Snapshot, ...]:
        found = await following.load_followed(*given)
        await happen(person, group)
        await alice.told_all()
        return found

    with patch.object(service, "load_followed", load):
        async with mona.tab(following=[group]) as tab:
            await tab.end()
    assert await mona.chat_streams() == 0


async def test_a_later_state_is_for_supervisors_too(serve: MakePeople) -> None:
    """It is limited to those who are in the conversation by then, because of those who are not any
    more; a supervisor never was."""
    person = await serve(Rule().hooks, **SELDOM)
    alice, bob, mona = person("alice"), person("bob"), person("mona")
    group = await alice.group("bob")
    later = Event(
        index=1,
        conversation_id=group,
        encode=lambda: frame_from(b"event: mine.later\ndata: {}\n\n"),
        audience=frozenset({"alice"}),
    )
    async with mona.tab(following=[group]) as monas, bob.tab(following=[group]) as bobs:
        await alice.chat._live.hub.publish(later)
        await alice.send(group, "hello")
        assert await heard(monas) == ["mine.later", "message.created"]
        assert await heard(bobs) == ["message.created"]


async def heard(tab: Tab) -> list[str | None]:
    def is_message(frame: Frame) -> bool:
        return frame.event == "message.created"

    frames = await tab.until(is_message)
    # Only names that the description does not have, as of a host's plugin.
    return [frame.event for frame in frames]


async def test_it_counts_as_a_stream_of_its_user(serve: MakePeople) -> None:
    person = await serve(Rule().hooks, streams_per_user=1, **SELDOM)
    mona, group = person("mona"), await person("alice").group("bob")
    async with mona.tab(following=[group]):
        assert (await mona.follow(group)).code == "RATE_LIMITED"


async def test_a_supervisor_searches_the_conversation(serve: MakePeople) -> None:
    """Only where the search names it: without a name a search is for participants."""
    rule = Rule()
    person = await serve(rule.hooks, **SELDOM)
    alice, mona = person("alice"), person("mona")
    group = await alice.group("bob")
    await alice.send(group, "a lost parcel")
    found = await mona.listed(f"/search/messages?q=parcel&conversationId={group}")
    assert [message["body"] for message in found] == ["a lost parcel"]
    assert await mona.listed("/search/messages?q=parcel") == []
    rule.refused.add(group)
    refused = await mona.get(f"/search/messages?q=parcel&conversationId={group}")
    assert (refused.status, refused.code) == (403, "FORBIDDEN_READ")


async def test_several_processes(serve: MakePeople) -> None:
    """What another process writes and deletes is followed as well."""
    one, two = [await serve(Rule().hooks, **SELDOM) for _ in range(2)]
    alice, mona = one("alice"), two("mona")
    group = await alice.group("bob")
    async with mona.tab(following=[group]) as tab, asyncio.timeout(PATIENCE):
        await alice.send(group, "hello")
        assert await tab.bodies(1) == ["hello"]
        await delete(one, group)
        await tab.end()


async def test_heartbeats_as_events(serve: MakePeople) -> None:
    person = await serve(Rule().hooks, **SELDOM)
    mona, group = person("mona"), await person("alice").group("bob")
    url = f"/api/chat/stream?conversationIds={group}&heartbeat=event"
    async with mona.client.get(url, headers={"X-User": "mona"}) as response:
        tab = Tab(response)
        assert [(await tab.next()).event for _ in range(2)] == ["stream.opened", "stream.ping"]
