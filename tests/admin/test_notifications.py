"""`chat-aio notifications`: what waits, and dead letters."""

from datetime import UTC, datetime
from typing import Any

from tests.admin.running import Tool
from tests.conftest import Database, MakePeople
from tests.plugins.notifications.telling import Told, all_told, quick, ready
from tests.support.processes import until


def dead_letter(user_id: str, message_id: str, tries: int = 12) -> dict[str, Any]:
    at = datetime(2026, 1, 31, tzinfo=UTC)
    return {
        "_id": {"userId": user_id, "messageId": message_id},
        "userId": user_id,
        "messageId": message_id,
        "conversationId": "c",
        "seq": 1,
        "at": at,
        "dueAt": at,
        "state": "dead",
        "held": False,
        "count": 1,
        "tries": tries,
        "notBefore": at,
        "done": [],
        "error": "the endpoint answered 500",
        # Not past: MongoDB would delete it, at any time.
        "expiresAt": at.replace(year=9999),
    }


async def test_before_anything_was_told(tool: Tool) -> None:
    status = (await tool("notifications", "status", "--json")).json["notifications"]
    assert status == {
        **dict.fromkeys(("holder", "fence", "heldUntil", "readUntil", "nextDue")),
        "pending": 0,
        "waiting": 0,
        "dead": 0,
    }
    assert (await tool("notifications", "dead-letters")).output == "(none)\n"


async def test_dead_letters_are_listed_and_tried_again(tool: Tool, database: Database) -> None:
    letters = [dead_letter("bob", "m1"), dead_letter("bob", "m2"), dead_letter("eve", "m1")]
    await database["notifications"].insert_many([*letters, dead_letter("eve", "m3")])
    listed = (await tool("notifications", "dead-letters", "--limit", "3", "--json")).json
    assert (len(listed["dead"]), listed["more"]) == (3, True)
    assert listed["dead"][0] == {
        "userId": "bob",
        "messageId": "m1",
        "conversationId": "c",
        "tries": 12,
        "notBefore": "2026-01-31T00:00:00.000Z",
        "error": "the endpoint answered 500",
    }
    assert "the endpoint answered 500" in (await tool("notifications", "dead-letters")).output
    refused = await tool("notifications", "retry")
    assert refused.code == 2
    assert "--all" in refused.errors
    retried = await tool("notifications", "retry", "--user", "bob", "--message", "m1", "--json")
    assert retried.json == {"retried": 1}
    assert (
        await tool("notifications", "retry", "--message", "m1")
    ).output == "1 are tried again.\n"
    assert (await tool("notifications", "retry", "--all", "--json")).json == {"retried": 2}
    rows = await database["notifications"].find().to_list(None)
    assert {(row["state"], row["tries"], "expiresAt" in row) for row in rows} == {
        ("waiting", 0, False)
    }


async def test_rows_of_another_program_are_listed(tool: Tool, database: Database) -> None:
    letters: list[Any] = [{"_id": "x", "state": "dead"}, {"_id": "y", "state": "dead", "tries": []}]
    await database["notifications"].insert_many(letters, bypass_document_validation=True)
    pending = {"_id": "m", "state": "pending"}
    noted = database["notification_messages"]
    await noted.insert_one(pending, bypass_document_validation=True)
    listed = (await tool("notifications", "dead-letters", "--json")).json["dead"]
    assert [(letter["userId"], letter["tries"]) for letter in listed] == [(None, None), (None, [])]
    assert (await tool("notifications", "dead-letters")).code == 0
    status = (await tool("notifications", "status", "--json")).json["notifications"]
    assert (status["dead"], status["nextDue"]) == (2, None)


async def test_status_beside_a_process_that_tells(
    tool: Tool, serve: MakePeople, database: Database
) -> None:
    """And what is tried again is delivered by that process."""
    told = Told()
    people = await serve(plugins=[quick(told, max_attempts=1)])
    await ready(database)
    told.failures["bob"] = 1
    await people("alice").send(await people("alice").direct("bob"), "hi")
    await all_told(database, 1)
    status = (await tool("notifications", "status", "--json")).json["notifications"]
    assert (status["pending"], status["dead"]) == (0, 1)
    (lease,) = await database["settings"].find({"fence": {"$gt": 0}}).to_list()
    assert status["fence"] == lease["fence"]
    assert status["heldUntil"] > status["readUntil"] > "2026"
    assert (await tool("notifications", "retry", "--all", "--json")).json == {"retried": 1}
    await until(lambda: told.of("bob") == ["hi"])
