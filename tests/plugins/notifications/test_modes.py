"""When a message counts as seen, one notification for a conversation, and silent messages."""

import asyncio
from collections import Counter
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat, Hooks
from chat_aio.errors import MessageHeld, StorageUnavailable
from chat_aio.plugins import BlockedWords, Filter, Notification, Notifications
from chat_aio.plugins.notifications.delivering import Delivery
from chat_aio.plugins.notifications.rows import Rows
from tests.conftest import Database, MakePeople
from tests.plugins.notifications.telling import Told, all_told, eventually, quick, ready
from tests.plugins.notifications.test_recipients import undecided
from tests.support.moderating import is_mod


@pytest.fixture
def told() -> Told:
    return Told()


def test_a_mode_that_is_none() -> None:
    with pytest.raises(ValueError, match="suppress_when"):
        Notifications(suppress_when="seen")  # type: ignore[arg-type]


async def test_with_read_an_open_stream_does_not_suppress(
    serve: MakePeople, told: Told, database: Database
) -> None:
    people = await serve(plugins=[quick(told, suppress_when="read")])
    await ready(database)
    alice, bob, carol = people("alice"), people("bob"), people("carol")
    group = await alice.group("bob", "carol")
    async with bob.tab() as tab:
        async with undecided():
            sent = await alice.send(group, "hello")
            await tab.event("message.created")
            await carol.read(group, sent["id"])
        await all_told(database, 1)
    assert told.pairs == [("bob", "hello")]
    assert await database["notification_shown"].count_documents({}) == 0


async def test_one_notification_for_a_conversation_until_it_is_read(
    serve: MakePeople, told: Told, database: Database
) -> None:
    people = await serve(plugins=[quick(told, once_until_read=True)])
    await ready(database)
    alice, bob = people("alice"), people("bob")
    group, other = await alice.group("bob"), await alice.group("bob")
    await alice.send(group, "1")
    await all_told(database, 1)
    for number in (2, 3):
        last = await alice.send(group, str(number))
    await alice.send(other, "other")
    await all_told(database, 4)
    assert told.of("bob") == ["1", "other"]
    await bob.read(group, last["id"])
    await alice.send(group, "4")
    await all_told(database, 5)
    assert told.of("bob") == ["1", "other", "4"]
    # Only the last one of a conversation is kept.
    kept = {"state": "delivered", "expiresAt": {"$exists": False}}
    assert await database["notifications"].distinct("seq", kept) == [1, 4]


async def test_messages_that_are_due_together_are_one_notification(
    serve: MakePeople, told: Told, database: Database
) -> None:
    people = await serve(plugins=[quick(told, once_until_read=True)])
    await ready(database)
    alice = people("alice")
    group = await alice.group("bob")
    told.failures["bob"] = 1
    await alice.send(group, "first")
    await all_told(database, 1)
    assert told.of("bob") == ["first"]
    quiet = await alice.group("bob")
    read = Delivery.read_waiting

    async def later(self: Delivery, user_id: str, *, limit: int) -> Any:
        """As a process that was busy: all five wait before it looks, also where it is looking for
        what else waits behind the first one."""

        async def is_stored() -> bool:
            return await database["notifications"].count_documents({"conversationId": quiet}) == 5

        await eventually(is_stored)
        return await read(self, user_id, limit=limit)

    with patch.object(Delivery, "read_waiting", later):
        for number in range(5):
            await alice.send(quiet, str(number))
        await all_told(database, 6)
    assert told.of("bob") == ["first", "4"]
    assert [notification.count for notification in told.all] == [1, 5]


async def test_a_next_message_does_not_renew_the_tries(
    serve: MakePeople, database: Database
) -> None:
    """Each failing try is followed by the next message, which the notification is merged into."""
    tries: list[int] = []

    async def deliver(notification: Notification) -> None:
        tries.append(notification.tries)
        if len(tries) < 3:
            await alice.send(group, str(len(tries)))

            async def is_stored() -> bool:
                stored = database["notifications"].count_documents({})
                return await stored == len(tries) + 1

            await eventually(is_stored)
        raise ConnectionError("no way out")

    people = await serve(plugins=[quick(deliver, once_until_read=True, max_attempts=3)])
    await ready(database)
    alice = people("alice")
    group = await alice.group("bob")
    await alice.send(group, "0")
    await all_told(database, 3)
    assert tries == [0, 1, 2]
    first, _, dead = await database["notifications"].find().sort("seq", 1).to_list(None)
    assert (dead["state"], dead["count"], dead["tries"]) == ("dead", 3, 3)
    assert dead["dueAt"] == first["dueAt"]


async def test_a_stay_in_a_group_starts_without_a_notification(
    serve: MakePeople, told: Told, database: Database
) -> None:
    people = await serve(plugins=[quick(told, once_until_read=True)])
    await ready(database)
    alice, bob = people("alice"), people("bob")
    group = await alice.group("bob")
    await alice.send(group, "1")
    await all_told(database, 1)
    path = f"/conversations/{group}/participants"
    await bob.call("DELETE", path, json={"userId": "bob"})
    await alice.post(path, {"userIds": ["bob"]})
    await alice.send(group, "2")
    await all_told(database, 2)
    assert told.of("bob") == ["1", "2"]


async def test_a_next_process_knows_who_was_notified(
    serve: MakePeople, told: Told, database: Database
) -> None:
    people = await serve()
    alice = people("alice")
    group = await alice.group("bob")
    for number in (1, 2):
        async with Chat(database, plugins=[quick(told, once_until_read=True)]):
            await ready(database)
            await alice.send(group, str(number))
            await all_told(database, number)
    assert told.of("bob") == ["1"]


async def test_many_senders_at_once_are_one_notification_for_each_conversation(
    serve: MakePeople, told: Told, database: Database
) -> None:
    """With failing deliveries and outages between them; without the comparison there are more."""
    people = await serve(plugins=[quick(told, once_until_read=True)])
    await ready(database)
    alice = people("alice")
    names = [f"reader{number}" for number in range(8)]
    groups = [await alice.group(*names) for _ in range(3)]
    told.failures = dict.fromkeys(names, 2)
    # Some of the writes fail after they were made, as where the primary steps down.
    failing = iter([True, False, True, False, False, True])
    change = Rows.set_notified

    async def sometimes(self: Any, row: Any, **fields: Any) -> None:
        await change(self, row, **fields)
        if next(failing, False):
            raise StorageUnavailable

    async def send_all(bodies: range) -> None:
        await asyncio.gather(
            *(alice.send(group, str(number)) for group in groups for number in bodies)
        )

    with patch.object(Rows, "set_notified", sometimes):
        await send_all(range(10))
        await all_told(database, 30)
        await send_all(range(10, 20))
        await all_told(database, 60)
    per_place = Counter(
        (notification.user_id, notification.conversation.id) for notification in told.all
    )
    assert per_place == {(name, group): 1 for name in names for group in groups}
    told.all.clear()
    with patch.object(Delivery, "_is_notified", _never):
        await send_all(range(20, 22))
        await all_told(database, 66)
    assert len(told.all) >= 24


async def _never(*_: Any) -> bool:
    return False


async def test_nobody_is_notified_of_a_silent_message(told: Told, database: Database) -> None:
    async with Chat(database, plugins=[quick(told)]) as chat:
        await ready(database)
        direct = await chat.api.get_or_create_conversation("ada", "bob")
        await chat.api.send_message("ada", direct.id, "Order 7 was shipped.", silent=True)
        await chat.api.send_message("ada", direct.id, "Did it arrive?")
        await all_told(database, 1)
        listed = await chat.api.list_messages("bob", direct.id)
    assert told.of("bob") == ["Did it arrive?"]
    assert not any("silent" in message.model_dump() for message in listed.messages)


async def test_no_silent_message_after_a_gap(told: Told, database: Database) -> None:
    """Messages that are read from storage instead of the change stream."""
    async with Chat(database) as sender:
        direct = await sender.api.get_or_create_conversation("ada", "bob")
        async with Chat(database, plugins=[quick(told)]):
            await ready(database)
        await sender.api.send_message("ada", direct.id, "silent", silent=True)
        await sender.api.send_message("ada", direct.id, "loud")
        await database["settings"].update_one({"_id": "notifications"}, {"$set": {"token": None}})
        async with Chat(database, plugins=[quick(told)]):
            await all_told(database, 1)
    assert told.of("bob") == ["loud"]


async def test_over_http_no_message_is_silent(
    serve: MakePeople, told: Told, database: Database
) -> None:
    people = await serve(plugins=[quick(told)])
    await ready(database)
    alice = people("alice")
    group = await alice.group("bob")
    await alice.post(f"/conversations/{group}/messages", {"body": "hello", "silent": True})
    await all_told(database, 1)
    assert told.of("bob") == ["hello"]


async def test_a_held_message_stays_silent(
    serve: MakePeople, told: Told, database: Database
) -> None:
    holding = Filter([BlockedWords(["bad"], action="hold")])
    hooks = Hooks(can_moderate=is_mod)
    people = await serve(hooks, plugins=[quick(told), holding], room_controls=True)
    await ready(database)
    alice, mod = people("alice"), people("mod")
    group = await alice.group("bob")
    with pytest.raises(MessageHeld):
        await alice.chat.api.send_message("alice", group, "bad", silent=True)
    (held,) = await database["held_messages"].find().to_list(None)
    answer = await mod.post("/moderation/held/release", {"heldId": held["_id"]})
    assert answer.status == 200, answer
    await alice.send(group, "good")
    await all_told(database, 1)
    assert told.of("bob") == ["good"]
