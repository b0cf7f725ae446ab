"""Who is told of a message, and who is not."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from contextvars import ContextVar
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Hooks
from chat_aio.actions import audience
from chat_aio.hooks import PermissionContext
from chat_aio.plugins.notifications import deciding
from chat_aio.plugins.notifications.shown import Shown
from chat_aio.store.database import Database as Store
from tests.conftest import Database, MakePeople
from tests.plugins.notifications.telling import Told, all_told, eventually, quick, ready
from tests.support.deleted import settled
from tests.support.moderating import ban, block, is_mod
from tests.support.people import PATIENCE, Person

reads = ContextVar[list[int]]("reads")
People = Callable[[str], Person]
MODERATED = Hooks(can_moderate=is_mod)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
async def people(serve: MakePeople, told: Told, database: Database) -> People:
    made = await serve(MODERATED, plugins=[quick(told)], hide_blocked_users=True)
    await ready(database)
    return made


@asynccontextmanager
async def undecided() -> AsyncIterator[None]:
    """Recipients are decided after the block only: on a busy machine a message may be due before
    the next request is answered."""
    ended, decide = asyncio.Event(), deciding.Decider.decide

    async def later(self: Any, message_ids: Any) -> Any:
        await asyncio.wait_for(ended.wait(), PATIENCE)
        return await decide(self, message_ids)

    with patch.object(deciding.Decider, "decide", later):
        try:
            yield
        finally:
            ended.set()


async def noted_as_shown(database: Database, conversation_id: str, message: Any) -> None:
    """Wait until it is stored that a stream has shown a message: that is later than it was told."""
    shown = {"conversationId": conversation_id, "last": {"$gte": message["seq"]}}

    async def is_noted() -> bool:
        return await database["notification_shown"].find_one(shown) is not None

    await eventually(is_noted)


async def test_all_but_the_sender_are_told(people: People, told: Told, database: Database) -> None:
    alice = people("alice")
    group = await alice.group("bob", "carol", name="Crew")
    sent = await alice.send(group, "hello", mentions=["bob"])
    await all_told(database, 1)
    assert told.pairs == [("bob", "hello"), ("carol", "hello")]
    (of_bob,) = (notification for notification in told.all if notification.user_id == "bob")
    assert (of_bob.mentioned, of_bob.count, of_bob.message.id) == (True, 1, sent["id"])
    assert of_bob.conversation.name == "Crew"
    assert len({notification.id for notification in told.all}) == 2


async def test_nobody_is_told_of_a_deleted_conversation(
    people: People, told: Told, database: Database
) -> None:
    alice = people("alice")
    group, other = await alice.group("bob"), await alice.group("bob")
    async with undecided():
        await alice.send(group, "gone")
        await alice.chat.conversations.delete_conversation("shop", group)
        await settled(database, group)
    await alice.send(other, "stays")

    async def is_told() -> bool:
        return bool(told.all)

    await eventually(is_told)  # The earlier message would have been decided before.
    assert told.pairs == [("bob", "stays")]
    assert await database["notifications"].count_documents({"conversationId": group}) == 0


async def expect_not_told(
    people: People, told: Told, database: Database, act: Any, sabotage: AbstractContextManager[Any]
) -> None:
    """Bob is not told of a message after `act`; without the guard he is."""
    for number, guarded in enumerate((True, False)):
        alice = people("alice")
        group = await alice.group("bob", "carol")
        async with undecided():
            await act(group, await alice.send(group, f"m{number}"))
        if guarded:
            await all_told(database, 1)
            assert told.pairs == [("carol", "m0")]
        else:
            with sabotage:
                await all_told(database, 2)
            assert ("bob", "m1") in told.pairs


def passes(name: str) -> AbstractContextManager[Any]:
    """An exclusion of the audience that excludes nobody."""

    async def everybody(_: Any, asked: Any) -> Any:
        return [*asked]

    return patch.object(audience, name, everybody)


async def test_who_has_read_it_is_not_told(people: People, told: Told, database: Database) -> None:
    unread = audience._unread

    def of_all(context: Any, message: Any, conversation: Any) -> Any:
        nothing = [
            {**participant, "lastReadSeq": 0} for participant in conversation["participants"]
        ]
        of_nothing: Any = {**conversation, "participants": nothing}
        return unread(context, message, of_nothing)

    async def read(group: str, sent: Any) -> None:
        await people("bob").read(group, sent["id"])

    await expect_not_told(people, told, database, read, patch.object(audience, "_unread", of_all))


async def test_who_has_muted_the_conversation_is_not_told(
    people: People, told: Told, database: Database
) -> None:
    async def mute(group: str, _: Any) -> None:
        await people("bob").post("/moderation/mutes", {"conversationId": group})

    await expect_not_told(people, told, database, mute, passes("_unmuted"))


async def test_who_is_banned_is_not_told(people: People, told: Told, database: Database) -> None:
    async def keep_out(*_: Any) -> None:
        await ban(people("mod"), "bob")

    await expect_not_told(people, told, database, keep_out, passes("_unbanned"))


async def test_who_is_kept_apart_from_the_sender_is_not_told(
    people: People, told: Told, database: Database
) -> None:
    # The second group is made without bob, whom alice can no longer add.
    alice = people("alice")
    first, second = await alice.group("bob", "carol"), await alice.group("bob", "carol")
    async with undecided():
        await alice.send(first, "m0")
        await block(people("bob"), "alice")
    await all_told(database, 1)
    assert told.pairs == [("carol", "m0")]
    await alice.send(second, "m1")
    with passes("_together"):
        await all_told(database, 2)
    assert ("bob", "m1") in told.pairs


async def test_nobody_is_told_in_a_blocked_direct_conversation(
    people: People, told: Told, database: Database
) -> None:
    alice = people("alice")
    direct = await alice.direct("bob")
    async with undecided():
        await alice.send(direct, "hello")
        await block(people("bob"), "alice")
    await all_told(database, 1)
    assert told.pairs == []


async def test_whose_stream_has_shown_it_is_not_told(
    people: People, told: Told, database: Database
) -> None:
    async def nobody(_: Any, asked: Any) -> dict[str, set[str]]:
        return {entry.message.id: set() for entry in asked}

    async with people("bob").tab() as tab:

        async def see(group: str, sent: Any) -> None:
            while (await tab.next()).event != "message.created":
                pass
            await noted_as_shown(database, group, sent)

        await expect_not_told(people, told, database, see, patch.object(Shown, "among", nobody))


async def test_what_came_before_a_stream_was_opened_is_told(
    people: People, told: Told, database: Database
) -> None:
    """Also if a later message of the same conversation was shown."""
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    await alice.send(group, "before")
    async with bob.tab() as tab:
        async with undecided():
            sent = await alice.send(group, "while open")
            await tab.event("message.created")
            await noted_as_shown(database, group, sent)
        await all_told(database, 2)
    assert told.pairs == [("bob", "before")]


async def test_deleted_messages_and_who_has_left_are_left_out(
    people: People, told: Told, database: Database
) -> None:
    alice = people("alice")
    group = await alice.group("bob", "carol")
    async with undecided():
        await alice.delete((await alice.send(group, "gone"))["id"])
        await alice.send(group, "here")
        await people("carol").call(
            "DELETE", f"/conversations/{group}/participants", json={"userId": "carol"}
        )
        await alice.post(f"/conversations/{group}/participants", {"userIds": ["dave"]})
    await all_told(database, 2)
    assert told.pairs == [("bob", "here")]


async def test_a_host_that_hides_a_conversation_is_asked(
    serve: MakePeople, told: Told, database: Database
) -> None:
    def can_read(asked: PermissionContext) -> bool:
        if asked.user_id == "carol":
            raise RuntimeError("the host's own")
        return asked.user_id != "bob"

    people = await serve(Hooks(can_read=can_read), plugins=[quick(told)])
    await ready(database)
    group = await people("alice").group("bob", "carol", "dave")
    await people("alice").send(group, "hello")
    await all_told(database, 1)
    assert told.pairs == [("dave", "hello")]


async def test_levels(people: People, told: Told, database: Database) -> None:
    alice, bob = people("alice"), people("bob")
    private = await alice.group("bob", "carol")
    public = await alice.group("bob", "carol", visibility="public")

    async def level(group: str, value: str | None) -> Any:
        answer = await bob.call(
            "PUT", f"/conversations/{group}/notifications", json={"level": value}
        )
        assert answer.status == 200, answer
        assert (await bob.get(f"/conversations/{group}/notifications")).json == answer.json
        return answer.json

    assert (await bob.get(f"/conversations/{public}/notifications")).json == {
        "level": "mentions",
        "isDefault": True,
    }
    assert await level(private, "none") == {"level": "none", "isDefault": False}
    await alice.send(private, "1", mentions=["bob"])
    await all_told(database, 1)
    await level(private, "mentions")
    await alice.send(private, "2")
    await alice.send(private, "3", mentions=["bob"])
    await all_told(database, 3)
    assert await level(private, None) == {"level": "all", "isDefault": True}
    await alice.send(private, "4")
    await alice.send(public, "5")
    await alice.send(public, "6", mentions=["bob"])
    await all_told(database, 6)
    assert told.of("bob") == ["3", "4", "6"]
    assert told.of("carol") == ["1", "2", "3", "4"]
    stranger = await people("eve").get(f"/conversations/{private}/notifications")
    assert stranger.code == "FORBIDDEN_READ"


async def test_a_decision_costs_the_same_for_any_number_of_members(
    people: People, told: Told, database: Database
) -> None:
    alice = people("alice")
    few = await alice.group("u0", "u1")
    many = await alice.group(*(f"u{number}" for number in range(60)))
    counts = []
    decide = deciding.Decider.decide

    async def counted(self: Any, message_ids: Any) -> Any:
        seen: list[int] = []
        token = reads.set(seen)
        try:
            return await decide(self, message_ids)
        finally:
            reads.reset(token)
            counts.append(len(seen))

    read = Store.read

    async def noted(self: Any, call: Any, **given: Any) -> Any:
        reads.get([]).append(1)
        return await read(self, call, **given)

    with patch.object(deciding.Decider, "decide", counted), patch.object(Store, "read", noted):
        for number, group in enumerate((few, many), start=1):
            await alice.send(group, "hello")
            await all_told(database, number)
    assert len(told.all) == 62
    assert counts[0] == counts[1] > 0
