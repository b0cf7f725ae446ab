"""`chat-aio moderation`: on the database alone, and heard by a chat that runs."""

import asyncio
import json
import re
from datetime import timedelta

import pytest

from chat_aio.actions.maintenance import bans, remove_messages
from tests.admin.running import AS_MOD, DO, Moderate, People, kept, run
from tests.conftest import Database

COMMANDS = (
    *("reports", "report", "update-report", "bans", "ban", "unban", "audit", "find", "context"),
    *("remove-message", "remove-messages", "restore-message", "versions"),
    *("held", "release-held", "discard-held"),
)
WRITING = (
    *("update-report", "ban", "unban", "remove-message", "remove-messages", "restore-message"),
    *("release-held", "discard-held"),
)


async def test_a_ban_ends_streams_and_unban_lets_in(people: People, moderate: Moderate) -> None:
    mallory, eve = people("mallory"), people("eve")
    async with mallory.tab() as tab, eve.tab() as other:
        made = await moderate("ban", "mallory", *AS_MOD, "--reason", "spam", "--for", "2")
        assert re.match(r"Banned mallory until \d{4}-\S+Z: ban (\w+)\.\n$", made.output), made
        await tab.end()
        await mallory.told_all()
        assert (await mallory.get("/conversations")).code == "USER_BANNED"
        again, listed = await asyncio.gather(
            moderate("ban", "mallory", *AS_MOD, "--for", "9", "--json"), moderate("bans")
        )
        ban = again.json["ban"]
        assert (ban["userId"], ban["reason"], ban["createdByUserId"]) == ("mallory", "spam", "mod")
        assert ban["expiresAt"] > ban["createdAt"]
        head, row = listed.output.splitlines()
        assert head.index("STATE") == row.index("active")
        assert head.index("REASON") == row.index("spam")
        assert row.startswith(ban["id"])
        assert (await moderate("unban", ban["id"], *AS_MOD)).output.startswith("Revoked")
        await mallory.told_all()
        assert (await mallory.get("/conversations")).status == 200
        repeated, active, every, trail = await asyncio.gather(
            moderate("unban", ban["id"], *AS_MOD),
            moderate("bans", "--json"),
            moderate("bans", "--all", "--json"),
            moderate("audit", "--target", ban["id"], "--json"),
        )
        assert (repeated.code, "revoked already" in repeated.output) == (0, True)
        assert active.json == {"bans": [], "more": False}
        past, first = every.json["bans"]
        assert [past["revokedByUserId"], first["revokedByUserId"]] == ["mod", "mod"]
        assert first["revokedAt"] == past["createdAt"]
        assert [entry["action"] for entry in trail.json["audit"]] == ["unban", "ban"]
        assert trail.json["audit"][1]["details"]["expiresAt"] == ban["expiresAt"]
        await eve.send(await eve.group(), "still here")
        assert await other.bodies(1) == ["still here"]


async def test_a_removed_message_is_gone_for_all(
    people: People, moderate: Moderate, database: Database
) -> None:
    alice, mallory = people("alice"), people("mallory")
    group = await alice.group("mallory")
    sent = await mallory.send(group, "horrid")
    before = await kept(database, "messages", "audit")
    would = await moderate("remove-message", sent["id"], *AS_MOD, "--dry-run")
    what = f"remove message {sent['id']} of mallory"
    assert would.output == f"Would {what}. Dry run: nothing was written.\n"
    assert await kept(database, "messages", "audit") == before
    async with alice.tab() as tab:
        done = await moderate("remove-message", sent["id"], *DO, "--json")
        told = (await tab.event("message.deleted"))["message"]
    assert done.json == {"message": told, "removed": True}
    assert (told["body"], told["id"], told["deletedAt"] is None) == ("", sent["id"], False)
    assert (await alice.listed(f"/conversations/{group}/messages"))[0] == told
    (row,) = await database["audit"].find().to_list(None)
    assert (row["action"], row["targetId"], row["actorUserId"]) == (
        *("remove-message", sent["id"], "mod"),
    )
    assert row["details"] == {"conversationId": group, "senderId": "mallory"}
    assert "terms" not in (await database["messages"].find_one({}) or {})
    # What was cut short between the two writes is made up for, by whoever comes first.
    await database["audit"].delete_many({})
    again = ("remove-message", sent["id"], "--as", "other", "--yes")
    would = await moderate(*again, "--dry-run")
    assert (would.code, "deleted already" in would.output) == (0, True)
    assert await kept(database, "audit") == [[]]
    again_by_two = await asyncio.gather(*(remove_again(people, sent["id"]) for _ in range(2)))
    assert again_by_two == [False, False]
    assert await kept(database, "audit") == [[row]]
    once_more = await moderate(*again)
    assert (once_more.code, "deleted already" in once_more.output) == (0, True)
    assert await kept(database, "audit") == [[row]]


async def remove_again(people: People, message_id: str) -> bool:
    """Whether the message was removed by this; the commands take turns in this process."""
    context = people("mod").chat._context
    plan = await remove_messages.plan_removal(context, "other", message_id)
    return (await remove_messages.remove(context, "other", plan))[1]


async def test_what_its_sender_deleted_is_no_removal(
    people: People, moderate: Moderate, database: Database
) -> None:
    alice = people("alice")
    sent = await alice.send(await alice.group(), "oops")
    await alice.delete(sent["id"])
    again = await moderate("remove-message", sent["id"], *DO, "--json")
    assert (again.json["removed"], again.json["message"]["body"]) == (False, "")
    assert await kept(database, "audit") == [[]]


async def reported(people: People) -> None:
    """A message and its sender, both reported by alice."""
    alice, mallory = people("alice"), people("mallory")
    sent = await mallory.send(await alice.group("mallory"), "ugly\n\x1b[31mred")
    for kind, target in (("message", sent["id"]), ("user", "mallory")):
        body = {"targetType": kind, "targetId": target, "reason": "spam"}
        assert (await alice.post("/moderation/reports", body)).status == 200


async def test_reports_are_looked_at(people: People, moderate: Moderate) -> None:
    await reported(people)
    table, newest, messages = await asyncio.gather(
        moderate("reports"),
        moderate("reports", "--limit", "1", "--json"),
        moderate("reports", "--target-type", "message", "--status", "open", "--json"),
    )
    assert len(table.output.splitlines()) == 3
    assert newest.json["more"]
    assert [report["targetId"] for report in newest.json["reports"]] == ["mallory"]
    (found,) = messages.json["reports"]
    assert not messages.json["more"]
    assert found["evidence"]["body"] == "ugly\n\x1b[31mred"
    card = await moderate("report", found["id"])
    assert "evidence: body" in card.output
    assert "\x1b" not in card.output


async def test_a_report_is_settled(people: People, moderate: Moderate, database: Database) -> None:
    await reported(people)
    (found,) = (await moderate("reports", "--target-type", "message", "--json")).json["reports"]
    before = await kept(database, "reports", "audit")
    settle = ("update-report", found["id"], "--status", "resolved", "--note", "gone", *AS_MOD)
    would = await moderate(*settle, "--dry-run", "--json")
    assert (would.json["dryRun"], would.json["report"]) == (True, found)
    assert await kept(database, "reports", "audit") == before
    done = (await moderate(*settle, "--json")).json["report"]
    assert (done["status"], done["moderatorNote"], done["resolvedBy"]) == (
        *("resolved", "gone", "mod"),
    )
    one, left, trail = await asyncio.gather(
        moderate("report", found["id"], "--json"),
        moderate("reports", "--status", "open", "--json"),
        moderate("audit", "--json"),
    )
    assert one.json == {"report": done}
    assert [report["targetType"] for report in left.json["reports"]] == ["user"]
    (row,) = trail.json["audit"]
    assert {**row, "id": "", "at": ""} == {
        "id": "",
        "at": "",
        "actorUserId": "mod",
        "action": "report",
        "targetId": found["id"],
        "from": "open",
        "to": "resolved",
        "details": {},
    }


async def test_a_dry_run_of_bans_writes_nothing(
    people: People, moderate: Moderate, database: Database
) -> None:
    await people("alice").get("/conversations")
    ban, refused = await asyncio.gather(
        moderate("ban", "eve", *AS_MOD, "--dry-run"),
        moderate("ban", "mod", *AS_MOD, "--dry-run"),
    )
    assert ban.output == "Would ban eve for good. Dry run: nothing was written.\n"
    assert "is the id right?" in ban.errors
    assert "you cannot ban yourself" in refused.refusal
    assert await kept(database, "bans", "audit") == [[], []]
    made = (await moderate("ban", "eve", *AS_MOD, "--json")).json["ban"]
    before = await kept(database, "bans", "audit")
    again, off, none = await asyncio.gather(
        moderate("ban", "eve", *AS_MOD, "--dry-run", "--json"),
        moderate("unban", made["id"], *AS_MOD, "--dry-run"),
        moderate("unban", "none", *AS_MOD, "--dry-run"),
    )
    assert again.json["ban"] == made
    assert again.json["would"].startswith("do nothing: eve is banned already")
    assert off.output.startswith("Would revoke the ban of eve.")
    assert "no such ban" in none.refusal
    assert await kept(database, "bans", "audit") == before


async def test_another_length_takes_the_place_of_a_ban(
    people: People, moderate: Moderate, database: Database
) -> None:
    """Also if many do so at once: one is in force at any time."""
    mallory = people("mallory")
    await mallory.send(await mallory.group(), "spam")
    made = await moderate("ban", "mallory", *AS_MOD, "--reason", "spam", "--json")
    assert (made.errors, made.json["ban"]["expiresAt"]) == ("", None)
    same = await moderate("ban", "mallory", *AS_MOD)
    assert same.output.startswith("Nothing done: mallory is banned already for good")
    planned = await moderate("ban", "mallory", *AS_MOD, "--for", "1", "--dry-run")
    assert f"in place of ban {made.json['ban']['id']}" in planned.output
    context = mallory.chat._context
    plans = [
        await bans.plan_ban(
            context,
            "mod",
            "mallory",
            reason=None,
            expires_at=context.clock() + timedelta(days=days),
        )
        for days in range(1, 6)
    ]
    await asyncio.gather(*(bans.ban(context, plan) for plan in plans))
    rows = (await kept(database, "bans"))[0]
    (stands,) = [row for row in rows if row["revokedAt"] is None]
    assert (len(rows), stands["reason"], stands["activeUserId"]) == (6, "spam", "mallory")
    assert (await mallory.get("/conversations")).code == "USER_BANNED"


async def test_a_removed_message_is_restored(
    people: People, moderate: Moderate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the settings that the service has as well: without them nothing is kept."""
    alice, mallory = people("alice"), people("mallory")
    group = await alice.group("mallory")
    kept_one, lost = [await mallory.send(group, body) for body in ("kept", "lost")]
    restore = ("restore-message", kept_one["id"], *AS_MOD)
    assert "Nothing done" in (await moderate(*restore)).output
    await moderate("remove-message", lost["id"], *DO)
    monkeypatch.setenv("CHAT_AIO_MODERATION_TOOLS", "true")
    await moderate("remove-message", kept_one["id"], *DO)
    lines = await moderate("versions", kept_one["id"], "--json-lines")
    (version,) = map(json.loads, lines.output.splitlines())
    assert (version["body"], version["how"], version["replacedByUserId"]) == (
        *("kept", "removed"),
        "mod",
    )
    planned = await moderate(*restore, "--dry-run")
    assert planned.output.startswith(f"Would restore message {kept_one['id']}.")
    assert (await moderate(*restore)).output == f"Restored message {kept_one['id']}.\n"
    assert (
        "no moderator" in (await moderate("restore-message", lost["id"], *AS_MOD)).refusal.lower()
    )
    bodies = [message["body"] for message in await alice.listed(f"/conversations/{group}/messages")]
    assert bodies == ["", "kept"]


async def test_lists_come_as_lines(people: People, moderate: Moderate) -> None:
    alice = people("alice")
    group = await alice.group()
    sent = [(await alice.send(group, f"m{number}"))["id"] for number in range(3)]
    found = await moderate("find", "--user", "alice", "--limit", "2", "--json-lines")
    rows = [json.loads(line) for line in found.output.splitlines()]
    assert [row["id"] for row in rows] == [sent[2], sent[1]]
    assert "more than 2" in found.errors


async def test_refusals_are_one_line(people: People, moderate: Moderate) -> None:
    past = ("--until", "2020-01-01T00:00:00Z")
    refused = {
        ("report", "none"): "no such report",
        ("update-report", "none", "--status", "triaged", *AS_MOD): "no such report",
        ("unban", "none", *AS_MOD): "no such ban",
        ("remove-message", "none", *DO): "no such message",
        ("release-held", "none", *AS_MOD): "no such held message",
        ("discard-held", "none", *DO): "no such held message",
        ("find", "--conversation", "none"): "no such conversation",
        ("ban", "eve", *past, *AS_MOD): "must be in the future",
        ("reports", "--database", "empty_database"): "chat-aio indexes apply",
        ("reports", "--collection-prefix", "other_"): "collection other_",
    }
    for asked, why in refused.items():
        assert why in (await moderate(*asked)).refusal
    assert "no such report" in (await moderate("report", "none")).refusal


async def test_what_makes_no_sense_is_a_matter_of_usage() -> None:
    senseless = {
        ("ban", "eve"): "--as",
        ("reports", "--mongo-url", "nonsense:"): "--mongo-url",
        ("ban", "eve", *AS_MOD, "--for", "0"): "--for",
        ("ban", "eve", *AS_MOD, "--until", "2026-01-31"): "offset",
        ("ban", "eve", *AS_MOD, "--for", "1", "--until", "2100-01-01T00:00:00Z"): "not both",
        ("update-report", "x", *AS_MOD, "--status", "open"): "--status",
        ("report", " "): "not blank",
        ("find",): "--conversation",
        ("find", "--contains", "moth"): "--contains needs",
        ("find", "--user", "x", "--contains", "?!"): "letter",
    }
    for asked, why in senseless.items():
        got = await run("moderation", *asked)
        assert (got.code, got.output, why in got.errors) == (2, "", True), got


async def test_every_command_explains_itself() -> None:
    whole = await run("moderation", "--help")
    for command in COMMANDS:
        got = await run("moderation", command, "--help")
        assert got.code == 0
        assert "--json" in got.output
        assert "--mongo-url" in got.output
        assert ("--dry-run" in got.output) == (command in WRITING) == ("--as" in got.output)
        assert re.search(rf"^  {command} ", whole.output, re.M)
