"""What the commands do about attachments: erasure, retention, and conversations that move."""

from typing import Any

import pytest

from chat_aio.plugins import Attachments
from tests.admin.running import DO, Tool
from tests.conftest import Database, MakePeople
from tests.plugins.attachments.uploading import TEXT, attached, let_pass, sent, status_for

SELDOM = 3_600.0


async def test_erasure_takes_the_name_and_the_bytes(
    serve: MakePeople, database: Database, tool: Tool
) -> None:
    plugin = Attachments(cleanup_interval_seconds=SELDOM)
    people = await serve(plugins=[plugin])
    mallory, alice = people("mallory"), people("alice")
    group = await mallory.group("alice")
    gone, unsent = await sent(mallory, group), await attached(mallory, group, TEXT)
    kept = await sent(mallory, group)
    copy = await alice.post(f"/messages/{kept['id']}/forward", {"conversationId": group})
    would = await tool("users", "erase", "mallory", *DO, "--dry-run", "--json")
    erased = await tool("users", "erase", "mallory", *DO)
    assert (would.json["sharedFiles"], erased.code) == (1, 0)
    assert "Files in others' forwards are kept, with their names: 1." in erased.errors
    assert await database["attachments"].count_documents({"userId": "mallory"}) == 0
    assert await plugin.sweep() == 0  # A forward may be under way that keeps one of them.
    await let_pass(database)
    assert await plugin.sweep() == 2
    ids = [gone["attachments"][0]["id"], unsent, kept["attachments"][0]["id"]]
    assert [await status_for(alice, attachment_id) for attachment_id in ids] == [404, 404, 200]
    left = await database["attachment_bytes.files"].distinct("_id")
    assert left == [ids[2], f"{ids[2]}-thumbnail"]
    assert copy.json["message"]["attachments"] == kept["attachments"]


@pytest.mark.parametrize("how", [(), ("--remove",)])
async def test_retention_leaves_files_that_nobody_carries(
    serve: MakePeople, database: Database, tool: Tool, how: tuple[str, ...]
) -> None:
    plugin = Attachments(cleanup_interval_seconds=SELDOM)
    alice = (await serve(plugins=[plugin]))("alice")
    group = await alice.group("bob")
    old, new = await sent(alice, group), await sent(alice, group)
    year = {"$subtract": ["$createdAt", 365 * 24 * 3_600_000]}
    aged = [{"$set": {"createdAt": year}}]
    await database["messages"].update_one({"_id": old["id"]}, aged)
    assert (await tool("retention", "--older-than", "30", *how, *DO)).code == 0
    assert await status_for(alice, old["attachments"][0]["id"]) == 404
    await let_pass(database)
    assert await plugin.sweep() == 1
    assert await status_for(alice, new["attachments"][0]["id"]) == 200


async def test_conversations_move_with_what_their_messages_carry(
    serve: MakePeople, database: Database, tool: Tool, tmp_path: Any
) -> None:
    alice = (await serve(plugins=[Attachments()]))("alice")
    group = await alice.group("bob")
    message = await sent(alice, group)
    file = str(tmp_path / "room.jsonl")
    assert (await tool("conversations", "export", group, "--output", file)).code == 0
    for name in ("conversations", "counters", "messages"):
        await database[name].delete_many({})
    assert (await tool("conversations", "import", file)).code == 0
    row = await database["messages"].find_one({"_id": message["id"]})
    assert row is not None
    assert row["attachments"] == message["attachments"]
    assert await status_for(alice, message["attachments"][0]["id"]) == 200


async def test_how_many_there_are_and_what_nobody_carries(
    serve: MakePeople, database: Database, tool: Tool
) -> None:
    nothing = await tool("attachments", "status")
    assert (nothing.code, nothing.output) == (0, "(none)\n")
    alice = (await serve(plugins=[Attachments(cleanup_interval_seconds=SELDOM)]))("alice")
    group = await alice.group("bob")
    message, _ = await sent(alice, group, TEXT), await attached(alice, group, TEXT)
    row = {"store": "gridfs", "state": "stored", "files": 2, "bytes": 2 * len(TEXT)}
    assert (await tool("attachments", "status", "--json")).json == {"attachments": [row]}
    assert (await tool("attachments", "sweep", "--json", "--yes")).json == {"removed": 0}
    await let_pass(database)
    would = (await tool("attachments", "sweep", "--json", "--dry-run")).json
    assert (would["would"], would["removed"]) == (f"remove 1 files ({len(TEXT)} bytes)", 1)
    assert (await tool("attachments", "sweep", "--json", "--yes")).json == {"removed": 1}
    assert "gone" in (await tool("attachments", "status")).output
    assert await status_for(alice, message["attachments"][0]["id"]) == 200
