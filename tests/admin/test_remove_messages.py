"""`chat-aio moderation remove-messages`: beside a chat that runs."""

import asyncio
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio.actions.context import Context
from chat_aio.actions.maintenance import remove_messages
from chat_aio.store.maintenance import remove_messages as stored
from chat_aio.store.maintenance.find_messages import MessageCriteria
from chat_aio.store.maintenance.progress import Counts
from chat_aio.store.transactions import transact
from tests.admin.running import AS_MOD, Moderate, People, kept
from tests.conftest import Database

MANY = ("remove-messages", "--user", "mallory", *AS_MOD)
OF_MALLORY = MessageCriteria(user_id="mallory")


async def live(database: Database) -> list[str]:
    rows = database["messages"].find({"deletedAt": None}).sort("seq", 1)
    return [row["body"] for row in await rows.to_list(None)]


async def test_what_a_user_has_sent_is_gone_for_all(
    people: People, moderate: Moderate, database: Database
) -> None:
    alice, mallory = people("alice"), people("mallory")
    groups = [await alice.group("mallory") for _ in range(2)]
    for group in groups:
        await alice.send(group, "kept")
        sent = [await mallory.send(group, f"spam {number}") for number in range(3)]
        await mallory.delete(sent[0]["id"])
    before = await kept(database, "messages", "audit")
    would = await moderate(*MANY, "--dry-run")
    what = "4 messages in 2 conversations of mallory"
    assert would.output == f"Would remove {what}. Dry run: nothing was written.\n"
    assert await kept(database, "messages", "audit") == before
    async with alice.tab() as tab:
        done = await moderate(*MANY, "--yes")
        told = [(await tab.event("message.deleted"))["message"] for _ in range(4)]
    assert done.output == f"Removed {what}.\n"
    assert {frame["body"] for frame in told} == {""}
    assert await live(database) == ["kept", "kept"]
    rows = await database["audit"].find().to_list(None)
    assert {row["targetId"] for row in rows} == {frame["id"] for frame in told}
    assert {(row["action"], row["actorUserId"]) for row in rows} == {("remove-message", "mod")}
    again = await moderate(*MANY, "--yes", "--json")
    assert again.json == {"removed": {"messages": 0, "conversations": 0}}
    assert len(await database["audit"].find().to_list(None)) == 4


async def test_options_narrow_what_is_removed(
    people: People, moderate: Moderate, database: Database
) -> None:
    alice, mallory = people("alice"), people("mallory")
    here, there = [await alice.group("mallory") for _ in range(2)]
    for group in (here, there):
        for text in ("one", "buy two", "buy three"):
            last = await mallory.send(group, text)
    narrowed = ("--conversation", here, "--contains", "BUY", "--until", last["createdAt"], "--yes")
    assert (await moderate(*MANY, *narrowed)).output.startswith("Removed 2 messages in 1 ")
    since = ("--since", last["createdAt"], "--yes")
    assert (await moderate(*MANY, *since)).output.startswith("Removed 1 message in 1 ")
    assert await live(database) == ["one", "one", "buy two"]


async def test_nobody_is_asked_where_nobody_is(moderate: Moderate) -> None:
    refused = await moderate(*MANY)
    assert (refused.code, "--yes" in refused.errors) == (2, True)


@pytest.fixture
async def spam(people: People) -> Context:
    """Ten messages of mallory, and the chat's parts."""
    mallory = people("mallory")
    group = await mallory.group("alice")
    for number in range(10):
        await mallory.send(group, f"spam {number}")
    return mallory.chat._context


async def test_what_is_interrupted_is_complete_as_far_as_it_came(
    spam: Context, database: Database
) -> None:
    plan = await remove_messages.plan_removals(spam, "mod", OF_MALLORY)
    calls = 0

    async def interrupted(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return await transact(*given)

    with patch.object(stored, "AT_A_TIME", 3), patch.object(stored, "transact", interrupted):
        with pytest.raises(KeyboardInterrupt):
            await remove_messages.remove_many(spam, "mod", plan)
        assert len(await database["audit"].find().to_list(None)) == 6
        assert len(await live(database)) == 4
        assert await remove_messages.remove_many(spam, "mod", plan) == Counts(4, 1)
    assert len(await database["audit"].find().to_list(None)) == 10


async def test_several_at_once_remove_each_message_once(spam: Context, database: Database) -> None:
    plan = await remove_messages.plan_removals(spam, "mod", OF_MALLORY)
    runs = [remove_messages.remove_many(spam, f"mod {number}", plan) for number in range(6)]
    done = await asyncio.gather(*runs)
    assert sum(run.messages for run in done) == 10
    rows = await database["audit"].find().to_list(None)
    assert len({row["targetId"] for row in rows}) == len(rows) == 10


async def test_what_was_edited_meanwhile_stays(
    people: People, spam: Context, database: Database
) -> None:
    plan = await remove_messages.plan_removals(spam, "mod", OF_MALLORY)
    first = await database["messages"].find_one({"body": "spam 0"})
    assert first is not None

    async def edited_first(*given: Any) -> Any:
        await people("mallory").edit(first["_id"], "sorry")
        return await transact(*given)

    with patch.object(stored, "transact", edited_first):
        assert await remove_messages.remove_many(spam, "mod", plan) == Counts(9, 1)
    assert await live(database) == ["sorry"]


async def test_times_of_a_message_never_fall(spam: Context, database: Database) -> None:
    """Another process, whose clock was ahead, has edited it."""
    later = spam.clock() + timedelta(hours=1)
    chosen = {"$set": {"changedAt": later, "editedAt": later}}
    await database["messages"].update_many({"body": {"$in": ["spam 0", "spam 1"]}}, chosen)
    one = await database["messages"].find_one({"body": "spam 1"})
    assert one is not None
    plan = await remove_messages.plan_removal(spam, "mod", one["_id"])
    _, is_new = await remove_messages.remove(spam, "mod", plan)
    assert is_new
    many = await remove_messages.plan_removals(spam, "mod", OF_MALLORY)
    assert await remove_messages.remove_many(spam, "mod", many) == Counts(9, 1)
    rows = await database["messages"].find({"editedAt": {"$ne": None}}).to_list(None)
    assert [row["changedAt"] >= row["editedAt"] for row in rows] == [True, True]


async def test_rows_of_another_program_do_not_stop_it(spam: Context, database: Database) -> None:
    first = await database["messages"].find_one({"body": "spam 5"})
    assert first is not None
    del first["deletedAt"]
    await database["messages"].replace_one(
        {"_id": first["_id"]}, first, bypass_document_validation=True
    )
    plan = await remove_messages.plan_removals(spam, "mod", OF_MALLORY)
    assert await remove_messages.remove_many(spam, "mod", plan) == Counts(9, 1)
