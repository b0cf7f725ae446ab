"""`chat-aio retention`: on the database alone, and beside a chat that runs."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, timedelta
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio.actions.context import utc_now
from chat_aio.actions.maintenance import retention as rules
from chat_aio.store.maintenance import retention
from chat_aio.store.maintenance.progress import Counts
from tests.admin.running import AS_MOD, DO, People, Run, Tool, kept
from tests.conftest import Database
from tests.support.people import Person

MONTH = ("retention", "--older-than", "30", *DO)
WRITTEN = ("messages", "counters", "conversations", "audit")
Message = dict[str, Any]


async def age(database: Database, conversation_id: str, upto: int) -> None:
    """Let the messages up to a seq be forty days old."""
    await database["messages"].update_many(
        {"conversationId": conversation_id, "seq": {"$lte": upto}},
        {"$set": {"createdAt": utc_now() - timedelta(days=40)}},
    )


async def head_of(database: Database, conversation_id: str) -> dict[str, Any]:
    head = await database["counters"].find_one({"_id": conversation_id})
    assert head is not None
    return head


async def stored(database: Database, conversation_id: str) -> dict[int, Message]:
    """The messages of a conversation as they are kept, by seq."""
    rows = database["messages"].find({"conversationId": conversation_id}).sort("seq", 1)
    return {row["seq"]: row for row in await rows.to_list(None)}


async def require_true_counts(database: Database, group: str, *readers: Person) -> None:
    """Everybody's unread count is what there is behind their read state from others."""
    found = await database["conversations"].find_one({"_id": group})
    assert found is not None
    read = {
        participant["userId"]: participant["lastReadSeq"] for participant in found["participants"]
    }
    rows = (await stored(database, group)).values()
    for reader in readers:
        others = [row["seq"] for row in rows if row["senderId"] != reader.user_id]
        counted = sum(seq > read[reader.user_id] for seq in others)
        assert await reader.unread(group) == counted, reader.user_id


async def test_old_messages_become_tombstones_before_peoples_eyes(
    people: People, tool: Tool, database: Database
) -> None:
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    sent = [await alice.send(group, f"needle {n}", clientMessageId=f"k{n}") for n in range(4)]
    await alice.delete(sent[0]["id"])
    await bob.react(sent[1]["id"], "👍")
    await age(database, group, 3)
    own = (await stored(database, group))[1]
    before = await kept(database, *WRITTEN)
    would = await tool(*MONTH, "--dry-run")
    assert would.output.startswith("Would delete 2 messages in 1 conversation, from before 2")
    assert await kept(database, *WRITTEN) == before
    async with bob.tab() as tab:
        done = await tool(*MONTH, "--json")
        told = [(await tab.event("message.deleted"))["message"] for _ in range(2)]
        await alice.send(group, "after")
        assert await tab.bodies(1) == ["after"]
    report = done.json["retention"]
    assert (report["mode"], report["messages"], report["conversations"]) == ("delete", 2, 1)
    listed = await bob.listed(f"/conversations/{group}/messages")
    # Tombstones of one run come in any order.
    assert listed[2:4] == sorted(told, key=lambda message: -message["seq"])
    assert [message["body"] for message in listed] == ["after", "needle 3", "", "", ""]
    assert [message["id"] for message in await bob.listed("/search/messages?q=needle")] == [
        sent[3]["id"]
    ]
    assert await bob.unread(group) == 5
    assert (await head_of(database, group))["emptiedSeq"] == 3
    rows = await stored(database, group)
    assert rows[1] == own
    assert rows[2].keys() == rows[3].keys() == own.keys()
    assert (rows[2]["change"]["kind"], rows[2]["change"]["actorId"]) == ("message.deleted", "mod")
    assert rows[2]["change"]["at"] == rows[2]["changedAt"] == rows[2]["deletedAt"]
    again = await tool(*MONTH, "--conversation", group)
    assert again.output.startswith("Deleted 0 messages in 0 conversations")
    assert await stored(database, group) == rows
    audited = [row async for row in database["audit"].find().sort("at", 1)]
    assert [(row["action"], row["targetId"], row["to"]) for row in audited] == [
        *(("retention", "all", to) for to in ("begun", "done")),
        *(("retention", group, to) for to in ("begun", "done")),
    ]
    trail = [row for row in audited if row["to"] == "done"]
    assert [row["details"]["run"] for row in audited if row["to"] == "begun"] == [
        row["_id"] for row in trail
    ]
    counts = {"messages": 2, "conversations": 1, "held": 0}
    assert trail[0]["details"] == {
        "mode": "delete",
        "olderThan": trail[0]["details"]["olderThan"],
        **counts,
    }
    assert utc_now() - trail[0]["details"]["olderThan"].replace(tzinfo=UTC) > timedelta(days=30)


async def test_what_is_removed_is_gone_from_every_list(
    people: People, tool: Tool, database: Database
) -> None:
    alice, bob, carol = people("alice"), people("bob"), people("carol")
    group = await alice.group("bob", "carol")
    here = f"/conversations/{group}"
    root = await alice.send(group, "needle one")
    parent = await bob.send(group, "needle two")
    keyed = await alice.send(group, "needle three", clientMessageId="k")
    reply = await bob.send(group, "needle four", threadRootMessageId=root["id"])
    answer = await carol.send(group, "needle five", replyToMessageId=parent["id"])
    await alice.read(group, parent["id"])
    await carol.read(group, reply["id"])
    cursor = (await bob.get(f"{here}/messages?limit=2")).json["nextCursor"]
    await age(database, group, 3)
    head, before = await head_of(database, group), await kept(database, *WRITTEN)
    would = await tool(*MONTH, "--remove", "--dry-run", "--json")
    assert would.json["retention"]["messages"] == 3
    assert await kept(database, *WRITTEN) == before
    done = await tool(*MONTH, "--remove", "--conversation", group)
    assert done.output.startswith("Removed 3 messages in 1 conversation, from before 2")

    assert await head_of(database, group) == {**head, "floorSeq": 3}
    assert [await person.unread(group) for person in (alice, bob, carol)] == [2, 1, 0]
    (left,) = await bob.listed(f"{here}/messages")
    assert left["id"] == answer["id"]
    preview = {"id": parent["id"], "senderId": "", "excerpt": "", "deleted": True}
    assert left["replyTo"] == preview
    page = await bob.get(f"{here}/messages?limit=2&cursor={cursor}")
    assert page.json == {"messages": [], "nextCursor": None}
    after = await bob.chat.api.list_messages_after("bob", group, 0)
    assert [message.seq for message in after] == [4, 5]
    found = {message["id"] for message in await bob.listed("/search/messages?q=needle")}
    assert found == {reply["id"], answer["id"]}
    (threaded,) = await bob.listed(f"{here}/threads/{root['id']}/messages")
    assert threaded["id"] == reply["id"]
    for path in (f"threads/{group}", f"threads/{parent['id']}", f"messages/{root['id']}"):
        tail = "/messages" if path.startswith("threads") else ""
        assert (await bob.get(f"{here}/{path}{tail}")).code == "MESSAGE_NOT_FOUND"
    for refused in (
        await bob.post(f"{here}/read", {"messageId": keyed["id"]}),
        await bob.post(f"/messages/{keyed['id']}/forward", {"conversationId": group}),
        await alice.call("PATCH", f"/messages/{keyed['id']}", json={"body": "x"}),
        await alice.call("DELETE", f"/messages/{keyed['id']}"),
        await bob.post(f"/messages/{keyed['id']}/reactions", {"emoji": "x"}),
    ):
        assert (refused.status, refused.code) == (404, "MESSAGE_NOT_FOUND")
    anew = await alice.send(group, "needle three", clientMessageId="k")
    assert (anew["seq"], anew["id"] == keyed["id"]) == (6, False)
    await bob.read(group, answer["id"])
    await require_true_counts(database, group, alice, bob, carol)

    await age(database, group, 6)
    await tool(*MONTH, "--remove")
    assert await stored(database, group) == {}
    await require_true_counts(database, group, alice, bob, carol)
    assert (await carol.send(group, "anew"))["seq"] == 7
    await require_true_counts(database, group, alice, bob, carol)


async def test_what_was_cut_short_is_finished(
    people: People, tool: Tool, database: Database
) -> None:
    """Killed with its floors recorded and some messages gone; nothing else is old by now."""
    alice, bob = people("alice"), people("bob")
    half, whole = await alice.group("bob"), await alice.group("bob")
    for group, old in ((half, 3), (whole, 5)):
        for number in range(5):
            await alice.send(group, f"message {number}")
        await age(database, group, old)
    api = alice.chat._context
    wanted = rules.Retention(
        before=utc_now() - timedelta(days=1), removes=True, conversation_id=None
    )
    with (
        patch.object(retention, "remove", side_effect=EOFError),
        patch.object(rules, "SECONDS_BEFORE_REMOVING", 0),
        pytest.raises(EOFError),
    ):
        await rules.carry_out(api, "mod", await rules.plan_retention(api, "mod", wanted))
    assert await database["messages"].count_documents({}) == 10
    assert [await bob.unread(group) for group in (half, whole)] == [2, 0]
    await database["messages"].delete_many({"seq": 1})
    await database["messages"].update_many({}, {"$set": {"createdAt": utc_now()}})
    would = await tool(*MONTH, "--remove", "--dry-run", "--json")
    done = await tool(*MONTH, "--remove", "--json")
    assert would.json["retention"]["messages"] == done.json["retention"]["messages"] == 6
    assert [*await stored(database, half)] == [4, 5]
    assert [*await stored(database, whole)] == []
    for group in (half, whole):
        await require_true_counts(database, group, alice, bob)
    again = await tool(*MONTH, "--remove", "--json")
    assert (again.json["retention"]["messages"], again.json["retention"]["conversations"]) == (0, 0)
    trail = await tool("moderation", "audit", "--json")
    ends = [row["details"]["messages"] for row in trail.json["audit"] if row["to"] == "done"]
    assert ends == [0, 6]


async def test_a_run_may_take_longer_than_a_request(people: People, database: Database) -> None:
    """The storage's timeout bounds each call of a run, not the run."""
    alice = people("alice")
    for group in [await alice.group() for _ in range(3)]:
        for _ in range(4):
            await alice.send(group, "old")
        await age(database, group, 4)
    chat = alice.chat._context
    api = replace(chat, options=replace(chat.options, storage_timeout_seconds=2))
    wanted = rules.Retention(before=utc_now(), removes=False, conversation_id=None)
    with patch.object(retention, "TOMBSTONES_PER_SECOND", 4):
        plan = await rules.plan_retention(api, "mod", wanted)
        assert await rules.carry_out(api, "mod", plan) == Counts(12, 3)


async def test_a_run_that_is_cut_short_is_in_the_audit_trail(
    people: People, database: Database
) -> None:
    alice = people("alice")
    for group in [await alice.group() for _ in range(3)]:
        await alice.send(group, "old")
        await age(database, group, 1)
    context, empty, calls = alice.chat._context, retention.empty, 0

    async def cut_short(*given: Any, **named: Any) -> int:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return await empty(*given, **named)

    wanted = rules.Retention(before=utc_now(), removes=False, conversation_id=None)
    plan = await rules.plan_retention(context, "mod", wanted)
    with patch.object(retention, "empty", cut_short), pytest.raises(KeyboardInterrupt):
        await rules.carry_out(context, "mod", plan)
    (row,) = await database["audit"].find().to_list(None)
    assert (row["to"], row["details"]["mode"]) == ("begun", "delete")
    named = {"change.id": row["details"]["run"], "deletedAt": {"$ne": None}}
    assert await database["messages"].count_documents(named) == 1


async def until_over(run: asyncio.Future[Run], work: Callable[[], Awaitable[None]]) -> int:
    """Do something again and again until a run is over; returns how often."""
    count = 0
    while not run.done():
        await work()
        count += 1
    return count


async def test_a_storm_of_changes_leaves_no_body_on_a_tombstone(
    people: People, tool: Tool, database: Database
) -> None:
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    sent = [(await alice.send(group, f"words {n}"))["id"] for n in range(30)]
    await age(database, group, 30)
    edited, emptied = asyncio.Event(), asyncio.Event()
    statuses: set[int] = set()

    async def begun_among_edits() -> Run:
        await edited.wait()
        return await tool(*MONTH)

    run = asyncio.ensure_future(begun_among_edits())

    async def edit(message_id: str) -> None:
        answer = await alice.call("PATCH", f"/messages/{message_id}", json={"body": "new words"})
        statuses.add(answer.status)
        (emptied if answer.status == 409 else edited).set()

    async def react(message_id: str) -> None:
        await bob.react(message_id, "👍")
        await bob.unreact(message_id, "👍")

    async def delete(message_id: str) -> None:
        await emptied.wait()
        await alice.delete(message_id)

    await asyncio.gather(
        *(until_over(run, partial(edit, message)) for message in sent[:15]),
        *(until_over(run, partial(react, message)) for message in sent[10:25]),
        *map(delete, sent[20:]),
    )
    assert (await run).code == 0
    assert statuses == {200, 409}
    rows = (await stored(database, group)).values()
    assert len(rows) == 30
    for row in rows:
        assert (row["body"], row["deletedAt"] is None) == ("", False)
        assert not {"terms", "search"} & row.keys()
    assert await bob.listed("/search/messages?q=words") == []


async def test_sends_during_a_removal_have_their_numbers(
    people: People, tool: Tool, database: Database
) -> None:
    alice, bob, carol = people("alice"), people("bob"), people("carol")
    group = await alice.group("bob", "carol")
    first = [await alice.send(group, "old") for _ in range(20)]
    await bob.read(group, first[4]["id"])
    filler = (await stored(database, group))[1]
    await database["messages"].insert_many(
        {**filler, "_id": f"old {seq}", "seq": seq, "senderId": ("bob", "carol")[seq % 2]}
        for seq in range(21, 1_021)
    )
    await database["counters"].update_one({"_id": group}, {"$set": {"seq": 1_020}})
    await age(database, group, 1_020)
    run = asyncio.ensure_future(tool(*MONTH, "--remove"))

    async def speak(person: Person) -> None:
        sent = await person.send(group, "new")
        await carol.read(group, sent["id"])

    spoken = await asyncio.gather(
        *(until_over(run, partial(speak, person)) for person in (alice, bob) * 3)
    )
    assert (await run).output.startswith("Removed 1,020 messages in 1 conversation")
    head = await head_of(database, group)
    assert (head["floorSeq"], head["seq"]) == (1_020, 1_020 + sum(spoken))
    assert [*await stored(database, group)] == [*range(1_021, head["seq"] + 1)]
    await require_true_counts(database, group, alice, bob, carol)


async def test_what_is_refused_and_what_makes_no_sense(people: People, tool: Tool) -> None:
    assert (await people("mod").post("/moderation/bans", {"targetUserId": "eve"})).status == 200
    senseless = {
        ("--older-than", "0", *AS_MOD): "--older-than",
        ("--older-than", "36501", *AS_MOD): "--older-than",
        AS_MOD: "--older-than",
        ("--older-than", "1"): "--as",
    }
    asked = await asyncio.gather(*(tool("retention", *options) for options in senseless))
    for got, why in zip(asked, senseless.values(), strict=True):
        assert (got.code, got.output, why in got.errors) == (2, "", True), got
    unknown, banned, explained = await asyncio.gather(
        tool(*MONTH, "--conversation", "none", "--dry-run"),
        tool("retention", "--older-than", "1", "--as", "eve", "--yes"),
        tool("retention", "--help"),
    )
    assert "no such conversation" in unknown.refusal
    assert "banned" in banned.refusal
    for option in ("--older-than", "--remove", "--conversation", "--dry-run", "--json", "--as"):
        assert option in explained.output
