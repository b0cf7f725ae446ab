"""`stream.reset` in place of a replay that would not be complete."""

from typing import Any

from tests.conftest import Database, MakePeople
from tests.live.test_replay_from_storage import returning
from tests.support.ageing import age


async def test_what_cannot_be_replayed_completely_says_so(serve: MakePeople) -> None:
    person = await serve(replay_limit=3)
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for number in range(6):
        await alice.send(conversation_id, str(number))
    await alice.told_all()
    async with alice.tab(f"{conversation_id}:3") as tab:
        assert await tab.bodies(3) == ["3", "4", "5"]
    async with alice.tab(f"{conversation_id}:2") as tab:
        reset = await tab.event("stream.reset")
        assert reset == {"type": "stream.reset", "reason": "too_many_missed"}
        assert (await tab.next()).id == f"{conversation_id}:6"


async def test_what_cannot_be_replayed_from_storage_says_so(
    person: Any, serve: MakePeople, database: Database
) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for number in range(6):
        await alice.send(conversation_id, str(number))
    await age(database)
    async with returning(serve, "bob", f"{conversation_id}:3", replay_limit=3) as tab:
        assert await tab.bodies(3) == ["3", "4", "5"]
    for bounds in ({"replay_limit": 3}, {"replay_bytes": 1_500}):
        async with returning(serve, "bob", f"{conversation_id}:2", **bounds) as tab:
            assert (await tab.event("stream.reset"))["reason"] == "too_many_missed"
            assert (await tab.next()).id == f"{conversation_id}:6"


async def test_a_position_that_was_removed_says_so(
    person: Any, serve: MakePeople, database: Database
) -> None:
    alice = person("alice")
    conversation_id = await alice.direct("bob")
    for number in range(3):
        await alice.send(conversation_id, str(number))
    await database["messages"].delete_many({"seq": {"$lte": 2}})
    async with returning(serve, "bob", f"{conversation_id}:1") as tab:
        assert (await tab.event("stream.reset"))["reason"] == "position_removed"
        assert (await tab.next()).id == f"{conversation_id}:3"
