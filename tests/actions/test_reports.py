"""Reports: their evidence, and how moderators work on them."""

import asyncio
from typing import Any
from unittest.mock import patch

from chat_aio.store import audit
from tests.conftest import Database
from tests.support.checking import expect_no_violation
from tests.support.moderating import People, report, settle
from tests.support.people import PATIENCE


async def test_a_report_keeps_its_evidence(moderated: People) -> None:
    alice, bob, mod = moderated("alice"), moderated("bob"), moderated("mod")
    group = await alice.group("bob", name="Tea")
    message = await bob.send(group, "an insult")
    of_message = await report(alice, "message", message["id"], "  rude ")
    assert of_message.status == 200
    made = of_message.json["report"]
    assert made == {
        "id": made["id"],
        "reporterUserId": "alice",
        "targetType": "message",
        "targetId": message["id"],
        "reason": "rude",
        "status": "open",
        "moderatorNote": None,
        "evidence": {
            "targetType": "message",
            "messageId": message["id"],
            "conversationId": group,
            "senderId": "bob",
            "body": "an insult",
            "createdAt": message["createdAt"],
            "deletedAt": None,
        },
        "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
        "resolvedBy": None,
    }
    await bob.edit(message["id"], "nothing")
    await bob.delete(message["id"])
    assert (await report(alice, "message", message["id"], "again")).json == of_message.json
    assert (await mod.get(f"/moderation/reports/{made['id']}")).json == of_message.json
    late = (await report(bob, "message", message["id"])).json["report"]["evidence"]
    assert (late["body"], late["deletedAt"] is None) == ("", False)
    of_group = (await report(alice, "conversation", group)).json["report"]["evidence"]
    assert of_group == {
        "targetType": "conversation",
        "conversationId": group,
        "type": "group",
        "name": "Tea",
        "participantIds": ["alice", "bob"],
    }
    of_user = (await report(alice, "user", "bob")).json["report"]["evidence"]
    assert of_user == {"targetType": "user"}


async def test_reports_that_are_refused(moderated: People) -> None:
    alice, eve = moderated("alice"), moderated("eve")
    group = await alice.group()
    message = await alice.send(group, "hi")
    for who, kind, target, reason, code in (
        (alice, "user", "alice", "x", "INVALID_INPUT"),
        (alice, "user", "bob", " ", "INVALID_INPUT"),
        (alice, "user", "bob", "x" * 1_001, "INVALID_INPUT"),
        (alice, "user", "bob", None, "INVALID_INPUT"),
        (alice, "room", "bob", "x", "INVALID_INPUT"),
        (alice, "user", "", "x", "INVALID_INPUT"),
        (alice, "message", "none", "x", "MESSAGE_NOT_FOUND"),
        (alice, "conversation", "none", "x", "CONVERSATION_NOT_FOUND"),
        (eve, "message", message["id"], "x", "FORBIDDEN_READ"),
        (eve, "conversation", group, "x", "FORBIDDEN_READ"),
    ):
        assert (await report(who, kind, target, reason)).code == code


async def test_a_note_is_shown_to_moderators_only(moderated: People, database: Database) -> None:
    """Who reports again reads their own report, not what moderators have noted; one who may
    moderate reads that too."""
    for who, seen in (("alice", None), ("mod", "careful")):
        made = (await report(moderated(who), "user", "bob")).json["report"]
        await settle(moderated("mod"), made["id"], status="triaged", moderatorNote="careful")
        again = (await report(moderated(who), "user", "bob")).json["report"]
        assert (again["id"], again["moderatorNote"]) == (made["id"], seen)
        in_process = await moderated(who).chat.api.moderation.report(who, "user", "bob", "x")
        assert in_process.moderator_note == seen
        row = await database["reports"].find_one({"_id": made["id"]})
        assert row is not None
        assert row["moderatorNote"] == "careful"


async def test_moderators_work_on_reports(moderated: People, database: Database) -> None:
    alice, mod = moderated("alice"), moderated("mod")
    made = (await report(alice, "user", "bob")).json["report"]
    for given in (
        {},
        {"status": "open"},
        {"status": "closed"},
        {"status": "triaged", "moderatorNote": 7},
        {"status": "triaged", "moderatorNote": "x" * 2_001},
    ):
        answer = await settle(mod, made["id"], **given)
        assert (answer.status, answer.code) == (400, "INVALID_INPUT")
    triaged = (await settle(mod, made["id"], status="triaged", moderatorNote=" look ")).json
    assert triaged["report"]["moderatorNote"] == "look"
    hidden = {"report": {**triaged["report"], "moderatorNote": None}}
    assert (await report(alice, "user", "bob")).json == hidden
    resolved = (await settle(mod, made["id"], status="resolved")).json["report"]
    assert (resolved["status"], resolved["moderatorNote"], resolved["resolvedBy"]) == (
        "resolved",
        "look",
        "mod",
    )
    assert resolved["evidence"] == made["evidence"]
    second = (await report(alice, "user", "bob")).json["report"]
    assert second["id"] != made["id"]
    back = (await settle(mod, made["id"], status="triaged", moderatorNote=None)).json["report"]
    assert (back["status"], back["moderatorNote"], back["resolvedBy"]) == ("triaged", None, None)
    assert (await report(alice, "user", "bob")).json["report"]["id"] == second["id"]
    await settle(mod, second["id"], status="dismissed")
    await settle(mod, made["id"], status="triaged")
    assert (await report(alice, "user", "bob")).json["report"]["id"] == made["id"]
    trail = await database["audit"].find({"targetId": made["id"]}).sort("at").to_list()
    assert [(row["from"], row["to"]) for row in trail] == [
        ("open", "triaged"),
        ("triaged", "resolved"),
        ("resolved", "triaged"),
        ("triaged", "triaged"),
    ]
    assert {row["actorUserId"] for row in trail} == {"mod"}
    assert (await settle(mod, "none", status="resolved")).code == "REPORT_NOT_FOUND"
    assert (await mod.get("/moderation/reports/" + "x" * 300)).code == "REPORT_NOT_FOUND"


async def test_an_open_report_keeps_or_gets_its_place(moderated: People) -> None:
    alice, mod = moderated("alice"), moderated("mod")
    first = (await report(alice, "user", "bob")).json["report"]["id"]
    await settle(mod, first, status="resolved")
    second = (await report(alice, "user", "bob")).json["report"]["id"]
    await settle(mod, first, status="triaged")
    await settle(mod, second, status="resolved")
    assert (await report(alice, "user", "bob")).json["report"]["id"] == first


async def test_a_report_that_is_opened_again_while_a_newer_one_is_resolved(
    moderated: People, database: Database
) -> None:
    """In either order one of them is the user's open report: the next report finds it."""
    alice, mod = moderated("alice"), moderated("mod")
    first = (await report(alice, "user", "bob")).json["report"]["id"]
    await settle(mod, first, status="resolved")
    second = (await report(alice, "user", "bob")).json["report"]["id"]
    has_read, follows = asyncio.Event(), asyncio.Event()
    add = audit.add

    async def held(*given: Any) -> None:
        if has_read.is_set():
            follows.set()
        has_read.set()
        await asyncio.wait_for(follows.wait(), PATIENCE)
        await add(*given)

    with patch.object(audit, "add", held):
        opening = asyncio.create_task(settle(mod, first, status="triaged"))
        await asyncio.wait_for(has_read.wait(), PATIENCE)
        resolving = asyncio.create_task(settle(mod, second, status="resolved"))
        answers = [await opening, await resolving]
    assert [answer.status for answer in answers] == [200, 200]
    assert (await report(alice, "user", "bob")).json["report"]["id"] == first
    await expect_no_violation(database)


async def test_the_queue_is_filtered_and_paged(moderated: People) -> None:
    alice, mod = moderated("alice"), moderated("mod")
    group = await alice.group()
    for number in range(5):
        await report(alice, "user", f"user {number}")
    of_group = (await report(alice, "conversation", group)).json["report"]
    await settle(mod, of_group["id"], status="dismissed")

    async def listed(query: str) -> list[str]:
        answer = await mod.get(f"/moderation/reports{query}")
        assert answer.status == 200, answer
        return [row["targetId"] for row in answer.json["reports"]]

    assert await listed("?status=dismissed") == [group]
    assert await listed("?targetType=conversation&status=open") == []
    users = [f"user {number}" for number in reversed(range(5))]
    assert await listed("?targetType=user&status=open") == users
    page = (await mod.get("/moderation/reports?limit=4")).json
    assert await listed(f"?cursor={page['nextCursor']}") == users[3:]
    for query in ("?status=x", "?targetType=x", "?limit=0", "?cursor=x", "?status="):
        assert (await mod.get(f"/moderation/reports{query}")).code == "INVALID_INPUT"
