"""`chat-aio check`: a healthy database has no violation; what is planted is named, and no more."""

import asyncio
from collections import Counter
from typing import Any
from unittest.mock import patch

from chat_aio.actions.maintenance.check.database import violations_in
from chat_aio.actions.maintenance.repair import repair
from chat_aio.store import unread
from chat_aio.store.database import Database as Store
from tests.admin.cases import CASES
from tests.admin.planting import all_of, restore
from tests.admin.running import People, Tool, found_by
from tests.admin.world import make_world
from tests.admin.writers import ACTS, Act
from tests.conftest import Database
from tests.support.checking import expect_no_violation


async def test_what_is_planted_is_named(people: People, database: Database) -> None:
    world = await make_world(people)
    await expect_no_violation(database)
    before = await all_of(database)
    named = {}
    for name, case in CASES.items():
        await case.plant(database, world)
        place = getattr(world, case.place) if case.place else None
        found = await violations_in(Store(database), place)
        named[name] = {violation.kind for violation in found}
        assert all(
            violation.id and violation.collection and violation.found != violation.expected
            for violation in found
        )
        would = await repair(Store(database), world.group, dry_run=True)
        assert bool(would) is case.mends, name
        await restore(database, before, case)
    assert named == {name: case.kinds for name, case in CASES.items()}
    await expect_no_violation(database)


async def test_unread_counts_are_counted_again(people: People, database: Database) -> None:
    world = await make_world(people)
    reader = unread._reader

    def late(participant: Any, *others: Any, **marks: Any) -> Any:
        later: Any = {**participant, "lastReadSeq": max(1, participant["lastReadSeq"])}
        return reader(later, *others, **marks)

    with patch.object(unread, "_reader", late):
        found = await violations_in(Store(database), world.group)
    assert {(violation.kind, violation.found) for violation in found} == {
        ("unread.count", f"{shown} of {user_id}") for user_id, shown in (("carol", 3), ("erin", 5))
    }


async def test_writers_at_work_are_no_violation(people: People, database: Database) -> None:
    """Whatever is written meanwhile: each look is a snapshot."""
    world = await make_world(people)
    over = asyncio.Event()
    turns: Counter[str] = Counter()

    async def keep_on(act: Act) -> None:
        while not over.is_set():
            await act(people, world, turns[act.__name__])
            turns[act.__name__] += 1

    async with asyncio.TaskGroup() as tasks:
        for act in (*ACTS, *ACTS):
            tasks.create_task(keep_on(act))
        try:
            while min(turns[act.__name__] for act in ACTS) < 5:
                assert await violations_in(Store(database)) == []
        finally:
            over.set()
    await expect_no_violation(database)


async def test_the_command_checks(people: People, database: Database, tool: Tool) -> None:
    world = await make_world(people)
    clean, text = await asyncio.gather(tool("check", "--json"), tool("check"))
    assert (clean.json["violations"], clean.json["checked"]["messages"]) == ([], 9)
    assert (text.code, text.output.splitlines()[-1]) == (0, "No violation.")
    await CASES["a wrong count of a reader"].plant(database, world)
    await CASES["a reaction twice"].plant(database, world)
    await CASES["another's mute"].plant(database, world)
    everywhere, here, elsewhere, nowhere, table, lenient = await asyncio.gather(
        tool("check", "--json"),
        tool("check", "--json", "--conversation", world.group),
        tool("check", "--conversation", world.direct),
        tool("check", "--conversation", "nowhere"),
        tool("check"),
        tool("check", "--dry-run"),
    )
    kinds = {violation["kind"] for violation in found_by(everywhere)["violations"]}
    assert kinds == {"sent.count", "reactions.repeated", "mute.id"}
    (sent,) = [
        violation for violation in found_by(here)["violations"] if violation["kind"] == "sent.count"
    ]
    assert sent == {
        "kind": "sent.count",
        "collection": "conversations",
        "id": world.group,
        "conversationId": world.group,
        "is": "-7 of carol",
        "shouldBe": 2,
    }
    assert (len(found_by(here)["violations"]), elsewhere.code) == (2, 0)
    assert nowhere.refusal == "Error: There is no such conversation"
    assert (table.code, "reactions.repeated  messages" in table.output) == (3, True)
    assert lenient.code == 2
