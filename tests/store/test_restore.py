"""A database that is copied whole is the same chat; without its key, people do not meet again."""

from typing import Any

import pytest

from chat_aio import Chat, Options
from tests.conftest import Database, MakeChat


async def copied(database: Database, name: str, *, without: str | None = None) -> Database:
    """Another database with the documents of this one."""
    other = database.client[name]
    for each in await database.list_collection_names():
        documents = await database[each].find().to_list()
        if documents and each != without:
            await other[each].insert_many(documents)
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
    async with Chat(other, options=Options(ring_seconds=1)) as restored:
        after = await restored.api.get_or_create_conversation("grace", "ada")
        assert (after.id == before.id) is (without is None)
        assert after.unread_count == (1 if without is None else 0)
        again: Any = await restored.api.send_message(
            "ada", before.id, "Hello!", client_message_id="k"
        )
        assert again == sent
        assert (await restored.api.send_message("ada", before.id, "Back")).seq == 2
        listed = await restored.api.list_conversations("ada")
        assert before.id in [each.id for each in listed.conversations]
