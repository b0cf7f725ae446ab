"""The lease and the position: one process at a time, and no message is lost between two."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest

from chat_aio import Chat
from chat_aio.actions.plugin_api import PluginAPI, Position
from chat_aio.observability.observer import NotificationBacklog, Observer
from chat_aio.plugins.deliveries.lease import LeaseLost, PositionLease
from chat_aio.plugins.notifications.working import NAME
from tests.conftest import Database, MakeChat
from tests.plugins.notifications.telling import (
    PATIENCE,
    Told,
    all_told,
    eventually,
    quick,
    ready,
    worker_of,
)
from tests.support.ageing import expire_lease
from tests.support.hosts import connected
from tests.support.processes import until
from tests.support.saboteurs import prove


async def test_one_has_it_until_it_expires_or_is_released(chat: Chat, database: Database) -> None:
    api = PluginAPI(chat._context)
    one, other = (PositionLease.of(api, NAME, seconds=30) for _ in range(2))
    assert await one.take()
    assert not await other.take()
    await one.renew()
    assert not await other.take()
    await expire_lease(database, NAME)
    assert await other.take()
    assert other.fence == one.fence + 1
    with pytest.raises(LeaseLost):
        await one.renew()
    assert not one.is_held
    await one.release()
    assert other.is_held
    assert not await one.take()
    await other.release()
    assert await one.take()
    assert one.fence == other.fence + 1


async def test_of_many_who_ask_one_gets_it(chat: Chat) -> None:
    api = PluginAPI(chat._context)
    leases = [PositionLease.of(api, NAME, seconds=30) for _ in range(12)]
    assert sum(await asyncio.gather(*(lease.take() for lease in leases))) == 1


async def test_a_holder_that_was_paused_moves_nothing(chat: Chat) -> None:
    """Without the fence it moves the position back, and messages are read again for ever."""
    now, api = datetime(2026, 1, 1, tzinfo=UTC), PluginAPI(chat._context)

    async def scenario() -> None:
        one, other = (PositionLease.of(api, NAME, seconds=0.2) for _ in range(2))
        async with asyncio.timeout(PATIENCE):
            while not await one.take():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            while not await other.take():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await other.move(Position({"_data": "b"}, now))
        try:
            await one.move(Position({"_data": "a"}, now))
        except LeaseLost:
            lost = True
        else:
            lost = False
        assert await other.position() == Position({"_data": "b"}, now)
        assert lost

    unfenced = patch.object(PositionLease, "_mine", {"_id": NAME})
    await prove(scenario, sabotage=unfenced)


class Heard(Observer):
    def __init__(self) -> None:
        self.outcomes: list[str] = []
        self.backlogs: list[NotificationBacklog | None] = []
        self.gaps = 0

    def notification_ended(self, outcome: Any, seconds: float) -> None:
        assert seconds >= 0
        self.outcomes.append(outcome)

    def notifications_counted(self, backlog: NotificationBacklog | None) -> None:
        self.backlogs.append(backlog)

    def notification_gap(self) -> None:
        self.gaps += 1


async def opened(database: Any, told: Told, heard: Heard | None = None) -> Chat:
    chat = Chat(database, plugins=[quick(told)], observers=[heard] if heard else ())
    await chat.open()
    return chat


async def test_what_is_sent_while_nobody_holds_it_is_told(
    make_chat: MakeChat, database: Database
) -> None:
    told, sender = Told(), await make_chat()
    group = await sender.api.create_group_conversation("ada", user_ids=["bob"])
    await sender.api.send_message("ada", group.id, "before it was ever on")
    first = await opened(database, told)
    await ready(database)
    await sender.api.send_message("ada", group.id, "1")
    await all_told(database, 1)
    await first.close()
    await sender.api.send_message("ada", group.id, "2")
    second = await opened(database, told)
    await all_told(database, 2)
    await second.close()
    assert told.of("bob") == ["1", "2"]


async def test_over_motor(make_chat: MakeChat, database: Database, client_url: str) -> None:
    told, sender = Told(), await make_chat()
    group = await sender.api.create_group_conversation("ada", user_ids=["bob"])
    async with connected("motor", client_url) as client:
        chat = await opened(client[database.name], told)
        await ready(database)
        await sender.api.send_message("ada", group.id, "1")
        await all_told(database, 1)
        await chat.close()
    assert told.of("bob") == ["1"]


@pytest.mark.parametrize("lost", ["token", "pipeline", "none"])
async def test_a_lost_position_is_healed_from_storage(
    make_chat: MakeChat, database: Database, caplog: pytest.LogCaptureFixture, lost: str
) -> None:
    """Nothing is told twice, and nothing is left out."""
    told, heard, sender = Told(), Heard(), await make_chat()
    group = await sender.api.create_group_conversation("ada", user_ids=["bob"])
    first = await opened(database, told)
    await ready(database)
    await sender.api.send_message("ada", group.id, "1")
    await all_told(database, 1)
    await first.close()
    await sender.api.send_message("ada", group.id, "2")
    change: dict[str, Any] = {
        "token": {"token": {"_data": "nonsense"}},
        "pipeline": {"pipeline": "of another version"},
        "none": {"token": None},
    }
    await database["settings"].update_one({"_id": NAME}, {"$set": change[lost]})
    second = await opened(database, told, heard)
    await all_told(database, 2)
    await ready(database)
    await sender.api.send_message("ada", group.id, "3")
    await until(lambda: len(heard.outcomes) == 2)
    await second.close()
    assert told.of("bob") == ["1", "2", "3"]
    if lost != "none":
        assert heard.gaps == 1
        assert "the position of notifications was lost" in caplog.text
    assert heard.outcomes == ["delivered", "delivered"]
    assert heard.backlogs[-1] is None


async def test_another_process_takes_over_from_one_that_has_died(
    make_chat: MakeChat, database: Database
) -> None:
    """It dies without releasing the lease, between a row and its mark."""
    told, sender = Told(), await make_chat()
    group = await sender.api.create_group_conversation("ada", user_ids=["bob"])
    dying = await opened(database, told)
    await ready(database)
    release = patch.object(PositionLease, "release", lambda _: asyncio.sleep(0))
    with release:
        await dying.close()
    held = await database["settings"].find_one({"_id": NAME})
    assert held is not None
    assert held["until"].replace(tzinfo=UTC) > datetime.now(UTC) - timedelta(seconds=1)
    await sender.api.send_message("ada", group.id, "1")
    await expire_lease(database, NAME)
    second = await opened(database, told)
    await until(lambda: told.of("bob") == ["1"])
    after = await database["settings"].find_one({"_id": NAME})
    assert after is not None
    assert (after["fence"], after["holder"] != held["holder"]) == (held["fence"] + 1, True)
    await second.close()


async def test_a_holder_that_has_lost_it_stops(database: Database) -> None:
    told = Told()
    chat = await opened(database, told)
    await ready(database)
    theirs = {"holder": "another", "until": datetime.now(UTC) + timedelta(hours=1)}
    await database["settings"].update_one({"_id": NAME}, {"$set": theirs, "$inc": {"fence": 1}})
    plugin = chat._context.plugins[0]
    worker = worker_of(plugin)

    async def has_stopped() -> bool:
        return not worker._lease.is_held

    await eventually(has_stopped)
    group = await chat.api.create_group_conversation("ada", user_ids=["bob"])
    await chat.api.send_message("ada", group.id, "1")
    await expire_lease(database, NAME)
    await all_told(database, 1)
    await chat.close()
    assert told.of("bob") == ["1"]
