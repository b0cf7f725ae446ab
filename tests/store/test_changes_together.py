"""Changes of one conversation that wait for each other go together, and fail apart."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any
from unittest.mock import patch

import pytest
from pymongo.errors import OperationFailure

from chat_aio import Chat, Options
from chat_aio.errors import (
    OUTCOME_UNKNOWN,
    GroupLimitExceeded,
    LastAdminRemaining,
    StorageUnavailable,
)
from chat_aio.store import membership
from chat_aio.store.membership import Decide
from tests.conftest import Database

PEOPLE = 72


@pytest.fixture
async def chats(database: Database) -> AsyncIterator[list[Chat]]:
    """Three processes, as far as the database knows."""
    options = Options(replay_buffer_seconds=1, storage_timeout_seconds=60)
    found = [Chat(database, options=options) for _ in range(3)]
    for chat in found:
        await chat.open()
    yield found
    for chat in found:
        await chat.close()


class Sizes:
    """How many changes each transaction made, tried again ones included."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self._decide_all = membership._decide_all

    async def noted(
        self, database: Any, conversation_id: str, decides: Sequence[Decide], session: Any
    ) -> Any:
        self.seen.append(len(decides))
        return await self._decide_all(database, conversation_id, decides, session)


async def test_all_who_are_added_at_once_are_answered(
    chats: list[Chat], database: Database
) -> None:
    """Through three processes, each made an admin by another one as soon as they are in."""
    group = await chats[0].api.create_group_conversation("alice")

    async def let_in(number: int) -> None:
        one, other = chats[number % 3].api, chats[(number + 1) % 3].api
        await one.add_participants("alice", group.id, [f"user {number}"])
        await other.set_participant_role("alice", group.id, f"user {number}", "admin")

    sizes = Sizes()
    with patch.object(membership, "_decide_all", sizes.noted):
        await asyncio.gather(*map(let_in, range(PEOPLE)))
    found = await chats[0].api.get_conversation("alice", group.id)
    assert len(found.participants) == PEOPLE + 1
    assert set(found.roles.values()) == {"admin"}
    head = await database["counters"].find_one({"_id": group.id})
    kept = await database["conversations"].find_one({"_id": group.id})
    assert head is not None
    assert kept is not None
    assert head["epoch"] == kept["epoch"] < 2 * PEOPLE, "fewer transactions than changes"
    assert max(sizes.seen) > 1


async def test_one_that_is_refused_fails_alone(chats: list[Chat]) -> None:
    """What it wrote before that is undone, and the others are made all the same."""
    chat = chats[0]
    group = await chat.api.create_group_conversation("alice", user_ids=["bob"])
    invite = await chat.api.create_invite("alice", group.id, max_uses=1)
    sizes = Sizes()
    with patch.object(membership, "_decide_all", sizes.noted):
        # Held until one is in a round and two others wait for it.
        async with chat._context.sequencer.hold(group.id):
            changes = (
                chat.api.add_participants("alice", group.id, ["carol"]),
                chat.api.remove_participant("alice", group.id, "alice"),
                chat.api.accept_invite("dan", invite.code),
                chat.api.accept_invite("eve", invite.code),
            )
            changing = asyncio.gather(*changes, return_exceptions=True)
            queue = chat._context.membership._queue
            await until(lambda: group.id in queue and len(queue._by_key[group.id]._waiting) > 1)
        added, left, *joined = await changing
    assert max(sizes.seen) > 1
    assert not isinstance(added, BaseException)
    assert isinstance(left, LastAdminRemaining)
    assert len([outcome for outcome in joined if isinstance(outcome, BaseException)]) == 1
    found = await chat.api.get_conversation("alice", group.id)
    (who,) = found.roles.keys() & {"dan", "eve"}
    assert found.roles.keys() == {"alice", "bob", "carol", who}
    (kept,) = await chat.api.list_invites("alice", group.id)
    assert kept.uses == 1


async def test_a_full_group_takes_as_many_as_there_is_room_for(chats: list[Chat]) -> None:
    group = await chats[0].api.create_group_conversation(
        "alice", user_ids=[f"user {number}" for number in range(250)]
    )
    answers = await asyncio.gather(
        *(
            chats[number % 3].api.add_participants("alice", group.id, [f"late {number}"])
            for number in range(20)
        ),
        return_exceptions=True,
    )
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert {type(error) for error in refused} == {GroupLimitExceeded}
    assert len(answers) - len(refused) == 5


async def test_who_gives_up_before_their_turn_has_changed_nothing(chats: list[Chat]) -> None:
    chat = chats[0]
    group = await chat.api.create_group_conversation("alice")
    async with chat._context.sequencer.hold(group.id):
        first = asyncio.create_task(chat.api.add_participants("alice", group.id, ["bob"]))
        await until(lambda: group.id in chat._context.sequencer._held)
        chat._database.timeout = 0.05
        with pytest.raises(StorageUnavailable) as refusal:
            await chat._context.membership.change(group.id, never)
        chat._database.timeout = 10
    assert str(refusal.value) != OUTCOME_UNKNOWN
    assert (await first).roles.keys() == {"alice", "bob"}


async def test_a_driver_error_of_one_change_is_its_own(chats: list[Chat]) -> None:
    chat, sizes = chats[0], Sizes()
    sequencer = chat._context.sequencer
    group = await chat.api.create_group_conversation("alice")

    async def fails(_: object) -> None:
        raise OperationFailure("not this one", 2)

    bad = chat._context.membership.change(group.id, fails)
    with patch.object(membership, "_decide_all", sizes.noted):
        async with sequencer.hold(group.id):
            tasks: list[asyncio.Future[Any]] = [
                asyncio.create_task(chat.api.add_participants("alice", group.id, ["bob"]))
            ]
            await until(lambda: group.id in sequencer._held)
            tasks += [
                asyncio.ensure_future(bad),
                asyncio.create_task(chat.api.add_participants("alice", group.id, ["carol"])),
            ]
            queue = chat._context.membership._queue
            await until(lambda: len(queue._by_key[group.id]._waiting) == 2)
        first, failed, other = await asyncio.gather(*tasks, return_exceptions=True)
    assert max(sizes.seen) > 1
    assert isinstance(failed, Exception)
    assert not isinstance(first, BaseException)
    assert not isinstance(other, BaseException)
    found = await chat.api.get_conversation("alice", group.id)
    assert found.roles.keys() == {"alice", "bob", "carol"}


async def test_a_queue_whose_callers_have_left_is_let_go_of(chats: list[Chat]) -> None:
    chat = chats[0]
    group = await chat.api.create_group_conversation("alice")
    async with chat._context.sequencer.hold(group.id):
        first = asyncio.create_task(chat.api.add_participants("alice", group.id, ["bob"]))
        await until(lambda: group.id in chat._context.sequencer._held)
        first.cancel()
        await asyncio.wait({first})
        assert group.id in chat._context.membership._queue
    await until(lambda: group.id not in chat._context.membership._queue)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0)


async def never(_: object) -> None:
    raise AssertionError("it was taken back")
