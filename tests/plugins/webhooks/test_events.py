"""Which events are posted, and with which data."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from chat_aio import Chat, SetupError
from chat_aio.plugins import Webhooks
from chat_aio.schema.events import STORED_EVENTS
from tests.conftest import Database, MakeChat, MakePeople
from tests.plugins.webhooks.receiving import (
    Receiver,
    all_posted,
    quick,
    ready,
    receiving,
)
from tests.support.backend import WEBHOOK_SECRET
from tests.support.processes import until


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


async def test_every_kind_is_posted_in_order(
    serve: MakePeople, receiver: Receiver, database: Database
) -> None:
    people = await serve(plugins=[quick(receiver.url)])
    await ready(database)
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob", name="Crew")
    sent = await alice.send(group, "hi")
    await bob.react(sent["id"], "👍")
    await bob.unreact(sent["id"], "👍")
    await alice.edit(sent["id"], "hello")
    participants = f"/conversations/{group}/participants"
    await alice.post(participants, {"userIds": ["carol"]})
    await alice.call("PATCH", f"/conversations/{group}", json={"name": "Room"})
    await alice.call("DELETE", participants, json={"userId": "carol"})
    await alice.delete(sent["id"])
    await all_posted(database, 9)
    assert receiver.types == [
        "conversation.created",
        "message.created",
        "reaction.added",
        "reaction.removed",
        "message.updated",
        "participant.added",
        "conversation.updated",
        "participant.removed",
        "message.deleted",
    ]
    by_type = {event.type: event.data for event in receiver.taken}
    assert all(data["type"] == kind for kind, data in by_type.items())
    assert {data["conversationId"] for data in by_type.values()} == {group}
    assert by_type["conversation.created"]["affectedUserIds"] == ["bob"]
    assert by_type["participant.removed"]["affectedUserIds"] == ["carol"]
    added = by_type["reaction.added"]
    assert (added["actorId"], added["emoji"]) == ("bob", "👍")
    assert len({event.id for event in receiver.taken}) == 9


async def test_data_are_those_of_the_stream(
    serve: MakePeople, receiver: Receiver, database: Database
) -> None:
    people = await serve(plugins=[quick(receiver.url)])
    await ready(database)
    alice = people("alice")
    group = await alice.group("bob")
    async with people("bob").tab() as tab:
        sent = await alice.send(group, "hi")
        await alice.send(group, "an answer", replyToMessageId=sent["id"])
        await alice.call("PATCH", f"/conversations/{group}", json={"name": "Room"})
        kinds = ("message.created", "message.created", "conversation.updated")
        shown = [await tab.event(kind) for kind in kinds]
    await all_posted(database, 4)
    assert [event.data for event in receiver.taken[1:]] == shown


async def test_a_change_of_all_participants_is_an_event_for_each_part(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    chat = await make_chat()
    async with Chat(database, plugins=[quick(receiver.url)]):
        await ready(database)
        group = await chat.api.create_group_conversation("ada", user_ids=["bob", "carol"])
        roles: Any = {"ada": "admin", "bob": "admin", "dora": "member"}
        await chat.conversations.set_participants("ada", group.id, roles)
        await all_posted(database, 4)
    parts = ["participant.removed", "participant.added", "conversation.updated"]
    assert receiver.types == ["conversation.created", *parts]
    assert [event.data["affectedUserIds"] for event in receiver.taken[1:]] == [
        ["carol"],
        ["dora"],
        ["bob"],
    ]


async def test_only_the_chosen_kinds_are_posted(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    chat = await make_chat()
    async with Chat(database, plugins=[quick(receiver.url, events=["message.created"])]):
        await ready(database)
        group = await chat.api.create_group_conversation("ada", user_ids=["bob"])
        await chat.api.send_message("ada", group.id, "1", silent=True)
        await all_posted(database, 1)
    assert receiver.types == ["message.created"]


async def test_a_deleted_conversation_is_the_last_event(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    """Events that were not posted before its deletion have nothing left to show."""
    chat = await make_chat()
    async with Chat(database, plugins=[quick(receiver.url)]):
        await ready(database)
    group = await chat.api.create_group_conversation("ada", user_ids=["bob"])
    await chat.api.send_message("ada", group.id, "1")
    await chat.conversations.delete_conversation("ada", group.id)
    async with Chat(database, plugins=[quick(receiver.url)]):
        await until(lambda: "conversation.deleted" in receiver.types)
        await all_posted(database, 3)
    last = receiver.taken[-1]
    assert last.data == {
        "type": "conversation.deleted",
        "conversationId": group.id,
        "actorId": "ada",
    }


async def test_a_message_is_shown_as_it_is_when_it_is_posted(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    """What was deleted before is not sent out."""
    chat = await make_chat()
    async with Chat(database, plugins=[quick(receiver.url)]):
        await ready(database)
    group = await chat.api.create_group_conversation("ada", user_ids=["bob"])
    sent = await chat.api.send_message("ada", group.id, "secret")
    await chat.api.delete_message("ada", sent.id)
    async with Chat(database, plugins=[quick(receiver.url)]):
        await until(lambda: "message.deleted" in receiver.types)
    assert "secret" not in json.dumps([event.body for event in receiver.taken])
    rows = await database["webhook_deliveries"].find().to_list(None)
    assert "secret" not in str(rows)


async def test_a_malformed_row_is_a_dead_letter(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    """It would hold up its conversation for ever."""
    chat = await make_chat()
    group = await chat.api.create_group_conversation("ada", user_ids=["bob"])
    async with Chat(database, plugins=[quick(receiver.url)]):
        await ready(database)
        broken = {
            "_id": {"webhook": "default", "id": "x"},
            "webhook": "default",
            "order": "0",
            "conversationId": group.id,
            "state": "waiting",
            "notBefore": chat._context.clock(),
        }
        await database["webhook_deliveries"].insert_one(broken, bypass_document_validation=True)
        await chat.api.send_message("ada", group.id, "1")
        await until(lambda: receiver.texts(group.id) == ["1"])
    assert receiver.taken[0].body["previousFailed"]
    (dead,) = await database["webhook_deliveries"].find({"state": "dead"}).to_list(None)
    assert dead["error"] == "malformed"


async def test_two_webhooks_of_one_name_are_refused(database: Database) -> None:
    """One of them would wait for the lease for ever, and its events would be lost."""
    same = [Webhooks("http://127.0.0.1:9/hook", WEBHOOK_SECRET) for _ in range(2)]
    with pytest.raises(SetupError, match="webhooks:default"):
        await Chat(database, plugins=same).open()


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "ftp://example.org"},
        {"url": "example.org"},
        {"url": "https://"},
        {"url": "http://[::1"},
        {"secret": "whsec_@"},
        {"events": ["typing.started"]},
        {"events": ()},
        {"name": "A b"},
        {"max_attempts": 0},
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    given = {"url": "https://example.org", "secret": WEBHOOK_SECRET, **wrong}
    with pytest.raises(ValueError):
        Webhooks(given.pop("url"), given.pop("secret"), **given)
    assert len(STORED_EVENTS) == 10
