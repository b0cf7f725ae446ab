"""Delivery: in order for each user, tried again, and given up in the end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from standardwebhooks.webhooks import Webhook as Verifier

from chat_aio import Chat
from chat_aio.plugins import Notification, Webhook
from chat_aio.plugins.deliveries.rows import unless_there
from chat_aio.plugins.deliveries.tries import DEAD_FOR
from chat_aio.plugins.notifications import Channel
from chat_aio.plugins.notifications.delivering import Delivery
from chat_aio.plugins.notifications.rows import Rows
from tests.conftest import Database, MakeChat, MakePeople
from tests.plugins.notifications.telling import (
    PATIENCE,
    Told,
    all_told,
    eventually,
    quick,
    ready,
)
from tests.support.backend import WEBHOOK_SECRET
from tests.support.processes import until
from tests.support.saboteurs import prove


@pytest.fixture
def told() -> Told:
    return Told()


async def test_a_user_who_cannot_be_reached_waits_alone_and_in_order(
    serve: MakePeople, told: Told, database: Database
) -> None:
    people = await serve(plugins=[quick(told)])
    await ready(database)
    alice = people("alice")
    group = await alice.group("bob", "carol")
    told.failures["bob"] = 3
    for number in range(5):
        await alice.send(group, str(number))
    await all_told(database, 5)
    assert told.of("bob") == told.of("carol") == [str(number) for number in range(5)]
    (first, *others) = [notification for notification in told.all if notification.user_id == "bob"]
    assert (first.tries, {other.tries for other in others}) == (3, {0})


async def test_what_fails_too_often_is_a_dead_letter_until_an_operator_retries(
    serve: MakePeople, told: Told, database: Database
) -> None:
    people = await serve(plugins=[quick(told, max_attempts=2)])
    await ready(database)
    told.failures["bob"] = 2
    alice = people("alice")
    direct = await alice.direct("bob")
    sent = await alice.send(direct, "first")
    await all_told(database, 1)
    await alice.send(direct, "second")
    await all_told(database, 2)
    assert told.of("bob") == ["second"]
    rows = Rows(alice.chat._context.plugins[0].api)
    (dead,) = await rows.dead(limit=10)
    assert (dead["messageId"], dead["tries"], dead["error"]) == (sent["id"], 2, "ConnectionError")
    # Nothing that is over is kept for ever, and dead letters the longest.
    assert dead["expiresAt"] >= dead["dueAt"] + DEAD_FOR
    (over,) = await database["notifications"].find({"state": "delivered"}).to_list(None)
    assert over["dueAt"] < over["expiresAt"] < over["dueAt"] + DEAD_FOR
    decided = await database["notification_messages"].find().to_list(None)
    assert [row["dueAt"] < row["expiresAt"] for row in decided] == [True, True]
    assert (await rows.backlog()).dead == 1
    assert await rows.retry(userId="nobody") == 0
    assert await rows.retry(userId="bob", messageId=sent["id"]) == 1
    await all_told(database, 2)
    assert told.of("bob") == ["second", "first"]


async def test_malformed_rows_are_dead_letters(
    serve: MakePeople, told: Told, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """They would hide those behind them for ever: there are more than are read at once."""
    people = await serve(plugins=[quick(told)])
    await ready(database)
    malformed = [
        {
            "_id": {"userId": "bob", "messageId": f"broken{number}"},
            "userId": "bob",
            "state": "waiting",
            "at": datetime(2026, 1, 31, tzinfo=UTC),
            "notBefore": datetime(2026, 1, 31, tzinfo=UTC),
        }
        for number in range(2 * Delivery.read_at_once)
    ]
    rows = database["notifications"]
    # In a transaction: no read comes while only some of them are there.
    async with database.client.start_session() as session, await session.start_transaction():
        await rows.insert_many(malformed, bypass_document_validation=True, session=session)
    alice = people("alice")
    await alice.send(await alice.direct("bob"), "hi")
    await until(lambda: told.of("bob") == ["hi"])
    dead = await rows.find({"state": "dead"}).to_list(None)
    assert len(dead) == len(malformed)
    assert all(row["error"] == "malformed" and row["expiresAt"] for row in dead)
    # Once for the rows of one read, and never again.
    assert caplog.text.count("gave up 50 malformed rows") == 2
    assert await rows.count_documents({"state": "waiting", "messageId": {"$exists": False}}) == 0


async def test_messages_without_an_id_do_not_hide_others(
    serve: MakePeople, told: Told, database: Database
) -> None:
    people = await serve(plugins=[quick(told)])
    await ready(database)
    due = datetime(2026, 1, 31, tzinfo=UTC)
    malformed: list[Any] = [
        {"_id": number, "dueAt": due, "state": "pending"} for number in range(60)
    ]
    malformed.append({"_id": "without a time", "state": "pending"})
    rows = database["notification_messages"]
    await rows.insert_many(malformed, bypass_document_validation=True)
    alice = people("alice")
    await alice.send(await alice.direct("bob"), "hi")
    await until(lambda: told.of("bob") == ["hi"])
    assert await rows.count_documents({"state": "decided"}) == 61
    # It is noted as delivered after the channel has it.
    await all_told(database, 61)
    backlog = await Rows(alice.chat._context.plugins[0].api).backlog()
    assert (backlog.pending, backlog.waiting) == (0, 0)


async def test_an_old_one_that_fails_is_given_up(
    serve: MakePeople, told: Told, database: Database
) -> None:
    people = await serve(plugins=[quick(told)])
    await ready(database)
    told.failures["bob"] = 99
    old = patch("chat_aio.plugins.deliveries.tries.TOO_OLD", timedelta(seconds=-1))
    with old:
        await people("alice").send(await people("alice").direct("bob"), "hi")
        await all_told(database, 1)
    assert await database["notifications"].count_documents({"state": "dead", "tries": 1}) == 1


def test_a_channel_without_a_way_out_is_none() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Channel()  # type: ignore[abstract]


async def test_a_channel_that_has_succeeded_is_not_called_again(
    serve: MakePeople, told: Told, database: Database
) -> None:
    class Flaky(Channel):
        name = "flaky"
        failures = 2
        sent: list[str] = []

        async def send(self, notification: Notification, done: set[str]) -> None:
            if self.failures:
                self.failures -= 1
                raise ConnectionError
            self.sent.append(notification.id)
            done.add(self.name)

    flaky = Flaky()
    people = await serve(plugins=[quick(told, channels=[flaky])])
    await ready(database)
    await people("alice").send(await people("alice").direct("bob"), "hi")
    await all_told(database, 1)
    assert [notification.id for notification in told.all] == flaky.sent
    assert len(flaky.sent) == 1


async def test_what_is_decided_twice_is_told_once(
    serve: MakePeople, told: Told, database: Database
) -> None:
    """As after a crash between the rows and the mark. The ids of the rows prevent it."""
    people = await serve(plugins=[quick(told)])
    await ready(database)
    alice = people("alice")
    messages = 0

    async def scenario() -> None:
        nonlocal messages
        messages += 1
        direct = await alice.direct("bob")
        await alice.send(direct, f"m{messages}")
        await all_told(database, messages)
        again = {"$set": {"state": "pending"}, "$unset": {"expiresAt": ""}}
        await database["notification_messages"].update_many({}, again)
        await all_told(database, messages)
        assert told.of("bob") == [*dict.fromkeys(told.of("bob"))]

    def always(row_id: Any, row: Any) -> Any:
        return unless_there({**row_id, "n": str(datetime.now(UTC))}, row)

    sabotage = patch("chat_aio.plugins.deliveries.rows.unless_there", always)
    await prove(scenario, sabotage=sabotage)


@asynccontextmanager
async def receiver(take: Callable[[web.Request], Any]) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/hook", take)
    async with TestServer(app) as server:
        yield str(server.make_url("/hook"))


async def test_a_shutdown_waits_for_what_is_under_way(
    make_chat: MakeChat, told: Told, database: Database
) -> None:
    """Otherwise the next process would deliver it again. What comes behind it is left to that."""
    began, goes_on = asyncio.Event(), asyncio.Event()

    async def slowly(notification: Notification) -> None:
        began.set()
        await asyncio.wait_for(goes_on.wait(), PATIENCE)
        await told(notification)

    sender = await make_chat()
    chat = Chat(database, plugins=[quick(slowly)])
    await chat.open()
    await ready(database)
    direct = await sender.api.get_or_create_conversation("ada", "bob")
    for body in ("1", "2"):
        await sender.api.send_message("ada", direct.id, body)
    await asyncio.wait_for(began.wait(), PATIENCE)
    finishing, finish = asyncio.Event(), Delivery.finish

    async def noted(self: Delivery, **given: Any) -> None:
        finishing.set()
        await finish(self, **given)

    with patch.object(Delivery, "finish", noted):
        closing = asyncio.create_task(chat.close())
        async with asyncio.timeout(PATIENCE):
            await finishing.wait()
            goes_on.set()
            await closing
    assert told.of("bob") == ["1"]
    rows = await database["notifications"].find().sort("seq", 1).to_list(None)
    assert rows[0]["state"] == "delivered"
    async with Chat(database, plugins=[quick(told)]):
        await until(lambda: told.of("bob") == ["1", "2"])


async def test_webhooks_are_signed_and_repeated_under_one_id(
    serve: MakePeople, database: Database
) -> None:
    seen: list[tuple[str, Any]] = []
    statuses = [500, 302, 200]

    async def take(request: web.Request) -> web.Response:
        body = await request.read()
        data = Verifier(WEBHOOK_SECRET).verify(body, dict(request.headers))
        seen.append((request.headers["webhook-id"], data))
        return web.Response(status=statuses[len(seen) - 1], headers={"Location": "/hook"})

    async with receiver(take) as url:
        people = await serve(plugins=[quick(channels=[Webhook(url, WEBHOOK_SECRET)])])
        await ready(database)
        alice = people("alice")
        sent = await alice.send(await alice.group("bob", name="Crew"), "x" * 200)
        await all_told(database, 1)
    assert len(seen) == 3
    assert len({key for key, _ in seen}) == 1
    data = seen[-1][1]
    assert data["type"] == "message.notification"
    named = {"userId": "bob", "conversationName": "Crew", "excerpt": "x" * 140 + "…", "count": 1}
    assert named.items() <= data["data"].items()
    assert data["data"]["message"].items() <= sent.items()


async def test_a_webhook_that_is_away_is_tried_again(serve: MakePeople, database: Database) -> None:
    webhook = Webhook("http://127.0.0.1:9/", WEBHOOK_SECRET)
    people = await serve(plugins=[quick(channels=[webhook], max_attempts=2)])
    await ready(database)
    await people("alice").send(await people("alice").direct("bob"), "hi")
    await all_told(database, 1)
    (row,) = await database["notifications"].find().to_list(None)
    assert row["state"] == "dead"
    assert row["error"].startswith("the endpoint was not reached: Client")


async def test_slow_users_do_not_hold_up_the_others(
    serve: MakePeople, told: Told, database: Database
) -> None:
    """More of them than there are slots: once they have failed, they have slots of their own."""
    stuck = asyncio.Event()
    slow = {f"u{number}" for number in range(8)}

    async def deliver(notification: Notification) -> None:
        if notification.user_id in slow:
            if notification.tries:
                await stuck.wait()
            raise ConnectionError
        await told(notification)

    people = await serve(plugins=[quick(deliver, concurrency=4, max_attempts=5)])
    await ready(database)
    alice = people("alice")
    await alice.send(await alice.group(*slow), "hi")
    failed = {"state": "waiting", "tries": 1}

    async def all_failed() -> bool:
        return await database["notifications"].count_documents(failed) == len(slow)

    await eventually(all_failed)
    await alice.send(await alice.group("bob"), "hello")
    await until(lambda: told.of("bob") == ["hello"])
    assert await all_failed()
    stuck.set()
    await all_told(database, 2)
