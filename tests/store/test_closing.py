"""A chat that is closed finishes the changes that it has queued, as it does with sends."""

import asyncio
from collections.abc import Callable

import pytest

from chat_aio import chat as chat_module
from tests.conftest import Database, MakeChat

CHANGES = 100


async def test_queued_membership_changes_are_finished(
    database: Database, make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_module, "CLOSE_SECONDS", 60)  # A busy machine takes its time.
    chat = await make_chat()
    group = await chat.api.create_group_conversation("alice")
    queue = chat._context.membership._queue
    # While the conversation is held, all changes wait: the first ones in a round, the rest behind.
    async with chat._context.sequencer.hold(group.id):
        adding = [
            asyncio.create_task(chat.api.add_participants("alice", group.id, [f"user {number}"]))
            for number in range(CHANGES)
        ]
        await until(lambda: group.id in queue and len(queue._by_key[group.id]._waiting) > 80)
    await chat.close()
    document = await database["conversations"].find_one({"_id": group.id})
    assert document is not None
    assert len(document["participants"]) == CHANGES + 1
    await asyncio.gather(*adding)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
