"""`chat-aio conversations delete`: by an operator, killed half-way, and continued."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chat_aio.actions.context import new_id, utc_now
from chat_aio.store.messages import new_message
from chat_aio.store.removals import LEASE, Removals
from tests.admin.deleting import filled_group
from tests.admin.running import AS_MOD, DO, People, Tool, found_by, run
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.checking import expect_no_violation
from tests.support.deleted import KEPT, naming, settled
from tests.support.processes import ROOT, without_own_variables

DELETE = ("conversations", "delete")


@pytest.fixture
async def people(serve: MakePeople) -> People:
    return await serve()


@pytest.fixture
def tool(database: Database, client_url: str) -> Tool:
    async def call(*arguments: str) -> Any:
        place = {"CHAT_AIO_MONGO_URL": client_url, "CHAT_AIO_DATABASE": database.name}
        return await run(*arguments, **place)

    return call


@asynccontextmanager
async def command(database: Database, url: str, *words: str) -> AsyncIterator[Any]:
    """The command in a process of its own."""
    place = {"CHAT_AIO_MONGO_URL": url, "CHAT_AIO_DATABASE": database.name}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "chat_aio", *words),
        env=without_own_variables() | place,
        cwd=ROOT,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def killed_half_way(
    database: Database, mongo_url: str, people: People, tool: Tool, *, messages: int, members: int
) -> None:
    group = await filled_group(database, messages, members)
    other = await people("user-1").group("user-2")
    kept = await people("user-1").send(other, "stays")
    await people("user-2").told_all()
    # The chat that runs would go on with the rest at its next look.
    await people("user-2").chat._context.removals.close()
    words = (*DELETE, group, *DO)
    removed = [{"$match": {"operationType": "delete"}}]
    session = database.client.start_session()
    async with session, await session.start_transaction():
        # However late the command is killed: in the middle it waits for this transaction.
        middle, locked = {"conversationId": group, "seq": messages // 2}, {"$set": {"body": "x"}}
        await database["messages"].update_one(middle, locked, session=session)
        async with (
            people("user-2").tab() as tab,
            # Before the command starts.
            await database["messages"].watch(removed, batch_size=1) as changes,
            command(database, mongo_url, *words) as process,
            asyncio.timeout(120),
        ):
            await changes.next()
            process.kill()
            event = await tab.event("participant.removed")
            assert len(event["affectedUserIds"]) == members
        await session.abort_transaction()
    left = await database["messages"].count_documents({"conversationId": group})
    assert 0 < left < messages
    answer = await people("user-1").get(f"/conversations/{group}/messages")
    assert answer.code == "CONVERSATION_NOT_FOUND"
    # The process that works has taken it for a while; then a check names it.
    assert (await tool("check", "--json")).code == 0
    rows = database["deleted_conversations"]
    await rows.update_one({"_id": group}, {"$set": {"dueAt": utc_now() - timedelta(seconds=1)}})
    (found,) = found_by(await tool("check", "--json"))["violations"]
    assert (found["kind"], found["id"]) == ("deletion.unfinished", group)
    again = await tool(*DELETE, group, *DO, "--json")
    assert again.json["deletedBefore"] == 1
    await settled(database, group)
    assert (await naming(database, group)).keys() <= KEPT
    assert await database["departures"].count_documents({"conversationId": group}) == members
    assert await people("user-1").listed(f"/conversations/{other}/messages") == [kept]
    await expect_no_violation(database)


async def test_killed_half_way(
    database: Database, client_url: str, people: People, tool: Tool
) -> None:
    await killed_half_way(database, client_url, people, tool, messages=6_000, members=16)


@pytest.mark.long
async def test_a_large_one_killed_half_way(
    database: Database, client_url: str, people: People, tool: Tool
) -> None:
    await killed_half_way(database, client_url, people, tool, messages=100_000, members=256)


async def test_the_plan_and_the_result(database: Database, people: People, tool: Tool) -> None:
    alice = people("alice")
    group, direct = await alice.group("bob"), await alice.direct("bob")
    for number in range(3):
        await alice.send(group, f"{number}")
    planned = await tool(*DELETE, group, direct, *AS_MOD, "--dry-run", "--json")
    assert planned.json == {
        "dryRun": True,
        "would": "delete 3 messages in 2 conversations",
        "deleted": {"messages": 3, "conversations": 2},
        "deletedBefore": 0,
    }
    assert (await alice.get(f"/conversations/{group}")).status == 200
    refused = await tool(*DELETE, group, *AS_MOD)
    assert refused.code == 2, refused
    unknown = await tool(*DELETE, group, "unknown", *DO)
    assert "there is no conversation unknown" in unknown.refusal
    assert (await alice.get(f"/conversations/{group}")).status == 200
    done = await tool(*DELETE, group, direct, *DO, "--reason", "cancelled", "--json")
    assert done.json == {"deleted": {"messages": 3, "conversations": 2}, "deletedBefore": 0}
    again = await tool(*DELETE, group, *DO, "--json")
    assert again.json == {"deleted": {"messages": 0, "conversations": 0}, "deletedBefore": 1}
    entries = await database["audit"].find({"action": "delete-conversation"}).to_list(None)
    assert [entry["details"]["reason"] for entry in entries] == ["cancelled"] * 2
    assert {entry["actorUserId"] for entry in entries} == {"mod"}
    assert (await alice.get(f"/conversations/{group}")).code == "CONVERSATION_NOT_FOUND"


async def test_a_hold_is_named(database: Database, people: People, tool: Tool) -> None:
    group = await people("alice").group("bob")
    held = await tool("legal-hold", "place", "user", "bob", "--reason", "case 12", *AS_MOD)
    assert held.code == 0, held
    refused = await tool(*DELETE, group, *DO)
    assert f"conversation {group}" in refused.refusal
    assert "legal hold" in refused.refusal
    assert (await people("alice").get(f"/conversations/{group}")).status == 200


async def test_another_process_continues(make_chat: MakeChat, database: Database) -> None:
    """Once the process that has begun has not been heard of for a while; later it looks again."""
    group = await filled_group(database, 300, 4)
    first, second = await make_chat(), await make_chat()
    await first._context.removals.close()
    await first.conversations.delete_conversation("host", group)
    rows = database["deleted_conversations"]
    # As if the first process had taken it, and died.
    lease = {"$set": {"dueAt": utc_now() + LEASE}}
    await rows.update_one({"_id": group}, lease)
    removals: Removals = second._context.removals
    assert await removals.take() is None
    await rows.update_one({"_id": group}, {"$set": {"dueAt": utc_now()}})
    removals.wake()
    await settled(database, group)
    # What was written too late is found by the second look.
    late: Any = {**new_message(new_id(), group, "user-1", "late", at=utc_now()), "seq": 301}
    await database["messages"].insert_one(late)
    await rows.update_one({"_id": group}, {"$set": {"dueAt": utc_now()}})
    removals.wake()
    assert "dueAt" not in await settled(database, group, "removed")
    assert (await naming(database, group)).keys() <= KEPT


async def test_it_is_not_imported_again(
    database: Database, people: People, tool: Tool, tmp_path: Path
) -> None:
    """A group's id is used up. A pair's conversation comes back under its next id."""
    alice, file = people("alice"), tmp_path / "kept.jsonl"
    group, direct = await alice.group("bob"), await alice.direct("bob")
    for conversation_id in (group, direct):
        await alice.send(conversation_id, "kept")
    assert (await tool("conversations", "export", group, "--output", str(file))).code == 0
    assert (await tool(*DELETE, group, direct, *DO)).code == 0
    refused = await tool("conversations", "import", str(file))
    assert f"conversation {group} was deleted" in refused.errors
    assert await database["messages"].count_documents({}) == 0
    other = tmp_path / "other.jsonl"
    other.write_text(file.read_text().replace(group, "another-id"))
    assert (await tool("conversations", "import", str(other))).code == 0
    (message,) = await alice.listed("/conversations/another-id/messages")
    assert message["body"] == "kept"
    await expect_no_violation(database)
