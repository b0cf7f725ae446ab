"""Decoded conversations: kept by their bytes, so that a list shows what is stored now."""

import logging

import pytest

from chat_aio.schema.models import ConversationView, OptionalFields
from chat_aio.schema.wire import json_from
from chat_aio.store.decoded import DecodedConversation, DecodedConversations
from tests.store.conftest import Store


async def read_one(decoded: DecodedConversations, conversation_id: str) -> DecodedConversation:
    found, stored_bytes, read = await decoded.read_some([conversation_id])
    assert (list(found), read) == ([conversation_id], 1)
    assert stored_bytes > 0
    return found[conversation_id]


async def test_the_same_bytes_are_decoded_once(store: Store) -> None:
    group = await store.conversation("alice", "bob")
    decoded = DecodedConversations(store.database)
    first = await read_one(decoded, group["_id"])
    assert await read_one(decoded, group["_id"]) is first


@pytest.mark.parametrize("on", [False, True])
async def test_the_json_is_that_of_the_objects(store: Store, on: bool) -> None:
    group = await store.conversation("alice", "bob")
    store.database.optional_fields = OptionalFields(room_controls=on, views=on)
    decoded = DecodedConversations(store.database)
    found = await read_one(decoded, group["_id"])
    for unread_count in (0, 7):
        assert found.viewed_json(unread_count) == json_from(found.viewed(unread_count))
    view = ConversationView(archived=True, cleared_up_to_seq=3)
    assert found.viewed_json(1, view) == json_from(found.viewed(1, view))
    assert (b'"frozen":' in found.viewed_json(0)) == (b'"view":' in found.viewed_json(0)) == on


async def test_what_another_program_has_changed_is_shown_at_once(store: Store) -> None:
    group = await store.conversation("alice", "bob")
    decoded = DecodedConversations(store.database)
    await read_one(decoded, group["_id"])
    # Neither the epoch nor any other mark of a change is raised.
    named = {"$set": {"name": "Kitchen"}}
    await store.database.conversations.update_one({"_id": group["_id"]}, named)
    assert b'"name":"Kitchen"' in (await read_one(decoded, group["_id"])).viewed_json(0)


async def test_the_least_recently_used_are_dropped(store: Store) -> None:
    groups = [(await store.conversation("alice"))["_id"] for _ in range(4)]
    _, all_bytes, _ = await DecodedConversations(store.database).read_some(groups)
    decoded = DecodedConversations(store.database, most_bytes=all_bytes - 1)
    first = [await read_one(decoded, group) for group in groups[:3]]
    assert await read_one(decoded, groups[0]) is first[0]
    await read_one(decoded, groups[3])
    assert await read_one(decoded, groups[0]) is first[0]
    assert await read_one(decoded, groups[1]) is not first[1]
    kept = sum(map(len, decoded._kept))
    assert kept <= all_bytes - 1
    assert decoded._room == all_bytes - 1 - kept


async def test_malformed_ones_are_left_out_and_logged_each_time(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    group = await store.conversation("alice")
    spoilt = {"$set": {"participants": "nobody"}}
    await store.database.conversations.update_one(
        {"_id": group["_id"]}, spoilt, bypass_document_validation=True
    )
    decoded = DecodedConversations(store.database)
    with caplog.at_level(logging.ERROR):
        for _ in range(2):
            found, _, _ = await decoded.read_some([group["_id"]])
            assert found == {}
    assert len([record for record in caplog.records if group["_id"] in record.getMessage()]) == 2
