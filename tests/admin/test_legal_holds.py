"""`chat-aio legal-hold`: data under a hold is neither removed nor erased."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from chat_aio import Hooks
from chat_aio.actions.maintenance import retention
from chat_aio.plugins import BlockedWords, Filter
from chat_aio.store.maintenance import retention as stored
from tests.admin.running import AS_MOD, DO, People, Tool
from tests.admin.test_records import ALL, COLLECTIONS, age, happen
from tests.conftest import Database, MakePeople
from tests.support.moderating import is_mod


@pytest.fixture
async def people(serve: MakePeople) -> People:
    return await serve(Hooks(can_moderate=is_mod), moderation_tools=True)


async def place(tool: Tool, kind: str, target: str) -> str:
    why = ("--reason", "case 12", "--allow-unknown")
    placed = await tool("legal-hold", "place", kind, target, *why, *AS_MOD)
    return placed.output


async def test_a_hold_on_a_user_keeps_their_records(
    people: People, tool: Tool, database: Database
) -> None:
    await happen(people, database)
    assert await place(tool, "user", "mallory") == "Placed a legal hold on user mallory.\n"
    assert "Nothing done" in await place(tool, "user", "mallory")
    await age(database, *COLLECTIONS)
    done = (await tool("purge-records", *ALL, *DO, "--json")).json["records"]
    # Of the report on mallory's message, and what was asked and decided in mallory's group.
    assert (done["reports"], done["join_requests"], done["bans"]) == (0, 0, 1)
    assert (await tool("legal-hold", "lift", "user", "mallory", *AS_MOD)).code == 0
    done = (await tool("purge-records", *ALL, *DO, "--json")).json["records"]
    assert (done["reports"], done["join_requests"]) == (1, 1)


async def test_a_hold_on_an_unknown_user_is_refused(tool: Tool, database: Database) -> None:
    refused = await tool("legal-hold", "place", "user", "nobody", "--reason", "case 12", *AS_MOD)
    assert (refused.code, "names the user nobody" in refused.errors) == (4, True)
    assert await database["legal_holds"].count_documents({}) == 0


@pytest.mark.parametrize("mode", [(), ("--remove",)])
async def test_a_hold_stops_retention(
    people: People, tool: Tool, database: Database, mode: tuple[str, ...]
) -> None:
    """On a conversation, or on a user who has written there and left since."""
    alice, mallory = people("alice"), people("mallory")
    held, theirs, free = await alice.group(), await alice.group("mallory"), await alice.group()
    for group in (held, theirs, free):
        await alice.send(group, "old")
    await mallory.send(theirs, "old, too")
    leaving = {"userId": "mallory"}
    await mallory.call("DELETE", f"/conversations/{theirs}/participants", json=leaving)
    await age(database, "messages")
    await place(tool, "conversation", held)
    await place(tool, "user", "mallory")
    run = await tool("retention", "--older-than", "30", *mode, *DO)
    assert "Under a legal hold, and kept: 2 conversations." in run.errors
    for group, stays in ((held, 1), (theirs, 2), (free, 0)):
        live = {"conversationId": group, "deletedAt": None}
        assert await database["messages"].count_documents(live) == stays
    heads = await database["counters"].find({"_id": {"$in": [held, theirs]}}).to_list(None)
    assert {head["floorSeq"] for head in heads} == {0}
    await tool("legal-hold", "lift", "conversation", held, *AS_MOD)
    done = await tool("retention", "--older-than", "30", *mode, *DO, "--json")
    assert (done.json["retention"]["messages"], done.json["retention"]["held"]) == (1, 1)


@pytest.mark.parametrize("removes", [False, True])
async def test_a_hold_that_is_placed_during_a_run_counts(
    people: People, tool: Tool, database: Database, removes: bool
) -> None:
    alice = people("alice")
    group = await alice.group()
    await alice.send(group, "old")
    await age(database, "messages")
    context = alice.chat._context
    before = context.clock() - timedelta(days=30)
    wanted = retention.Retention(before=before, removes=removes, conversation_id=None)
    plan = await retention.plan_retention(context, "mod", wanted)
    assert len(plan.olds) == 1
    await place(tool, "conversation", group)
    counts = await retention.carry_out(context, "mod", plan)
    assert (counts.messages, (await database["messages"].find_one({}) or {})["body"]) == (0, "old")


async def test_a_hold_that_is_placed_while_removal_waits_counts(
    people: People, tool: Tool, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = people("alice")
    group = await alice.group()
    await alice.send(group, "old")
    await age(database, "messages")
    context = alice.chat._context
    raise_floors = stored.raise_floors

    async def raised(*given: Any) -> None:
        await raise_floors(*given)
        await place(tool, "conversation", group)

    monkeypatch.setattr(stored, "raise_floors", raised)
    before = context.clock() - timedelta(days=30)
    wanted = retention.Retention(before=before, removes=True, conversation_id=None)
    plan = await retention.plan_retention(context, "mod", wanted)
    assert (await retention.carry_out(context, "mod", plan)).messages == 0
    assert await database["messages"].count_documents({}) == 1


async def test_a_hold_stops_erasure(people: People, tool: Tool, database: Database) -> None:
    """Of the user, and of everybody who has written in the conversation."""
    alice, mallory = people("alice"), people("mallory")
    group = await alice.group("mallory")
    await mallory.send(group, "evidence")
    for kind, target in (("user", "mallory"), ("conversation", group)):
        await place(tool, kind, target)
        for dry in ((), ("--dry-run",)):
            refused = await tool("users", "erase", "mallory", *DO, *dry)
            assert (refused.code, f"on {kind} {target}" in refused.errors) == (2, True), refused
        await tool("legal-hold", "lift", kind, target, *AS_MOD)
    assert (await database["messages"].find_one({}) or {})["senderId"] == "mallory"
    assert (await tool("users", "erase", "mallory", *DO)).code == 0
    assert (await database["messages"].find_one({}) or {})["body"] == ""


async def test_a_hold_on_a_user_keeps_what_others_have_in_their_conversations(
    people: People, tool: Tool, database: Database
) -> None:
    """As a whole: others' messages are not erased, and others' versions do not expire."""
    alice, mallory = people("alice"), people("mallory")
    group = await alice.group("mallory")
    answer = await alice.send(group, "the answer")
    await alice.edit(answer["id"], "another answer")
    await mallory.send(group, "evidence")
    await place(tool, "user", "mallory")
    refused = await tool("users", "erase", "alice", *DO)
    assert (refused.code, "on user mallory" in refused.errors) == (2, True), refused
    assert await database["message_versions"].count_documents({"expiresAt": {"$exists": True}}) == 0
    await tool("legal-hold", "lift", "user", "mallory", *AS_MOD)
    assert await database["message_versions"].count_documents({"expiresAt": {"$exists": True}}) == 1


async def test_versions_under_a_hold_do_not_expire(
    people: People, tool: Tool, database: Database
) -> None:
    """Nor those that are written later, from the next run of the retention on."""
    alice, mallory = people("alice"), people("mallory")
    group = await alice.group("mallory")

    async def edited(who: Any) -> str:
        message = await who.send(group, "before")
        return str((await who.edit(message["id"], "after"))["id"])

    async def expiring() -> set[str]:
        rows = await database["message_versions"].find({"expiresAt": {"$type": "date"}}).to_list()
        return {row["messageId"] for row in rows}

    first = await edited(mallory)
    elsewhere = await alice.send(await alice.group(), "before")
    others = str((await alice.edit(elsewhere["id"], "after"))["id"])
    await place(tool, "user", "mallory")
    assert await expiring() == {others}
    second = await edited(mallory)
    assert await expiring() == {others, second}
    await tool("retention", "--older-than", "30", *DO)
    assert await expiring() == {others}
    assert len((await people("mod").get(f"/moderation/tools/messages/{first}/versions")).json)
    await place(tool, "conversation", group)
    await tool("legal-hold", "lift", "user", "mallory", *AS_MOD)
    assert await expiring() == {others}
    await tool("legal-hold", "lift", "conversation", group, *AS_MOD)
    assert await expiring() == {first, second, others}


async def test_messages_that_wait_for_a_moderator_stay_listed(
    serve: MakePeople, tool: Tool, database: Database
) -> None:
    plugins = [Filter([BlockedWords(["spam"], action="hold")])]
    people = await serve(Hooks(can_moderate=is_mod), plugins=plugins)
    alice, mod = people("alice"), people("mod")
    group = await alice.group()
    refused = await alice.post(f"/conversations/{group}/messages", {"body": "spam"})
    assert refused.code == "MESSAGE_HELD"
    await place(tool, "conversation", group)
    (held,) = (await mod.get("/moderation/held")).json["heldMessages"]
    assert (held["body"], held["expiresAt"]) == ("spam", None)


async def test_holds_are_listed_and_kept_in_the_audit_trail(
    people: People, tool: Tool, database: Database
) -> None:
    group = await people("alice").group()
    await asyncio.gather(*(place(tool, "conversation", group) for _ in range(3)))
    await place(tool, "user", "mallory")
    listed = (await tool("legal-hold", "list", "--json")).json["legalHolds"]
    assert [(hold["targetType"], hold["targetId"]) for hold in listed] == [
        ("user", "mallory"),
        ("conversation", group),
    ]
    assert listed[0]["reason"] == "case 12"
    nothing = await tool("legal-hold", "lift", "user", "eve", *AS_MOD)
    assert nothing.output == "Nothing done: user eve is not held.\n"
    await tool("legal-hold", "lift", "user", "mallory", *AS_MOD)
    rows = await database["audit"].find().sort("at", 1).to_list(None)
    assert [(row["action"], row["targetId"]) for row in rows] == [
        ("legal-hold", group),
        ("legal-hold", "mallory"),
        ("lift-legal-hold", "mallory"),
    ]
    assert (
        "no such conversation"
        in (
            await tool("legal-hold", "place", "conversation", "none", "--reason", "x", *AS_MOD)
        ).refusal
    )
    planned = await tool(
        *("legal-hold", "place", "user", "eve", "--reason", "x"),
        *(*AS_MOD, "--dry-run", "--allow-unknown"),
    )
    assert planned.output.startswith("Would place a legal hold on user eve.")
    assert await database["legal_holds"].count_documents({}) == 1
