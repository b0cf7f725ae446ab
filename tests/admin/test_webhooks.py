"""`chat-aio webhooks`: what waits, and dead letters."""

from typing import Any

from chat_aio import Chat
from tests.admin.running import Tool
from tests.conftest import Database, MakeChat
from tests.plugins.webhooks.receiving import (
    AT,
    Received,
    a_row,
    all_posted,
    quick,
    ready,
    receiving,
)
from tests.support.processes import until


async def test_before_anything_was_posted(tool: Tool) -> None:
    assert (await tool("webhooks", "status", "--json")).json == {"webhooks": []}
    assert (await tool("webhooks", "dead-letters")).output == "(none)\n"


async def test_dead_letters_are_listed_and_tried_again(tool: Tool, database: Database) -> None:
    letters = [a_row("e1", "c"), a_row("e2", "c"), a_row("e3", "d"), a_row("e4", "d")]
    await database["webhook_deliveries"].insert_many(letters)
    listed = (await tool("webhooks", "dead-letters", "--limit", "3", "--json")).json
    assert (len(listed["dead"]), listed["more"]) == (3, True)
    assert listed["dead"][0] == {
        "webhook": "default",
        "eventId": "e1",
        "type": "message.created",
        "conversationId": "c",
        "tries": 12,
        "notBefore": "2026-01-31T00:00:00.000Z",
        "error": "the endpoint answered 500",
    }
    assert "the endpoint answered 500" in (await tool("webhooks", "dead-letters")).output
    refused = await tool("webhooks", "retry")
    assert (refused.code, "--all" in refused.errors) == (2, True)
    for chosen, count in (
        (("--event", "e1"), 1),
        (("--webhook", "other"), 0),
        (("--webhook", "default", "--conversation", "c"), 1),
        (("--all",), 2),
    ):
        retried = await tool("webhooks", "retry", *chosen, "--json")
        assert retried.json == {"retried": count}, chosen
    rows = await database["webhook_deliveries"].find().to_list(None)
    assert {(row["state"], row["tries"], "expiresAt" in row) for row in rows} == {
        ("waiting", 0, False)
    }


async def test_a_row_of_another_program_is_listed(tool: Tool, database: Database) -> None:
    letters: list[Any] = [{"_id": "x", "state": "dead"}, {"_id": "y", "state": "dead", "type": AT}]
    await database["webhook_deliveries"].insert_many(letters, bypass_document_validation=True)
    listed = (await tool("webhooks", "dead-letters", "--json")).json["dead"]
    found = [(letter["eventId"], letter["type"]) for letter in listed]
    assert found == [(None, None), (None, "2026-01-31T00:00:00.000Z")]
    assert (await tool("webhooks", "dead-letters")).code == 0


async def test_status_with_a_process_that_posts(
    tool: Tool, make_chat: MakeChat, database: Database
) -> None:
    """And what is tried again is posted by that process."""
    chat, is_away = await make_chat(), True

    async def answer(_: Received, __: object) -> int | None:
        return 500 if is_away else None

    async with receiving() as receiver:
        receiver.answers = answer
        plugin = quick(receiver.url, events=["message.created"], max_attempts=1)
        async with Chat(database, plugins=[plugin]):
            await ready(database)
            group = await chat.api.create_group_conversation("ada", user_ids=["bob"])
            await chat.api.send_message("ada", group.id, "hi")
            await all_posted(database, 1)
            (status,) = (await tool("webhooks", "status", "--json")).json["webhooks"]
            assert status["webhook"] == "default"
            (lease,) = await database["settings"].find({"fence": {"$gt": 0}}).to_list()
            assert status["fence"] == lease["fence"]
            assert (status["waiting"], status["dead"]) == (0, 1)
            assert status["heldUntil"] > status["readUntil"] > "2026"
            assert "default" in (await tool("webhooks", "status")).output
            is_away = False
            assert (await tool("webhooks", "retry", "--all", "--json")).json == {"retried": 1}
            await until(lambda: receiver.texts(group.id) == ["hi"])
