"""A database that is copied whole is the same chat; without its key, people do not meet again."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options
from chat_aio.admin.cli import main
from chat_aio.embedded import Mongod
from chat_aio.store import indexes
from chat_aio.store.database import Database as Store
from tests.conftest import Database, MakeChat


async def copied(database: Database, name: str, *, without: str | None = None) -> Database:
    """Another database with the documents of this one."""
    other = database.client[name]
    for collection in await database.list_collection_names():
        documents = await database[collection].find().to_list()
        if documents and collection != without:
            await other[collection].insert_many(documents)
    return other


@pytest.mark.parametrize("without", [None, "settings"])
async def test_a_restored_database(
    make_chat: MakeChat, database: Database, without: str | None
) -> None:
    chat = await make_chat()
    before = await chat.api.get_or_create_conversation("ada", "grace")
    sent = await chat.api.send_message("ada", before.id, "Hello!", client_message_id="k")
    await chat.close()
    other = await copied(database, f"{database.name}_copy", without=without)
    await indexes.apply(Store(other))
    async with Chat(other, options=Options(replay_buffer_seconds=1)) as restored:
        after = await restored.api.get_or_create_conversation("grace", "ada")
        assert (after.id == before.id) is (without is None)
        assert after.unread_count == (1 if without is None else 0)
        again: Any = await restored.api.send_message(
            "ada", before.id, "Hello!", client_message_id="k"
        )
        assert again == sent
        assert (await restored.api.send_message("ada", before.id, "Back")).seq == 2
        listed = await restored.api.list_conversations("ada")
        assert before.id in [conversation.id for conversation in listed.conversations]


async def test_the_command_after_a_restore(
    make_chat: MakeChat, client_url: str, database: Database
) -> None:
    """It notes the primary's time, names counters that are behind, and raises them."""
    chat = await make_chat()
    group = await chat.api.create_group_conversation("ada")
    other = await chat.api.create_group_conversation("ada")
    for conversation in (group, group, group, other):
        await chat.api.send_message("ada", conversation.id, "hello")
    await chat.close()
    await database["counters"].update_one({"_id": group.id}, {"$set": {"seq": 1}})
    place = ("--mongo-url", client_url, "--database", database.name)

    async def restored(*options: str) -> Result:
        command = ["mark-restored", "--yes", *options, *place]
        return await asyncio.to_thread(CliRunner().invoke, main, command)

    before = (await database.command("hello"))["localTime"]
    named = await restored()
    noted = await database["settings"].find_one({"_id": "restored"})
    assert noted is not None
    assert before <= noted["at"] <= (await database.command("hello"))["localTime"]
    assert (named.exit_code, f"counter of {group.id} is 1, behind 3" in named.output) == (3, True)
    mended = await restored("--repair")
    assert (mended.exit_code, "raised from 1" in mended.output) == (0, True)
    assert "no counter is behind" in (await restored()).output
    async with Chat(database, options=Options(replay_buffer_seconds=1)) as again:
        assert (await again.api.send_message("ada", group.id, "on")).seq == 4
        assert (await again.api.send_message("ada", other.id, "on")).seq == 2


async def test_a_copy_of_the_files(tmp_path: Path) -> None:
    """A MongoDB over files that were copied while writes were locked: the check names what is left
    to be done, does it, and the chat goes on from the moment of the copy."""
    # Its diagnostics are written also while writes are locked: a file could go away amid the copy.
    quiet = ("--setParameter", "diagnosticDataCollectionEnabled=0")
    async with (
        Mongod(tmp_path / "here", options=quiet) as mongod,
        AsyncMongoClient[dict[str, Any]](mongod.url) as client,
        Chat(client["chat"], options=Options(replay_buffer_seconds=1)) as chat,
    ):
        group = await chat.api.create_group_conversation("ada", user_ids=["grace"])
        await chat.api.send_message("ada", group.id, "kept")
        await client.admin.command("fsync", lock=True)
        try:
            shutil.copytree(tmp_path / "here", tmp_path / "copy")
        finally:
            await client.admin.command("fsyncUnlock")
        await chat.api.send_message("ada", group.id, "lost")
    (tmp_path / "copy" / "mongod.lock").unlink()
    async with Mongod(tmp_path / "copy") as mongod:

        async def check(*options: str) -> tuple[int, list[str]]:
            place = ("--mongo-url", mongod.url, "--database", "chat")
            command = ["check", "--after-restore", "--json", *options, *place]
            run = await asyncio.to_thread(CliRunner().invoke, main, command)
            return run.exit_code, [
                violation["kind"] for violation in json.loads(run.stdout)["violations"]
            ]

        assert await check() == (3, ["restore.noted"])
        assert await check("--repair", "--dry-run") == (3, ["restore.noted"])
        assert await check("--repair") == (0, [])
        assert await check() == (0, [])
        async with AsyncMongoClient[dict[str, Any]](mongod.url) as client:
            async with Chat(client["chat"], options=Options(replay_buffer_seconds=1)) as chat:
                sent = await chat.api.send_message("grace", group.id, "on")
                assert sent.seq == 2
                listed = await chat.api.list_messages("ada", group.id)
                assert [message.body for message in listed.messages] == ["on", "kept"]
            older = {"$set": {"version": 0}}
            await client["chat"]["settings"].update_one({"_id": "schema"}, older)
        assert await check() == (3, ["schema.version", "restore.noted"])
