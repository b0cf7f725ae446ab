"""`chat-aio indexes`: what is missing, different or surplus; making what is missing."""

import json

import pytest

from tests.admin.running import Tool
from tests.conftest import Database


@pytest.mark.new_database
async def test_indexes_are_checked_and_applied(tool: Tool, database: Database) -> None:
    found = await tool("indexes", "check")
    assert (found.code, "missing  conversations" in found.output) == (3, True)
    would = await tool("indexes", "apply", "--dry-run", "--json")
    absent = would.json["would"]["missing"]
    assert {"collection": "settings", "index": None} in absent
    assert await database.list_collection_names() == []
    made = await tool("indexes", "apply", "--json")
    assert "Creating" in made.errors
    assert made.json == {"created": absent}
    done = await tool("indexes", "check")
    assert (done.code, done.output) == (0, "All indexes are there, and no others.\n")
    assert "Nothing done" in (await tool("indexes", "apply")).output


async def test_what_differs_is_named(tool: Tool, database: Database) -> None:
    await tool("indexes", "apply")
    await database["bans"].drop_index("active_user")
    await database["mutes"].drop_index("user_newest")
    await database["mutes"].create_index("userId", name="user_newest")
    await database["messages"].create_index("senderId", name="mine")
    found = await tool("indexes", "check", "--json")
    assert (found.code, json.loads(found.output)) == (
        3,
        {
            "missing": [{"collection": "bans", "index": "active_user"}],
            "different": [{"collection": "mutes", "index": "user_newest"}],
            # That of an option that is off, too.
            "surplus": [
                {"collection": "conversations", "index": "participant_views"},
                {"collection": "conversations", "index": "key"},
                {"collection": "messages", "index": "conversation_reacted"},
                {"collection": "messages", "index": "conversation_terms"},
                {"collection": "messages", "index": "conversation_newest"},
                {"collection": "messages", "index": "conversation_sender_newest"},
                {"collection": "messages", "index": "conversation_attached_newest"},
                {"collection": "messages", "index": "conversation_mentioned_newest"},
                {"collection": "messages", "index": "mine"},
            ],
        },
    )
    refused = await tool("indexes", "apply")
    assert "user_newest" in refused.refusal_at_work
    await database["mutes"].drop_index("user_newest")
    assert (await tool("indexes", "apply")).code == 0
    found = await tool("indexes", "check")
    assert (found.code, "surplus" in found.output) == (0, True)


async def test_indexes_of_metadata_are_named_and_created(tool: Tool, database: Database) -> None:
    fields = "--metadata-indexes", "orderId,50% off"
    names = ["metadata.orderId", "metadata.50%25 off"]
    found = await tool("indexes", "check", *fields, "--json")
    missing = json.loads(found.output)["missing"]
    assert (found.code, [row["index"] for row in missing]) == (3, names)
    doctor = await tool("doctor", CHAT_AIO_METADATA_INDEXES="orderId")
    assert "metadata.orderId does not exist" in doctor.output
    made = await tool("indexes", "apply", *fields, "--json")
    assert [row["index"] for row in made.json["created"]] == names
    assert {*names} < set(await database["conversations"].index_information())
    assert (await tool("indexes", "check", *fields)).code == 0


@pytest.mark.parametrize("command", [("check",), ("indexes", "check")], ids=" ".join)
async def test_a_wrong_url_is_one_line(command: tuple[str, ...], tool: Tool) -> None:
    for url in ("mongodb://127.0.0.1:99999/", "mongodb://["):
        failed = await tool(*command, "--mongo-url", url)
        assert failed.code == 2
        (said,) = failed.errors.splitlines()
        assert said.startswith("Error: --mongo-url: ")
