"""Positions in a deleted conversation are like those in one that the reader has left."""

import asyncio
from typing import Any

import pytest

from chat_aio.store import deleted_conversations
from chat_aio.store.deletion import NEWEST_POSITIONS, OLDER_POSITIONS, _sampled
from tests.conftest import Database, MakePeople
from tests.support.ageing import age
from tests.support.deleted import settled
from tests.support.people import Frame, Person


def says(body: str) -> Any:
    return lambda frame: frame.event == "message.created" and frame.data["message"]["body"] == body


async def replayed(reader: Person, position: str, last: str) -> list[Frame]:
    async with reader.tab(position) as tab:
        return [frame for frame in await tab.until(says(last)) if frame.event]


@pytest.mark.parametrize("process", ["the same", "another"])
async def test_what_was_missed_elsewhere_is_replayed(
    serve: MakePeople, database: Database, process: str
) -> None:
    person = await serve()
    alice, bob = person("alice"), person("bob")
    order, direct = await alice.group("bob"), await alice.direct("bob")
    for number in range(3):
        await alice.send(order, f"gone {number}")
    await age(database, minutes=5)
    await alice.send(direct, "missed")
    await alice.chat.conversations.delete_conversation("shop", order)
    await settled(database, order)
    if process == "another":
        bob = (await serve(replay_buffer_seconds=0))("bob")
    await bob.told_all()
    for seq in (1, 3):
        frames = await replayed(bob, f"{order}:{seq}", "missed")
        assert {frame.event for frame in frames} == {"message.created"}
        assert {frame.data["conversationId"] for frame in frames} == {direct}


async def test_a_number_that_it_never_had(serve: MakePeople, database: Database) -> None:
    person = await serve(replay_buffer_seconds=0)
    alice = person("alice")
    order = await alice.group("bob")
    await alice.send(order, "gone")
    await alice.chat.conversations.delete_conversation("shop", order)
    await settled(database, order)
    async with person("bob").tab(f"{order}:2") as tab:
        assert (await tab.event("stream.reset"))["reason"] == "position_unknown"
    async with person("bob").tab(f"{order}:1") as tab:
        assert (await tab.next()).event is None


async def test_a_stream_that_resumes_while_it_is_deleted(
    serve: MakePeople, database: Database
) -> None:
    """Each reconnect either tells of the removal or shows nothing of the conversation."""
    person = await serve()
    alice, bob = person("alice"), person("bob")

    async def delete(order: str, direct: str) -> None:
        await alice.chat.conversations.delete_conversation("shop", order)
        await alice.send(direct, "after")

    for number in range(6):
        order, direct = await alice.group("bob"), await alice.direct("bob")
        await alice.send(order, "gone")
        position = f"{order}:1"

        frames, _ = await asyncio.gather(replayed(bob, position, "after"), delete(order, direct))
        kinds = [frame.event for frame in frames]
        assert "stream.reset" not in kinds, number
        await settled(database, order)


def test_few_positions_are_kept_of_many_messages() -> None:
    """The newest all, older ones at equal distances; none that retention has removed."""
    most = NEWEST_POSITIONS + 2 * OLDER_POSITIONS
    for floor, last in ((0, 0), (0, 1), (0, 64), (0, 65), (0, 200), (0, 100_000), (90, 100)):
        head: Any = {"floorSeq": floor, "seq": last}
        found = _sampled(head)
        assert len(found) <= most
        assert found == sorted({*found})
        assert [*range(max(floor, last - NEWEST_POSITIONS) + 1, last + 1)] == found[-64:]
        assert found[:1] == ([floor + 1] if last > floor else [])


def test_a_time_is_never_too_late() -> None:
    row: Any = {"positions": [{"seq": seq, "at": seq} for seq in (10, 20, 30)]}
    times = [deleted_conversations.time_of(row, seq) for seq in (9, 10, 19, 20, 31)]
    assert times == [None, 10, 10, 20, 30]
