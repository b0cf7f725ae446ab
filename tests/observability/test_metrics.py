"""What is done, and what the scrape says of it, over the real service."""

import asyncio
import secrets
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry

from chat_aio import Chat, Hooks
from chat_aio.capabilities import Capability
from chat_aio.observability.metrics import Metrics
from chat_aio.observability.observer import NotificationBacklog, WebhookBacklog
from chat_aio.store.batch import write_batch
from chat_aio.store.transactions import Conflict
from chat_aio.web.metrics import add_metrics
from tests.conftest import Database
from tests.observability.conftest import Measure, Measured
from tests.support.ageing import age
from tests.support.people import BASE

CANARY = "canary-7f3a"
MESSAGES = f"{BASE}/conversations/{{conversation_id}}/messages"


async def test_requests_are_counted_by_route(measured: Measured) -> None:
    """By template, whoever asks for what; with nothing of theirs in any series."""
    alice = measured(f"alice-{CANARY}")
    conversation_id = await alice.direct(f"bob-{CANARY}")
    for number in range(3):
        await alice.send(conversation_id, f"{CANARY} {number}")
    await alice.get(f"/invites/{CANARY}?q={CANARY}", headers={"Cookie": CANARY})
    scrape = await measured.scrape()
    of_sends = {"method": "POST", "route": MESSAGES}
    assert scrape("requests_total", status="201", **of_sends) == 3
    assert scrape("request_seconds_count", **of_sends) == 3
    assert scrape("requests_total", method="GET", route=f"{BASE}/invites/{{code}}", status="404")
    assert scrape("errors_total", code="INVITE_NOT_FOUND") == 1
    assert CANARY not in scrape.text
    assert conversation_id not in scrape.text


async def test_no_series_for_what_strangers_make_up(measured: Measured) -> None:
    async def make_up() -> None:
        for method in ("GET", "PROPFIND", "MKCOL", secrets.token_hex(4).upper()):
            path = f"{BASE}/{secrets.token_hex(8)}"
            async with measured.client.request(method, path, headers={"X-User": "a"}) as answer:
                assert answer.status in (400, 404)

    await make_up()
    before = await measured.scrape()
    for _ in range(5):
        await make_up()
    after = await measured.scrape()
    unknown = {"route": "(no route)", "status": "404"}
    assert after("requests_total", method="GET", **unknown) == 6
    assert after("requests_total", method="other", **unknown) >= 12
    assert len(after) == len(before)


def batches_that_raise(*errors: Exception) -> Any:
    """The next batches, one error each; from then on they are written."""
    left = list(errors)

    async def write(*given: Any, **named: Any) -> Any:
        if left:
            raise left.pop(0)
        return await write_batch(*given, **named)

    return patch("chat_aio.store.sequencer.write_batch", write)


async def test_messages_and_their_batches(measured: Measured) -> None:
    alice = measured("alice")
    group = await alice.group("bob")
    await alice.told_all()
    async with measured("bob").tab() as tab, alice.tab(), measured.counting("deliveries_total", 16):
        sends = (alice.send(group, f"{number}") for number in range(8))
        await asyncio.gather(*sends)
        await tab.bodies(8)
    repeated = {"body": "once", "clientMessageId": "k"}
    answers = [await alice.post(f"/conversations/{group}/messages", repeated) for _ in range(3)]
    assert [answer.status for answer in answers] == [201, 200, 200]
    with batches_that_raise(Conflict(), ValueError()):
        assert (await alice.post(f"/conversations/{group}/messages", {"body": "x"})).status == 500
    scrape = await measured.scrape()
    assert [
        scrape("sends_total", outcome=outcome) for outcome in ("stored", "repeated", "failed")
    ] == [*(9, 2, 1)]
    batches = scrape("batches_total", outcome="committed")
    assert scrape("batch_messages_sum") == 9
    assert scrape("batch_messages_count") == scrape("batch_seconds_count") == batches <= 9
    assert scrape("batches_total", outcome="conflict") == 1
    assert scrape("batches_total", outcome="failed") == 1
    assert scrape("feed_lag_seconds_count") >= 1
    assert scrape("feed_changes_total") >= 9


async def test_streams(measure: Measure) -> None:
    measured = await measure(Hooks(can_moderate=lambda _: True))
    alice = measured("alice")
    async with measured("bob").tab(), measured.counting("streams_closed_total", reason="banned"):
        async with measured.counting("streams_opened_total", 2), alice.tab(), alice.tab():
            scrape = await measured.scrape()
            assert (scrape("streams"), scrape("users")) == (3, 2)
            assert scrape("feed_live") == 1
        async with measured.counting("bans_enforced_total", of="stream"):
            await alice.chat.api.moderation.ban_user("alice", "bob")
    async with measured.counting("bans_enforced_total", of="request"):
        assert (await measured("bob").get("/conversations")).code == "USER_BANNED"
    async with measured("carol").tab() as tab:
        await measured.chat._live.feed.close()
        measured.chat._live._lost(True)
        await tab.end()
    scrape = await measured.scrape()
    assert scrape("streams_closed_total", reason="feed_lost") == 1
    assert scrape("feed_losses_total", gap="yes") == 1
    assert scrape("feed_live") == 0


async def test_replays(measured: Measured, measure: Measure, database: Database) -> None:
    alice = measured("alice")
    conversation_id = await alice.direct("bob")
    for number in range(4):
        await alice.send(conversation_id, str(number))
    await alice.told_all()
    async with (
        measured.counting("replays_total", source="buffer"),
        measured.counting("replay_events_total", 3, source="buffer"),
        measured("bob").tab(f"{conversation_id}:1"),
    ):
        pass
    async with measured.counting("replays_total", source="none"), measured("bob").tab():
        pass
    later = await measure(replay_buffer_seconds=0, replay_limit=2)
    async with (
        later.counting("replay_events_total", 2, source="storage"),
        later.counting("replays_total", source="storage"),
        later("bob").tab(f"{conversation_id}:2"),
    ):
        pass
    assert (await later.scrape())("replay_bytes_total", source="storage") > 200
    async with (
        later.counting("resets_total", reason="too_many_missed"),
        later("bob").tab(f"{conversation_id}:1"),
    ):
        pass
    await age(database)
    await database["messages"].delete_one({"seq": 1})
    async with (
        later.counting("resets_total", reason="position_removed"),
        later("bob").tab(f"{conversation_id}:1"),
    ):
        pass


async def test_several_chats_in_one_process(database: Database) -> None:
    """Counted together; the feed is live where all are."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    async with (
        Chat(database, observers=[metrics]) as one,
        Chat(database, observers=[metrics]) as two,
    ):
        await one.api.create_group_conversation("ada")
        group = await two.api.create_group_conversation("ada")
        for chat in (one, two):
            await chat.api.send_message("ada", group.id, "hello")
        assert registry.get_sample_value("chat_aio_sends_total", {"outcome": "stored"}) == 2
        assert registry.get_sample_value("chat_aio_feed_live") == 1
        await one._live.feed.close()
        assert registry.get_sample_value("chat_aio_feed_live") == 0
    assert registry.get_sample_value("chat_aio_replay_buffer_events") == 0


async def test_without_streams_no_feed_is_lost(measure: Measure) -> None:
    measured = await measure(disabled_capabilities={Capability.STREAMS})
    assert (await measured.scrape())("feed_live") == 1


async def test_a_host_keeps_its_own_route(aiohttp_client: Any) -> None:
    async def mine(_: web.Request) -> web.Response:
        return web.Response(text="mine")

    app = web.Application()
    app.router.add_get("/metrics", mine)
    add_metrics(app)
    client = await aiohttp_client(app)
    async with client.get("/metrics") as response:
        assert await response.text() == "mine"


@pytest.mark.parametrize("accept", ["", "application/openmetrics-text; version=1.0.0"])
async def test_what_prometheus_asks_for(measured: Measured, accept: str) -> None:
    async with measured.client.get("/metrics", headers={"Accept": accept}) as response:
        wanted = "application/openmetrics-text" if accept else "text/plain"
        assert response.headers["Content-Type"].startswith(wanted)
        assert (await response.text()).endswith("# EOF\n") == bool(accept)


async def test_malformed_rows_are_counted_each_time_they_are_met(
    measured: Measured, database: Database
) -> None:
    """Once, also where two chats of a process share their Metrics."""
    alice = measured("alice")
    group = await alice.group()
    sent = await alice.send(group, "hello")
    twin = Chat(database, observers=alice.chat._context.observers)
    async with twin:
        await database["messages"].update_one(
            {"_id": sent["id"]}, {"$set": {"body": 5}}, bypass_document_validation=True
        )
        async with measured.counting("malformed_rows_total"):
            assert await alice.listed(f"/conversations/{group}/messages") == []
    async with measured.counting("malformed_rows_total"):
        await alice.listed(f"/conversations/{group}/messages")


async def test_searches_without_their_index_are_counted(
    measured: Measured, database: Database
) -> None:
    alice = measured("alice")
    await alice.send(await alice.group(), "hello")
    await database["messages"].drop_index("search")
    for _ in range(2):
        async with measured.counting("searches_without_index_total"):
            await alice.get("/search/messages?q=hello")


def test_webhooks_are_counted() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    metrics.webhooks_counted("one", None)
    for outcome in ("delivered", "dead"):
        labels = {"webhook": "one", "outcome": outcome}
        assert registry.get_sample_value("chat_aio_webhooks_total", labels) == 0
    metrics.webhook_ended("one", "delivered", 2.0)
    metrics.webhook_ended("one", "failed", 3.0)
    metrics.webhook_gap("one")
    metrics.webhooks_counted("one", WebhookBacklog(waiting=2, dead=3))
    metrics.webhooks_counted("other", WebhookBacklog(waiting=4, dead=5))
    metrics.webhooks_counted("other", None)
    one = {"webhook": "one"}
    for name, value, labels in (
        ("webhooks_waiting", 2, one),
        ("webhooks_dead", 3, one),
        ("webhooks_waiting", 0, {"webhook": "other"}),
        ("webhooks_total", 1, {**one, "outcome": "delivered"}),
        ("webhooks_total", 1, {**one, "outcome": "failed"}),
        ("webhook_seconds_sum", 2, one),
        ("webhook_gaps_total", 1, one),
    ):
        assert registry.get_sample_value(f"chat_aio_{name}", labels) == value, name


def test_notifications_are_counted() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    metrics.notification_ended("delivered", 2.0)
    metrics.notification_ended("failed", 3.0)
    metrics.notification_gap()
    metrics.notifications_counted(NotificationBacklog(pending=1, waiting=2, dead=3))
    names = ("pending", "waiting", "dead")

    def backlog() -> list[float | None]:
        return [registry.get_sample_value(f"chat_aio_notifications_{name}") for name in names]

    assert backlog() == [1, 2, 3]
    metrics.notifications_counted(None)
    assert backlog() == [0, 0, 0]
    for name, value, labels in (
        ("chat_aio_notifications_total", 1, {"outcome": "delivered"}),
        ("chat_aio_notifications_total", 0, {"outcome": "dead"}),
        ("chat_aio_notification_seconds_sum", 2, {}),
        ("chat_aio_notification_gaps_total", 1, {}),
    ):
        assert registry.get_sample_value(name, labels) == value, name
