"""Validators: said by documents.py, made and verified with the indexes, and what they refuse."""

import asyncio
import json
from hashlib import sha256
from typing import Any

import pytest
from pymongo.errors import WriteError

from chat_aio import Chat, Options
from chat_aio.store import indexes, shapes
from chat_aio.store.database import COLLECTIONS
from chat_aio.store.database import Database as Store
from tests.conftest import Database, MakeChat
from tests.support.people import Person

REVISIONS = {1: "c0cc31bd738f217f", 2: "72007eea6c8ac093", 3: "e9072b12f07f5412"}
"""What each revision is. A change of a document that is not released yet only changes the last."""


def test_a_change_of_the_validators_is_a_new_revision() -> None:
    said = json.dumps([shapes.validator(collection) for collection in COLLECTIONS], sort_keys=True)
    assert sha256(said.encode()).hexdigest()[:16] == REVISIONS[shapes.REVISION]


def test_there_is_one_for_each_collection() -> None:
    assert set(shapes.DOCUMENTS) == set(COLLECTIONS)


@pytest.mark.new_database
async def test_they_are_made_and_verified(make_chat: MakeChat, database: Database) -> None:
    await make_chat()
    assert await indexes.differences(Store(database)) == []
    await database.command("collMod", "messages", validator={})
    await database.command("collMod", "bans", validator={"x": 1})
    found = await indexes.missing(Store(database))
    assert found == [
        "the validator of messages does not exist",
        "the validator of bans is not as described",
    ]
    await indexes.apply(Store(database))
    assert await indexes.missing(Store(database)) == []


async def test_a_start_sets_what_is_missing_and_leaves_what_is_the_hosts(
    make_chat: MakeChat, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await make_chat()
    older = {"$jsonSchema": {"title": "chat_aio 0"}}
    newer = {"$jsonSchema": {"title": f"chat_aio {shapes.REVISION + 1}"}}
    own = {"body": {"$type": "string"}}
    given = {"messages": own, "invites": older, "mutes": newer, "bans": {}}
    for name, validator in given.items():
        await database.command("collMod", name, validator=validator)
    await make_chat(manage_indexes=False)
    assert "validator of bans does not exist" in caplog.text
    await make_chat()
    found = await validators(database)
    assert {name: found[name] for name in given} == {
        "messages": own,
        "invites": shapes.validator("invites"),
        "mutes": newer,
        "bans": shapes.validator("bans"),
    }


async def validators(database: Database) -> dict[str, Any]:
    found = await database.list_collections()
    return {row["name"]: row["options"].get("validator") async for row in found}


async def test_they_refuse_what_readers_would_leave_out(
    make_chat: MakeChat, database: Database
) -> None:
    """What is bad already can still be mended, and other fields are anybody's."""
    chat = await make_chat()
    group = await chat.api.create_group_conversation("ada")
    await chat.api.send_message("ada", group.id, "hello")
    row: Any = await database["messages"].find_one()
    bad = {key: value for key, value in row.items() if key != "mentions"}
    with pytest.raises(WriteError):
        await database["messages"].insert_one({**bad, "_id": "bad", "seq": 2})
    with pytest.raises(WriteError):
        await database["messages"].update_one({}, {"$set": {"seq": "two"}})
    await database["messages"].update_one({}, {"$set": {"colour": "red"}})
    await database["messages"].insert_one(
        {**bad, "_id": "bad", "seq": 2}, bypass_document_validation=True
    )
    await database["messages"].update_one({"_id": "bad"}, {"$set": {"body": "mending"}})
    await database["messages"].update_one({"_id": "bad"}, {"$set": {"mentions": []}})
    with pytest.raises(WriteError):
        await database["messages"].update_one({"_id": "bad"}, {"$unset": {"mentions": ""}})


async def test_a_message_that_is_refused_fails_alone(person: Any, database: Database) -> None:
    """Its neighbours of the same batch are kept."""
    alice: Person = person("alice")
    group = await alice.group("bob")
    validator = shapes.validator("messages")
    odd = {"$and": [validator, {"body": {"$ne": "odd"}}]}
    await database.command("collMod", "messages", validator=odd)
    here = f"/conversations/{group}/messages"
    bodies = [*(f"even {number}" for number in range(20)), "odd"]
    answers = await asyncio.gather(*(alice.post(here, {"body": body}) for body in bodies))
    assert [answer.status for answer in answers] == [201] * 20 + [500]
    kept = await database["messages"].distinct("body")
    assert set(kept) == set(bodies) - {"odd"}


async def test_without_validators_a_chat_works(database: Database) -> None:
    """Where nobody may set them."""
    await indexes.apply(Store(database))
    for name in COLLECTIONS:
        await database.command("collMod", name, validator={})
    async with Chat(database, options=Options(manage_indexes=False)) as chat:
        group = await chat.api.create_group_conversation("ada")
        assert (await chat.api.send_message("ada", group.id, "hello")).seq == 1
