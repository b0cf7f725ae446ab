"""`chat-aio purge-records`: old records are removed."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from chat_aio import Hooks
from chat_aio.actions.context import utc_now
from chat_aio.actions.maintenance import records as rules
from chat_aio.actions.maintenance import retention
from chat_aio.store.maintenance import records
from chat_aio.store.maintenance import retention as stored
from tests.admin.running import AS_MOD, DO, People, Tool
from tests.conftest import Database, MakePeople
from tests.support.moderating import ban, is_mod, report, settle
from tests.support.people import Answer

ALL = (
    *("--reports", "30", "--bans", "30", "--join-requests", "30"),
    *("--audit", "30", "--presence", "30"),
)
COLLECTIONS = ("reports", "bans", "join_requests", "audit", "presence")
TIMES = ("createdAt", "updatedAt", "revokedAt", "resolvedAt", "at", "lastSeenAt")


@pytest.fixture
async def people(serve: MakePeople) -> People:
    return await serve(Hooks(can_moderate=is_mod), moderation_tools=True)


async def age(database: Database, *collections: str, days: int = 40) -> None:
    """Let all that happened be some days old."""
    for name in collections:
        for row in await database[name].find().to_list(None):
            then = {name: row[name] - timedelta(days=days) for name in TIMES if row.get(name)}
            await database[name].update_one({"_id": row["_id"]}, {"$set": then})


async def happen(people: People, database: Database) -> str:
    """Something of each kind that is over, and something that is not; returns a group."""
    alice, mallory, mod = people("alice"), people("mallory"), people("mod")
    group = await alice.group("mallory")
    for who in ("bob", "eve"):
        await people(who).post(f"/conversations/{group}/join-requests", {})
    denial = {"userId": "bob", "decision": "deny"}
    await alice.call("PATCH", f"/conversations/{group}/join-requests", json=denial)
    message = await mallory.send(group, "rude")
    over = (await report(alice, "message", message["id"])).json["report"]
    await settle(mod, over["id"], status="resolved")
    await report(alice, "user", "mallory")
    for who in ("bob", "eve"):
        made = (await ban(mod, who)).json["ban"]
    await mod.call("DELETE", f"/moderation/bans/{made['id']}")
    seen = {"processes": [], "lastSeenAt": utc_now()}
    await database["presence"].insert_one({"_id": "bob", **seen})
    await database["presence"].insert_one({"_id": "eve", **seen, "processes": ["p"]})
    return group


async def left(database: Database) -> dict[str, int]:
    return {name: await database[name].count_documents({}) for name in COLLECTIONS}


async def test_what_is_over_goes_and_what_is_not_stays(
    people: People, tool: Tool, database: Database
) -> None:
    await happen(people, database)
    before = await left(database)
    none = (await tool("purge-records", *ALL, *DO, "--json")).json["records"]
    assert set(none.values()) == {0}
    await database["audit"].delete_many({"action": rules.ACTION})
    await age(database, *COLLECTIONS)
    would = (await tool("purge-records", *ALL, *AS_MOD, "--dry-run", "--json")).json
    assert await left(database) == before
    done = (await tool("purge-records", *ALL, *DO, "--json")).json["records"]
    assert (
        done
        == would["records"]
        == {
            **dict.fromkeys(("reports", "bans", "join_requests", "presence"), 1),
            "audit": before["audit"],
        }
    )
    (stays,) = await database["reports"].find().to_list(None)
    assert stays["status"] == "open"
    (in_force,) = await database["bans"].find().to_list(None)
    assert (in_force["userId"], in_force["revokedAt"]) == ("bob", None)
    (pending,) = await database["join_requests"].find().to_list(None)
    assert (pending["userId"], pending["status"]) == ("eve", "pending")
    assert (await database["presence"].find_one({}) or {})["_id"] == "eve"
    rows = await database["audit"].find().sort("at", 1).to_list(None)
    assert [(row["from"], row["to"]) for row in rows] == [(None, "begun"), ("begun", "done")]
    assert rows[1]["details"]["reports"] == 1


async def test_only_what_is_named_is_removed(
    people: People, tool: Tool, database: Database
) -> None:
    await happen(people, database)
    await age(database, *COLLECTIONS)
    before = await left(database)
    await tool("purge-records", "--bans", "30", *DO)
    after = await left(database)
    assert after == {**before, "bans": 1, "audit": before["audit"] + 2}
    refused = await tool("purge-records", *DO)
    assert (refused.code, "--reports 365" in refused.errors) == (2, True)


async def test_it_goes_on_in_portions(
    people: People, tool: Tool, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    mod = people("mod")
    for number in range(5):
        made = (await ban(mod, f"user{number}")).json["ban"]
        await mod.call("DELETE", f"/moderation/bans/{made['id']}")
    await age(database, "bans")
    monkeypatch.setattr(records, "AT_A_TIME", 2)
    assert (await tool("purge-records", "--bans", "30", *DO, "--json")).json["records"] == {
        "bans": 5
    }


async def test_a_message_that_is_restored_behind_the_retention_is_emptied(
    people: People, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise no run would look at it again."""
    alice, mod = people("alice"), people("mod")
    group = await alice.group()
    sent = [await alice.send(group, f"text {number}") for number in range(3)]
    removed = f"/moderation/tools/messages/{sent[0]['id']}"
    await mod.post(f"{removed}/remove")
    await age(database, "messages")
    context = alice.chat._context
    monkeypatch.setattr(stored, "MESSAGES_AT_A_TIME", 1)
    answers: list[Answer] = []

    async def restored(_: float) -> None:
        if not answers:
            answers.append(await mod.post(f"{removed}/restore"))

    monkeypatch.setattr(stored, "asyncio", SimpleNamespace(sleep=restored))
    before = context.clock() - timedelta(days=30)
    wanted = retention.Retention(before=before, removes=False, conversation_id=None)
    plan = await retention.plan_retention(context, "mod", wanted)
    await retention.carry_out(context, "mod", plan)
    monkeypatch.undo()
    assert [answer.status for answer in answers] == [200]
    bodies = [message["body"] for message in await database["messages"].find().to_list(None)]
    assert bodies == ["", "", ""]
    assert (await mod.post(f"{removed}/restore")).code == "MESSAGE_NOT_RESTORABLE"
