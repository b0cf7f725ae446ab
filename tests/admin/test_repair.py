"""`chat-aio check --repair`: what follows from the rest is mended, beside people at work."""

import asyncio
import re

from chat_aio.actions.maintenance.check.database import violations_in
from chat_aio.actions.maintenance.repair import repair
from chat_aio.store.database import Database as Store
from tests.admin.cases import CASES
from tests.admin.planting import all_of, restore
from tests.admin.running import People, Tool, found_by
from tests.admin.world import World, make_world
from tests.conftest import Database
from tests.support.checking import expect_no_violation


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


async def test_the_command_repairs(people: People, database: Database, tool: Tool) -> None:
    world = await make_world(people)
    for name in ("a head behind", "a wrong count of a reader", "a reaction twice"):
        await CASES[name].plant(database, world)
    assert (await send(people, world)) >= 500
    planted = await all_of(database)
    would = found_by(await tool("check", "--repair", "--dry-run", "--json"))
    assert await all_of(database) == planted
    # Beside a head that is behind, no count is believed; when that is mended, this one is wrong.
    assert (would["dryRun"], len(would["violations"])) == (True, 2)
    assert {change["what"] for change in would["would"]} == {"head: seq", "counts of sent messages"}
    done = await tool("check", "--repair")
    assert done.code == 3
    assert re.search(rf"{world.group}  head: seq +4 +6\n", done.output), done
    assert "not repaired:\nKIND" in done.output
    assert (await send(people, world)) == 201
    left = found_by(await tool("check", "--repair", "--json"))
    assert ([violation["kind"] for violation in left["violations"]], left["repaired"]) == (
        *(["reactions.repeated"], []),
    )


async def send(people: People, world: World) -> int:
    path = f"/conversations/{world.group}/messages"
    return (await people("alice").post(path, {"body": "is it working?"})).status


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
    sent = [message for mine in await asyncio.gather(*senders) for message in mine]
    await expect_no_violation(database)
    assert sent
    assert await database["messages"].count_documents({"_id": {"$in": sent}}) == len(set(sent))
    assert len(set(sent)) == len(sent)
