"""What no message carries is removed, and nothing else, however many send and remove at once."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat, Hooks
from chat_aio.actions.plugin_api import ATTACHMENT_GRACE_PERIOD
from chat_aio.errors import StorageUnavailable
from chat_aio.plugins import Attachments
from chat_aio.plugins.attachments.gridfs import CHUNK_BYTES, GridFS
from chat_aio.plugins.attachments.rows import Rows
from tests.conftest import Database, MakePeople
from tests.plugins.attachments.uploading import (
    PNG,
    TEXT,
    attached,
    kept_bytes,
    let_pass,
    sent,
    status_for,
    upload,
)
from tests.support.deleted import settled
from tests.support.moderating import is_mod
from tests.support.people import PATIENCE, Person
from tests.support.saboteurs import prove

People = Callable[[str], Person]
SELDOM = 3_600.0


@pytest.fixture
def plugin() -> Attachments:
    return Attachments(cleanup_interval_seconds=SELDOM)


@pytest.fixture
async def people(serve: MakePeople, plugin: Attachments) -> People:
    return await serve(Hooks(can_moderate=is_mod), plugins=[plugin], moderation_tools=True)


async def row_of(database: Database, attachment_id: str) -> Any:
    row = await database["attachments"].find_one({"_id": attachment_id})
    assert row is not None
    return {**row, "keepUntil": row["keepUntil"].replace(tzinfo=UTC)}


async def test_what_was_never_sent_goes_after_a_day(
    people: People, plugin: Attachments, database: Database
) -> None:
    alice = people("alice")
    group = await alice.group("bob")
    unsent, message = await attached(alice, group, TEXT), await sent(alice, group)
    assert await plugin.sweep() == 0
    kept_until = (await row_of(database, unsent))["keepUntil"]
    assert kept_until - datetime.now(UTC) > timedelta(hours=23)
    await let_pass(database)
    assert await plugin.sweep() == 1
    assert await status_for(alice, unsent) == 404
    assert await status_for(alice, message["attachments"][0]["id"]) == 200
    gone = await row_of(database, unsent)
    assert (gone["state"], gone["name"]) == ("gone", "")
    assert gone["expiresAt"] == gone["createdAt"] + timedelta(days=1)
    assert not await database["attachment_bytes.files"].find_one({"_id": unsent})
    assert not await database["attachment_bytes.chunks"].find_one({"files_id": unsent})
    assert await plugin.sweep() == 0  # What was kept is looked at again in a day.


async def test_the_bytes_go_with_the_last_message(serve: MakePeople, database: Database) -> None:
    plugin = Attachments(cleanup_interval_seconds=SELDOM)
    people = await serve(plugins=[plugin])
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    message = await sent(alice, group)
    (attachment,) = message["attachments"]
    answer = await bob.post(f"/messages/{message['id']}/forward", {"conversationId": group})
    for holder in (message, answer.json["message"]):
        assert await kept_bytes(database) >= len(PNG)
        await let_pass(database)
        assert await plugin.sweep() == 0
        deleter = alice if holder["senderId"] == "alice" else bob
        await deleter.delete(holder["id"])
        await looked_soon(database, attachment["id"])
    await let_pass(database)
    assert await plugin.sweep() == 1
    assert await kept_bytes(database) == 0


async def test_files_of_a_deleted_conversation(
    people: People, plugin: Attachments, database: Database
) -> None:
    """They go, except what a forward elsewhere carries."""
    alice, bob = people("alice"), people("bob")
    group, other = await alice.group("bob"), await alice.group("bob")
    kept, gone = await sent(alice, group), await sent(alice, group)
    answer = await bob.post(f"/messages/{kept['id']}/forward", {"conversationId": other})
    assert answer.status == 201
    await alice.chat.conversations.delete_conversation("shop", group)
    await settled(database, group)
    for message in (kept, gone):
        await looked_soon(database, message["attachments"][0]["id"])
    await let_pass(database)
    assert await plugin.sweep() == 1
    assert await status_for(bob, kept["attachments"][0]["id"]) == 200
    assert await status_for(alice, gone["attachments"][0]["id"]) == 404
    (copy,) = await bob.listed(f"/conversations/{other}/messages")
    assert copy["attachments"] == kept["attachments"]


async def looked_soon(database: Database, attachment_id: str) -> None:
    """Wait until the deletion of a message has brought the next look forward."""
    async with asyncio.timeout(PATIENCE):
        while True:
            row = await row_of(database, attachment_id)
            if row["keepUntil"] <= datetime.now(UTC) + ATTACHMENT_GRACE_PERIOD:
                return
            await asyncio.sleep(0.01)


async def test_what_moderators_may_bring_back_keeps_its_bytes(
    people: People, plugin: Attachments, database: Database
) -> None:
    alice, mod = people("alice"), people("mod")
    message = await sent(alice, await alice.group("bob"))
    await mod.post(f"/moderation/tools/messages/{message['id']}/remove", {})
    await let_pass(database)
    assert await plugin.sweep() == 0
    await database["message_versions"].delete_many({})  # As MongoDB does when they expire.
    await let_pass(database)
    assert await plugin.sweep() == 1


async def test_a_legal_hold_keeps_what_was_not_sent(
    people: People, plugin: Attachments, database: Database
) -> None:
    alice = people("alice")
    await attached(alice, await alice.group("bob"))
    hold = {"targetType": "user", "targetId": "alice", "reason": "", "createdByUserId": "mod"}
    now = datetime.now(UTC)
    await database["legal_holds"].insert_one({"_id": "user:alice", **hold, "createdAt": now})
    await let_pass(database)
    assert await plugin.sweep() == 0
    assert await kept_bytes(database) > 0


async def test_no_message_loses_a_file_that_it_begins_to_carry(
    people: People, plugin: Attachments, database: Database
) -> None:
    """The sweep finds no message that carries a file, and then one begins to."""
    alice = people("alice")
    group = await alice.group("bob")

    async def send_behind_the_question() -> None:
        ids = [await attached(alice, group) for _ in range(10)]
        await let_pass(database)
        carried = type(plugin.api).carried_attachments

        async def then_send(api: Any, asked: Sequence[str]) -> set[str]:
            found = await carried(api, asked)
            sending = (
                alice.send(group, "look", attachmentIds=[attachment_id]) for attachment_id in ids
            )
            await asyncio.gather(*sending)
            return found

        with patch.object(type(plugin.api), "carried_attachments", then_send):
            await plugin.sweep()
        assert [await status_for(alice, attachment_id) for attachment_id in ids] == [200] * len(ids)

    async def without_keeping(*_: Any) -> None:
        return

    sabotage = patch.object(Rows, "use", without_keeping)
    await prove(send_behind_the_question, sabotage=sabotage)


async def test_what_is_being_removed_cannot_be_sent(
    people: People, plugin: Attachments, database: Database
) -> None:
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    attachment_id = await attached(alice, group)
    path, given = (
        f"/conversations/{group}/messages",
        {"body": "a", "attachmentIds": [attachment_id]},
    )
    codes: list[str | None] = []
    delete = GridFS.delete

    async def while_removing(store: GridFS, file_id: str) -> None:
        codes.append((await alice.post(path, given)).code)
        await delete(store, file_id)

    await let_pass(database)
    with patch.object(GridFS, "delete", while_removing):
        assert await plugin.sweep() == 1
    assert set(codes) == {"ATTACHMENT_NOT_FOUND"}
    assert not await bob.listed(path)


async def test_what_is_removed_during_a_send_is_not_sent(
    serve: MakePeople, plugin: Attachments, database: Database
) -> None:
    """The host's hook is called between the question and the commit."""

    async def remove(_: object) -> None:
        await let_pass(database)
        assert await plugin.sweep() == 1

    alice = (await serve(Hooks(before_message_send=remove), plugins=[plugin]))("alice")
    group = await alice.group("bob")
    path, attachment_id = f"/conversations/{group}/messages", await attached(alice, group)
    answer = await alice.post(path, {"body": "look", "attachmentIds": [attachment_id]})
    assert answer.code == "ATTACHMENT_NOT_FOUND"
    assert not await alice.listed(path)


async def test_many_send_and_sweep_at_once(people: People, database: Database) -> None:
    """Each file is sent, and there; or it is gone, and was not sent."""
    alice = people("alice")
    group = await alice.group("bob")
    ids = [await attached(alice, group, TEXT) for _ in range(24)]
    await let_pass(database)
    others = [Attachments(cleanup_interval_seconds=SELDOM) for _ in range(4)]
    chats = [Chat(database, plugins=[other]) for other in others]
    path = f"/conversations/{group}/messages"
    for chat in chats:
        await chat.open()
    try:
        answers, _ = await asyncio.gather(
            asyncio.gather(
                *(
                    alice.post(path, {"body": "look", "attachmentIds": [attachment_id]})
                    for attachment_id in ids
                )
            ),
            asyncio.gather(*(other.sweep() for other in others)),
        )
    finally:
        for chat in chats:
            await chat.close()
    for attachment_id, answer in zip(ids, answers, strict=True):
        assert answer.code in (None, "ATTACHMENT_NOT_FOUND")
        expected = 200 if answer.status == 201 else 404
        assert await status_for(alice, attachment_id) == expected
        left = await database["attachment_bytes.chunks"].count_documents(
            {"files_id": attachment_id}
        )
        assert left == (1 if expected == 200 else 0)


async def test_a_removal_that_was_cut_short_goes_on(
    people: People, plugin: Attachments, database: Database
) -> None:
    alice = people("alice")
    attachment_id = await attached(alice, await alice.group("bob"))
    await let_pass(database)

    async def fail(*_: Any) -> None:
        raise StorageUnavailable

    with patch.object(GridFS, "delete", fail), pytest.raises(StorageUnavailable):
        await plugin.sweep()
    assert (await row_of(database, attachment_id))["state"] == "removing"
    assert await plugin.sweep() == 0  # For some minutes it is left to the one that has begun.
    await let_pass(database)
    assert await plugin.sweep() == 1
    assert await kept_bytes(database) == 0


async def test_what_a_dead_process_has_left_of_an_upload_goes(
    people: People, plugin: Attachments, database: Database
) -> None:
    alice = people("alice")
    group = await alice.group("bob")
    stuck = asyncio.Event()

    async def save(store: GridFS, file_id: str, chunks: AsyncIterator[bytes]) -> None:
        await store._write(file_id, 0, b"x" * CHUNK_BYTES)
        stuck.set()
        await asyncio.Event().wait()

    with patch.object(GridFS, "save", save):
        uploading = asyncio.create_task(upload(alice, group))
        await asyncio.wait_for(stuck.wait(), PATIENCE)
    assert await plugin.sweep() == 0
    await let_pass(database)
    assert await plugin.sweep() == 1
    assert await kept_bytes(database) == 0
    uploading.cancel()


async def test_one_process_sweeps_at_a_time(database: Database) -> None:
    plugins = [Attachments(cleanup_interval_seconds=SELDOM) for _ in range(5)]
    chats = [Chat(database, plugins=[plugin]) for plugin in plugins]
    for chat in chats:
        await chat.open()
    claims = await asyncio.gather(*(plugin._rows.claim_sweep(seconds=600) for plugin in plugins))
    assert sum(claims) == 1
    for chat in chats:
        await chat.close()


async def test_it_sweeps_by_itself(serve: MakePeople, database: Database) -> None:
    people = await serve(plugins=[Attachments(cleanup_interval_seconds=0.05)])
    alice = people("alice")
    await attached(alice, await alice.group("bob"))
    await let_pass(database)
    async with asyncio.timeout(PATIENCE):
        while True:
            if not await kept_bytes(database):
                return
            await asyncio.sleep(0.02)


async def test_files_of_another_store_are_left_alone(
    people: People, plugin: Attachments, database: Database
) -> None:
    alice = people("alice")
    attachment_id = await attached(alice, await alice.group("bob"))
    await database["attachments"].update_many({}, {"$set": {"store": "elsewhere"}})
    await let_pass(database)
    assert await plugin.sweep() == 0
    assert await status_for(alice, attachment_id) == 404
    assert await kept_bytes(database) > 0
