"""The tokens of the text index: short hashes that may collide, checked against the terms."""

from typing import Any

from chat_aio import Chat
from chat_aio.actions.maintenance.check.database import violations_in
from chat_aio.actions.maintenance.repair import repair
from chat_aio.store.database import Database as Store
from chat_aio.store.maintenance import repair as stored
from chat_aio.store.tokenizer import search_of
from tests.conftest import Database, MakeChat
from tests.support.checking import expect_no_violation

LENGTH = 10
"""The length of a token."""


async def send(chat: Chat, group: str, body: str) -> str:
    return (await chat.api.send_message("ada", group, body)).id


async def search(chat: Chat, query: str) -> list[str]:
    page = await chat.api.search_messages("ada", query, limit=200)
    return [message.id for message in page.messages]


async def lengths(database: Database, message_id: str) -> set[int]:
    """The lengths of the tokens of a message."""
    row = await database["messages"].find_one({"_id": message_id})
    assert row is not None
    return {len(token) for token in row["search"].split()}


async def test_sends_and_edits_store_short_tokens(make_chat: MakeChat, database: Database) -> None:
    chat = await make_chat()
    group = (await chat.api.create_group_conversation("ada")).id
    message_id = await send(chat, group, "word")
    assert await lengths(database, message_id) == {LENGTH}
    await chat.api.edit_message("ada", message_id, "other 東京")
    assert await lengths(database, message_id) == {LENGTH}
    assert await search(chat, "京") == [message_id]


async def test_wrong_tokens_are_found_and_repaired(make_chat: MakeChat, database: Database) -> None:
    chat = await make_chat()
    group = (await chat.api.create_group_conversation("ada")).id
    searches = {
        "right": search_of(group, ["word"]),
        "none": None,
        "others": search_of(group, ["other"]),
        "of elsewhere": search_of("elsewhere", ["word"]),
        "too many": search_of(group, ["word", "other"]),
    }
    ids = {}
    for name, tokens in searches.items():
        ids[name] = await send(chat, group, "word")
        update = {"$set": {"search": tokens}} if tokens else {"$unset": {"search": ""}}
        await database["messages"].update_one({"_id": ids[name]}, update)
    wrong = searches.keys() - {"right"}
    violations = await violations_in(Store(database))
    assert {violation.kind for violation in violations} == {"message.tokens"}
    assert {violation.id for violation in violations} == {ids[name] for name in wrong}
    (would,) = await repair(Store(database), group, dry_run=True)
    assert would.before == f"wrong in {len(wrong)} messages"
    assert len(await violations_in(Store(database))) == len(wrong)
    assert await repair(Store(database), group, dry_run=False) == [would]
    await expect_no_violation(database)
    assert set(await search(chat, "word")) == set(ids.values())


async def test_edits_and_deletions_during_a_repair_win(
    make_chat: MakeChat, database: Database
) -> None:
    """They come between the reading of a page and its writing."""
    chat = await make_chat()
    group = (await chat.api.create_group_conversation("ada")).id
    edited, deleted, kept = [await send(chat, group, "before") for _ in range(3)]
    await database["messages"].update_many({}, {"$set": {"search": "wrong"}})
    store = Store(database)
    write = store.write

    async def late(*arguments: Any, **named: Any) -> Any:
        await chat.api.edit_message("ada", edited, "after")
        await chat.api.delete_message("ada", deleted)
        return await write(*arguments, **named)

    store.write = late  # type: ignore[method-assign]
    assert await stored.repair_tokens(store, group, dry_run=False) == 3
    assert await search(chat, "before") == [kept]
    assert await search(chat, "after") == [edited]
    row = await database["messages"].find_one({"_id": deleted})
    assert row is not None
    assert not {"terms", "search"} & set(row)


async def test_unreadable_rows_do_not_stop_a_repair(
    make_chat: MakeChat, database: Database
) -> None:
    chat = await make_chat()
    group = (await chat.api.create_group_conversation("ada")).id
    message_id = await send(chat, group, "needle")
    await database["messages"].update_one({"_id": message_id}, {"$set": {"search": "wrong"}})
    spoilt: list[dict[str, Any]] = [{"terms": "x"}, {"terms": [5]}, {"search": "x"}]
    for number, fields in enumerate(spoilt):
        row = {"_id": f"0{number}", "seq": 10 + number, "conversationId": group, **fields}
        await database["messages"].insert_one(row, bypass_document_validation=True)
    # The third row has no terms, so it must have no tokens.
    assert await stored.repair_tokens(Store(database), group, dry_run=False) == 2
    assert await search(chat, "needle") == [message_id]
