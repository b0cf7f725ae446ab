"""`chat-aio check`: a healthy database has no violation; what is planted is named, and no more."""

import asyncio
import json
import re
from collections import Counter
from typing import Any
from unittest.mock import patch

from chat_aio.actions.maintenance.check import violations_in
from chat_aio.actions.maintenance.repair import repair
from chat_aio.store import indexes, unread
from chat_aio.store.database import COLLECTIONS
from chat_aio.store.database import Database as Store
from tests.admin.cases import CASES
from tests.admin.planting import Case
from tests.admin.running import People, Run, Tool, kept
from tests.admin.world import World, make_world
from tests.admin.writers import ACTS, Act
from tests.conftest import Database
from tests.support.checking import expect_no_violation

KEPT = [each for each in COLLECTIONS if each != "signals"]


async def all_of(database: Database) -> dict[str, list[Any]]:
    return dict(zip(KEPT, await kept(database, *KEPT), strict=True))


async def restore(database: Database, before: dict[str, list[Any]], case: Case) -> None:
    """All as it was, changing no more than was changed."""
    for name, rows in (await all_of(database)).items():
        there = {str(each["_id"]): each for each in rows}
        for each in before[name]:
            if there.pop(str(each["_id"]), None) != each:
                await database[name].replace_one({"_id": each["_id"]}, each, upsert=True)
        await database[name].delete_many({"_id": {"$in": [each["_id"] for each in there.values()]}})
    if case.of_indexes:
        await database["mutes"].drop_index("user_newest")
        await indexes.apply(Store(database))


async def test_what_is_planted_is_named(people: People, database: Database) -> None:
    world = await make_world(people)
    await expect_no_violation(database)
    before = await all_of(database)
    named = {}
    for name, case in CASES.items():
        await case.plant(database, world)
        place = getattr(world, case.place) if case.place else None
        found = await violations_in(Store(database), place)
        named[name] = {each.kind for each in found}
        assert all(each.id and each.collection and each.found != each.expected for each in found)
        would = await repair(Store(database), world.group, dry_run=True)
        assert bool(would) is case.mends, name
        await restore(database, before, case)
    assert named == {name: case.kinds for name, case in CASES.items()}
    await expect_no_violation(database)


async def test_what_follows_from_the_rest_is_mended(people: People, database: Database) -> None:
    """And then people go on in the group, through a server that was there all the time."""
    world = await make_world(people)
    before = await all_of(database)
    for name, case in CASES.items():
        if not case.mends:
            continue
        await case.plant(database, world)
        planted = await all_of(database)
        would = await repair(Store(database), world.group, dry_run=True)
        assert await all_of(database) == planted, name
        assert await repair(Store(database), world.group, dry_run=False) == would, name
        assert await violations_in(Store(database), world.group) == [], name
        await go_on(people, world)
        assert await violations_in(Store(database), world.group) == [], name
        await restore(database, before, case)


async def go_on(people: People, world: World) -> None:
    """A reply is sent, read, and counted."""
    alice, carol = people("alice"), people("carol")
    unread_before = await alice.unread(world.group)
    sent = await carol.send(world.group, "on", threadRootMessageId=world.root)
    assert await alice.unread(world.group) == unread_before + 1
    await alice.read(world.group, sent["id"])
    assert await alice.unread(world.group) == 0


async def test_unread_counts_are_counted_again(people: People, database: Database) -> None:
    world = await make_world(people)
    span = unread._span

    def late(reader: Any, head: Any) -> Any:
        later: Any = {**reader, "lastReadSeq": max(1, reader["lastReadSeq"])}
        return span(later, head)

    with patch.object(unread, "_span", late):
        found = await violations_in(Store(database), world.group)
    assert {(each.kind, each.found) for each in found} == {
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
            while min(turns[each.__name__] for each in ACTS) < 5:
                assert await violations_in(Store(database)) == []
        finally:
            over.set()
    await expect_no_violation(database)


async def test_the_command_checks(people: People, database: Database, tool: Tool) -> None:
    world = await make_world(people)
    clean, text = await asyncio.gather(tool("check", "--json"), tool("check"))
    assert (clean.json["violations"], clean.json["checked"]["messages"]) == ([], 9)
    assert (text.code, text.output.splitlines()[-1]) == (0, "No violation.")
    await CASES["a wrong own count"].plant(database, world)
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
    kinds = {each["kind"] for each in found_by(everywhere)["violations"]}
    assert kinds == {"own.count", "reactions.repeated", "mute.id"}
    (own,) = [each for each in found_by(here)["violations"] if each["kind"] == "own.count"]
    assert own == {
        "kind": "own.count",
        "collection": "conversations",
        "id": world.group,
        "conversationId": world.group,
        "is": "{'from': 0, 'to': 6, 'count': 9} of carol",
        "shouldBe": "a count of 2",
    }
    assert (len(found_by(here)["violations"]), elsewhere.code) == (2, 0)
    assert nowhere.refusal == "Error: There is no such conversation"
    assert (table.code, "reactions.repeated  messages" in table.output) == (3, True)
    assert lenient.code == 2


async def test_the_command_repairs(people: People, database: Database, tool: Tool) -> None:
    world = await make_world(people)
    for name in ("a head behind", "a wrong own count", "a reaction twice"):
        await CASES[name].plant(database, world)
    assert (await send(people, world)) >= 500
    planted = await all_of(database)
    would = found_by(await tool("check", "--repair", "--dry-run", "--json"))
    assert await all_of(database) == planted
    assert (would["dryRun"], len(would["violations"])) == (True, 3)
    assert {each["what"] for each in would["would"]} == {"head: seq", "own count of carol"}
    done = await tool("check", "--repair")
    assert done.code == 3
    assert re.search(rf"{world.group}  head: seq +4 +6\n", done.output), done
    assert "not repaired:\nKIND" in done.output
    assert (await send(people, world)) == 201
    left = found_by(await tool("check", "--repair", "--json"))
    assert ([each["kind"] for each in left["violations"]], left["repaired"]) == (
        *(["reactions.repeated"], []),
    )


async def send(people: People, world: World) -> int:
    path = f"/conversations/{world.group}/messages"
    return (await people("alice").post(path, {"body": "is it working?"})).status


def found_by(run: Run) -> Any:
    """The document of a check that has found something."""
    assert run.code == 3, run
    return json.loads(run.output)


async def test_repairing_beside_writers(people: People, database: Database) -> None:
    """What is mended stays so, and nobody's message is lost; people repeat what was refused."""
    world = await make_world(people)
    over = asyncio.Event()
    path = f"/conversations/{world.group}/messages"

    async def keep_on(number: int) -> list[str]:
        sent: list[str] = []
        while not over.is_set():
            given = {"body": "on", "clientMessageId": f"{number} {len(sent)}"}
            answer = await people("bob").post(path, {**given, "threadRootMessageId": world.root})
            if answer.status in (200, 201):
                sent.append(answer.json["message"]["id"])
        return sent

    senders = [asyncio.create_task(keep_on(number)) for number in range(8)]
    for name in ("a counter's epoch ahead", "a head behind", "no head", "too many replies"):
        await CASES[name].plant(database, world)
        await repair(Store(database), world.group, dry_run=False)
        await people("alice").send(world.group, "on again")
    over.set()
    sent = [each for mine in await asyncio.gather(*senders) for each in mine]
    await expect_no_violation(database)
    assert sent
    assert await database["messages"].count_documents({"_id": {"$in": sent}}) == len(set(sent))
    assert len(set(sent)) == len(sent)
