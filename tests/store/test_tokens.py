"""The tokens of the text index: short ones that may collide, and the upgrade to them, during which
every version finds everything."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable
from hashlib import sha256
from typing import Any

import pytest

from chat_aio import Chat
from chat_aio.actions.maintenance.check import violations_in
from chat_aio.actions.maintenance.repair import repair
from chat_aio.store import schema_version
from chat_aio.store.database import Database as Store
from chat_aio.store.maintenance import retoken
from chat_aio.store.tokenizer import search_of
from tests.conftest import Database, MakeChat, MakePeople
from tests.support.checking import expect_no_violation

Patch = pytest.MonkeyPatch
OLDER, SHORT = 16, 10
"""How long tokens are."""


def older_tokens(conversation_id: str, words: Iterable[str]) -> str:
    """As version 2 made them."""
    hashes = (sha256(f"{conversation_id}\0{each}".encode()) for each in words)
    return " ".join(each.hexdigest()[:OLDER] for each in hashes)


async def set_version(database: Database, version: int) -> None:
    row = {"$set": {"version": version}}
    await database["settings"].update_one({"_id": "schema"}, row, upsert=True)


async def send(chat: Chat, group: str, body: str) -> str:
    return (await chat.api.send_message("ada", group, body)).id


async def send_as_version_2(chat: Chat, database: Database, group: str, body: str) -> str:
    message_id = await send(chat, group, body)
    await edit_as_version_2(database, message_id, group, body)
    return message_id


async def edit_as_version_2(
    database: Database, message_id: str, group: str, body: str, **more: Any
) -> None:
    """`body` is of different words in lower case."""
    fields = {"body": body, "terms": body.split(), "search": older_tokens(group, body.split())}
    await database["messages"].update_one({"_id": message_id}, {"$set": {**fields, **more}})


async def found(chat: Chat, query: str) -> list[str]:
    page = await chat.api.search_messages("ada", query, limit=200)
    return [each.id for each in page.messages]


async def found_as_version_2(database: Database, group: str, word: str) -> list[str]:
    query = {"$text": {"$search": older_tokens(group, [word])}, "terms": word}
    rows = database["messages"].find({**query, "conversationId": group}).sort("seq", -1)
    return [each["_id"] async for each in rows]


async def lengths(database: Database, message_id: str) -> set[int]:
    """How long the tokens of a message are."""
    row = await database["messages"].find_one({"_id": message_id})
    assert row is not None
    return {len(each) for each in row["search"].split()}


async def test_versions_find_each_others_messages(make_chat: MakeChat, database: Database) -> None:
    await set_version(database, 2)
    chat = await make_chat()
    group = (await chat.api.create_group_conversation("ada")).id
    old = await send_as_version_2(chat, database, group, "word")
    new = await send(chat, group, "word")
    assert (await lengths(database, old), await lengths(database, new)) == (
        {OLDER},
        {OLDER, SHORT},
    )
    assert await found(chat, "word") == [new, old]
    assert await found_as_version_2(database, group, "word") == [new, old]
    await edit_as_version_2(database, new, group, "changed")
    await chat.api.edit_message("ada", old, "edited")
    assert await found(chat, "word") == await found_as_version_2(database, group, "word") == []
    for word, message_id in (("changed", new), ("edited", old)):
        assert await found(chat, word) == [message_id]
        assert await found_as_version_2(database, group, word) == [message_id]
    await expect_no_violation(database)


async def test_a_new_database_has_short_tokens_only(
    make_chat: MakeChat, database: Database
) -> None:
    chat = await make_chat()
    group = (await chat.api.create_group_conversation("ada")).id
    message_id = await send(chat, group, "word")
    assert await lengths(database, message_id) == {SHORT}
    await chat.api.edit_message("ada", message_id, "other 東京")
    assert await lengths(database, message_id) == {SHORT}
    assert await found(chat, "京") == [message_id]


async def test_nothing_is_missing_while_an_upgrade_is_finished(
    make_chat: MakeChat, serve: MakePeople, database: Database, monkeypatch: Patch
) -> None:
    """People send and search on two processes meanwhile; no client is told of anything."""
    monkeypatch.setattr(retoken, "AT_A_TIME", 5)
    await set_version(database, 2)
    ada = (await serve())("ada")
    other = await make_chat()
    group = await ada.group()
    words = [f"w{number}" for number in range(60)]
    sent = {each: await send_as_version_2(other, database, group, each) for each in words}
    over = asyncio.Event()

    async def keep_on(chat: Chat, name: str) -> None:
        number = 0
        while not over.is_set():
            word, number = f"{name}{number}", number + 1
            sent[word] = await send(chat, group, word)
            for each in (word, random.choice(list(sent))):
                assert await found(chat, each) == [sent[each]], each

    await ada.told_all()
    async with ada.tab() as tab, asyncio.TaskGroup() as tasks:
        tasks.create_task(keep_on(ada.chat, "a"))
        tasks.create_task(keep_on(other, "b"))
        assert await schema_version.migrate(Store(database), finish=True) == 3
        later = await make_chat()
        tasks.create_task(keep_on(later, "c"))
        await asyncio.sleep(0.5)
        over.set()
        await ada.send(group, "the end")
        told = await tab.until(lambda frame: bool(frame.data) and is_end(frame.data))
    assert {each.event for each in told if each.event} == {"message.created"}
    assert [await lengths(database, sent[each]) for each in (*words, "c0")] == [{SHORT}] * 61
    for chat in (ada.chat, other, later):
        for word, message_id in sent.items():
            assert await found(chat, word) == [message_id]
    # Processes that were opened before went on writing both kinds, which a repair mends.
    assert {each.kind for each in await violations_in(Store(database))} == {"message.tokens"}
    assert await repair(Store(database), group, dry_run=False)
    await expect_no_violation(database)


def is_end(data: Any) -> bool:
    return bool(data["message"]["body"] == "the end")


async def test_what_changes_while_an_upgrade_is_finished_stays(
    make_chat: MakeChat, database: Database, monkeypatch: Patch
) -> None:
    """Between the reading of a page and its writing, messages are edited and deleted."""
    await set_version(database, 2)
    chat = await make_chat()
    group = (await chat.api.create_group_conversation("ada")).id
    edited, deleted, kept = [
        await send_as_version_2(chat, database, group, "before") for _ in range(3)
    ]
    mend = retoken._mend

    async def late(*given: Any, **named: Any) -> None:
        await chat.api.edit_message("ada", edited, "after")
        await chat.api.delete_message("ada", deleted)
        await mend(*given, **named)

    monkeypatch.setattr(retoken, "_mend", late)
    await schema_version.migrate(Store(database), finish=True)
    assert await found(chat, "before") == [kept]
    assert await found(chat, "after") == [edited]
    row = await database["messages"].find_one({"_id": deleted})
    assert row is not None
    assert not {"terms", "search"} & set(row)


async def test_an_end_that_is_cut_short_goes_on(
    make_chat: MakeChat, database: Database, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(retoken, "AT_A_TIME", 2)
    await set_version(database, 2)
    chat = await make_chat()
    group = (await chat.api.create_group_conversation("ada")).id
    ids = {await send_as_version_2(chat, database, group, "word") for _ in range(9)}
    with monkeypatch.context() as patch:
        patch.setattr(retoken, "_mend", failing_at(3, retoken._mend))
        with pytest.raises(ConnectionError):
            await schema_version.migrate(Store(database), finish=True)
    kinds = [await lengths(database, each) for each in ids]
    assert (kinds.count({SHORT}), kinds.count({OLDER})) == (4, 5)
    assert set(await found(chat, "word")) == ids
    await expect_no_violation(database)
    # What is done already is not read again.
    rows = await database["messages"].find().sort("_id", 1).to_list(None)
    await edit_as_version_2(database, rows[0]["_id"], group, "word")
    assert await schema_version.migrate(Store(database), finish=True) == 3
    kinds = [await lengths(database, each["_id"]) for each in rows]
    assert kinds == [{OLDER}, *[{SHORT}] * 8]


def failing_at(call: int, of: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    calls = 0

    async def called(*given: Any, **named: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == call:
            raise ConnectionError
        await of(*given, **named)

    return called


@pytest.mark.parametrize("version", [2, 3])
async def test_tokens_that_are_wrong_are_found_and_mended(
    make_chat: MakeChat, database: Database, version: int
) -> None:
    """Before an upgrade is finished, the older ones are right as well."""
    await set_version(database, version)
    chat = await make_chat()
    group = (await chat.api.create_group_conversation("ada")).id
    searches = {
        "none": None,
        "others": search_of(group, ["other"], older=version < 3),
        "of elsewhere": search_of("elsewhere", ["word"], older=False),
        "short": search_of(group, ["word"], older=False),
        "both": search_of(group, ["word"], older=True),
        "older": older_tokens(group, ["word"]),
    }
    ids = {}
    for name, search in searches.items():
        ids[name] = await send(chat, group, "word")
        update = {"$set": {"search": search}} if search else {"$unset": {"search": ""}}
        await database["messages"].update_one({"_id": ids[name]}, update)
    wrong = {"none", "others", "of elsewhere"} | ({"both", "older"} if version == 3 else set())
    violations = await violations_in(Store(database))
    assert {each.id for each in violations} == {ids[each] for each in wrong}
    (would,) = await repair(Store(database), group, dry_run=True)
    assert would.before == f"wrong in {len(wrong)} messages"
    assert len(await violations_in(Store(database))) == len(wrong)
    assert await repair(Store(database), group, dry_run=False) == [would]
    await expect_no_violation(database)
    mended = {SHORT} if version == 3 else {SHORT, OLDER}
    assert [await lengths(database, ids[each]) for each in wrong] == [mended] * len(wrong)
    assert set(await found(chat, "word")) == set(ids.values())


async def test_rows_of_other_programs_do_not_stop_an_upgrade(
    make_chat: MakeChat, database: Database
) -> None:
    chat = await make_chat()
    group = (await chat.api.create_group_conversation("ada")).id
    message_id = await send_as_version_2(chat, database, group, "needle")
    await set_version(database, 2)
    broken: list[dict[str, Any]] = [{}, {"conversationId": 5}, {"terms": "x"}]
    for number, given in enumerate(broken):
        row = {"_id": f"0{number}", "seq": number, "terms": ["needle"], "search": "x", **given}
        await database["messages"].insert_one(row, bypass_document_validation=True)
    assert await schema_version.migrate(Store(database), finish=True) == 3
    assert await lengths(database, message_id) == {SHORT}
