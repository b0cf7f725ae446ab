"""Posting: tried again in order for each conversation, given up in the end, by one process."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import web

from chat_aio import Chat
from chat_aio.errors import StorageUnavailable
from chat_aio.observability.observer import Observer, WebhookBacklog
from chat_aio.plugins.deliveries import worker
from chat_aio.plugins.deliveries.lease import PositionLease
from chat_aio.plugins.deliveries.tries import DEAD_FOR
from chat_aio.plugins.webhooks.rows import OVER_FOR, DeadLetters, Rows
from chat_aio.plugins.webhooks.working import EventReader, Posting
from tests.conftest import Database, MakeChat
from tests.plugins.notifications.telling import PATIENCE, eventually, worker_of
from tests.plugins.webhooks.receiving import (
    Received,
    Receiver,
    all_posted,
    hang,
    quick,
    ready,
    receiving,
)
from tests.support.ageing import expire_lease
from tests.support.processes import until
from tests.support.saboteurs import prove

CREATED = ["message.created"]
LEASE = {"_id": "webhooks:default"}


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


class Heard(Observer):
    def __init__(self) -> None:
        self.outcomes: list[str] = []
        self.backlogs: list[WebhookBacklog | None] = []
        self.gaps: list[str] = []

    def webhook_ended(self, webhook: str, outcome: Any, seconds: float) -> None:
        assert seconds >= 0
        self.outcomes.append(outcome)

    def webhooks_counted(self, webhook: str, backlog: WebhookBacklog | None) -> None:
        self.backlogs.append(backlog)

    def webhook_gap(self, webhook: str) -> None:
        self.gaps.append(webhook)


async def two_groups(chat: Chat) -> tuple[str, str]:
    made = [await chat.api.create_group_conversation("ada", user_ids=["bob"]) for _ in "ab"]
    return made[0].id, made[1].id


async def cut(_: Any, request: web.Request) -> web.StreamResponse:
    """Close the connection in the middle of the head of an answer."""
    assert request.transport is not None
    request.transport.write(b"HTTP/1.1 200 OK\r\nContent-")
    request.transport.close()
    return web.Response()


@pytest.mark.parametrize("how", ["500", "302", "hangs", "cut"])
async def test_a_failing_conversation_waits_alone_and_in_order(
    make_chat: MakeChat, receiver: Receiver, database: Database, how: str
) -> None:
    chat = await make_chat()
    slow, other = await two_groups(chat)
    left = 3

    async def answer(received: Received, request: web.Request) -> Any:
        nonlocal left
        if received.data["conversationId"] == slow and left:
            left -= 1
            if how == "hangs":
                return await hang(received, request)
            return await cut(received, request) if how == "cut" else int(how)
        return None

    receiver.answers = answer
    # On a busy machine an answer may take longer than half a second: that is not to be a failure.
    seconds = 0.5 if how == "hangs" else 60
    plugin = quick(receiver.url, events=CREATED, timeout_seconds=seconds)
    async with Chat(database, plugins=[plugin]):
        await ready(database)
        for number in range(5):
            await chat.api.send_message("ada", slow, str(number))
            await chat.api.send_message("ada", other, str(number))
        await all_posted(database, 10)
    assert receiver.texts(slow) == receiver.texts(other) == [str(number) for number in range(5)]
    ids = [event.id for event in receiver.tried if event.data["conversationId"] == slow]
    assert len(set(ids[:4])) == 1
    tries = len(set(ids)) + 3
    assert len(ids) >= tries if how == "hangs" else len(ids) == tries
    assert not any("previousFailed" in event.body for event in receiver.taken)


async def test_redirects_are_not_followed(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    """`Location` is the endpoint itself: a client that followed would ask there with GET."""
    chat, heard = await make_chat(), Heard()
    group, _ = await two_groups(chat)

    async def redirect(_: Any, __: Any) -> int:
        return 307

    receiver.answers = redirect
    plugin = quick(receiver.url, events=CREATED, max_attempts=2)
    async with Chat(database, plugins=[plugin], observers=[heard]):
        await ready(database)
        await chat.api.send_message("ada", group, "1")
        await all_posted(database, 1)
    assert len(receiver.tried) == 2
    (row,) = await database["webhook_deliveries"].find().to_list(None)
    assert (row["state"], row["error"]) == ("dead", "the endpoint answered 307")
    assert row["expiresAt"] >= row["dueAt"] + DEAD_FOR
    assert heard.outcomes == ["failed", "dead"]
    assert heard.backlogs[-1] is None


async def test_after_a_dead_letter_the_later_ones_go_on(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    chat = await make_chat()
    group, other = await two_groups(chat)
    is_away = True

    async def answer(received: Received, _: Any) -> int | None:
        return 500 if is_away and received.text == "2" else None

    receiver.answers = answer
    async with Chat(database, plugins=[quick(receiver.url, events=CREATED, max_attempts=2)]):
        await ready(database)
        for text in "123":
            await chat.api.send_message("ada", group, text)
        await chat.api.send_message("ada", other, "4")
        await all_posted(database, 4)
        assert receiver.texts(group) == ["1", "3"]
        failed = {event.text: event.body.get("previousFailed", False) for event in receiver.taken}
        assert failed == {"1": False, "3": True, "4": False}
        is_away = False
        await database["webhook_deliveries"].update_many(
            {"state": "dead"}, {"$set": {"state": "waiting", "tries": 0}}
        )
        await all_posted(database, 4)
        await chat.api.send_message("ada", group, "5")
        await all_posted(database, 5)
    assert receiver.texts(group) == ["1", "3", "2", "5"]
    assert "previousFailed" not in receiver.taken[-1].body


async def test_only_what_is_behind_a_dead_letter_follows_a_failure(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    chat = await make_chat()
    group, _ = await two_groups(chat)
    failing = {"1", "3"}

    async def answer(received: Received, _: Any) -> int | None:
        return 500 if received.text in failing else None

    receiver.answers = answer
    plugin = quick(receiver.url, events=CREATED, max_attempts=1)
    async with Chat(database, plugins=[plugin]) as poster:
        await ready(database)
        for text in "123":
            await chat.api.send_message("ada", group, text)
        await all_posted(database, 3)
        (first, _, third) = await database["webhook_deliveries"].find().sort("order", 1).to_list()
        assert (first["state"], third["state"]) == ("dead", "dead")
        failing.clear()
        # The later one stays a dead letter.
        letters = DeadLetters(poster._context.plugins[0].api)
        assert await letters.retry(eventId=first["eventId"]) == 1
        await all_posted(database, 3)
        await chat.api.send_message("ada", group, "4")
        await all_posted(database, 4)
    failed = {event.text: event.body.get("previousFailed", False) for event in receiver.taken}
    assert failed == {"2": True, "1": False, "4": True}


async def test_rows_of_one_read_are_posted_once_all_are_written(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    """They are written in any order: without the bound, a lane that is awake posts the later."""
    chat = await make_chat()

    async def scenario() -> None:
        receiver.taken.clear()
        await database["webhook_deliveries"].delete_many({})
        group, _ = await two_groups(chat)
        add = Rows.add

        async def reversed_and_slow(self: Rows, events: Any) -> None:
            """The later ones first, and the first one once a lane has posted all that it may."""
            first, *later = events
            await add(self, later)
            delivery.wake({group})
            await asyncio.wait_for(asyncio.shield(delivery._lanes[group]), PATIENCE)
            await add(self, [first])

        async with Chat(database, plugins=[quick(receiver.url, events=CREATED)]) as poster:
            await ready(database)
            await chat.api.send_message("ada", group, "0")
            await until(lambda: receiver.texts(group) == ["0"])
            delivery: Any = worker_of(poster._context.plugins[0])._delivery
            with patch.object(Rows, "add", reversed_and_slow):
                async with asyncio.TaskGroup() as sending:
                    for _ in range(6):
                        sending.create_task(chat.api.send_message("ada", group, "x"))
                await all_posted(database, 7)
        seqs = [event.data["message"]["seq"] for event in receiver.taken]
        assert seqs == sorted(seqs)

    unbounded = patch.object(EventReader, "moved", moved_without_bound)
    await prove(scenario, sabotage=unbounded)


moved = EventReader.moved


def moved_without_bound(self: EventReader, position: Any) -> None:
    moved(self, position)
    self.upto = "~"


async def test_what_happens_while_nobody_posts_is_posted(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    chat = await make_chat()
    group, _ = await two_groups(chat)
    await chat.api.send_message("ada", group, "before it was ever on")
    async with Chat(database, plugins=[quick(receiver.url)]):
        await ready(database)
        sent = await chat.api.send_message("ada", group, "1")
        await all_posted(database, 1)
    await chat.api.edit_message("ada", sent.id, "one")
    await chat.api.send_message("ada", group, "2")
    async with Chat(database, plugins=[quick(receiver.url)]):
        await all_posted(database, 3)
    assert receiver.types == ["message.created", "message.updated", "message.created"]


@pytest.mark.parametrize("lost", ["token", "pipeline", "all of it"])
async def test_a_lost_position_is_told_and_messages_are_read_from_storage(
    make_chat: MakeChat,
    receiver: Receiver,
    database: Database,
    caplog: pytest.LogCaptureFixture,
    lost: str,
) -> None:
    chat, heard = await make_chat(), Heard()
    group, _ = await two_groups(chat)
    async with Chat(database, plugins=[quick(receiver.url)]):
        await ready(database)
        sent = await chat.api.send_message("ada", group, "1")
        await all_posted(database, 1)
    await chat.api.edit_message("ada", sent.id, "one")
    for text in "23":
        await chat.api.send_message("ada", group, text, silent=True)
    change: dict[str, Any] = {
        "token": {"$set": {"token._data": "82"}},
        "pipeline": {"$set": {"pipeline": "of another version"}},
        "all of it": {"$set": {"token": None}},
    }
    await database["settings"].update_one(LEASE, change[lost])
    async with Chat(database, plugins=[quick(receiver.url)], observers=[heard]):
        await all_posted(database, 4)
        await ready(database)
        await chat.api.send_message("ada", group, "4")
        await until(lambda: receiver.texts(group)[-1:] == ["4"])
    assert receiver.texts(group) == ["1", "2", "3", "4"]
    assert heard.gaps == ["default"]
    assert "events since" in caplog.text
    assert "message.updated" not in receiver.types
    (gap,) = [event for event in receiver.taken if event.type == "webhook.gap"]
    assert gap.data.keys() == {"type", "since"}
    assert gap.data["since"] < sent.created_at.isoformat()


async def test_another_process_takes_over_from_one_that_has_died(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    chat = await make_chat()
    group, _ = await two_groups(chat)
    dying = Chat(database, plugins=[quick(receiver.url)])
    await dying.open()
    await ready(database)
    with patch.object(PositionLease, "release", lambda _: asyncio.sleep(0)):
        await dying.close()
    await chat.api.send_message("ada", group, "1")
    await expire_lease(database, LEASE["_id"])
    async with Chat(database, plugins=[quick(receiver.url)]):
        await until(lambda: receiver.texts(group) == ["1"])


async def test_another_process_takes_over_at_once_from_one_that_closes(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    """Not when the lease expires, which would be in an hour."""
    chat = await make_chat()
    group, _ = await two_groups(chat)
    for sent in (1, 2):
        async with Chat(database, plugins=[quick(receiver.url, lease_seconds=3_600)]):
            await ready(database)
            await chat.api.send_message("ada", group, "hi")
            await all_posted(database, sent)
    assert receiver.texts(group) == ["hi", "hi"]


async def test_a_holder_that_has_lost_it_stops(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    chat = await make_chat()
    group, _ = await two_groups(chat)
    async with Chat(database, plugins=[quick(receiver.url)]) as holder:
        await ready(database)
        theirs = {"holder": "another", "until": datetime.now(UTC) + timedelta(hours=1)}
        await database["settings"].update_one(LEASE, {"$set": theirs, "$inc": {"fence": 1}})
        worker = worker_of(holder._context.plugins[0])

        async def has_stopped() -> bool:
            return worker._delivery is None

        await eventually(has_stopped)
        await chat.api.send_message("ada", group, "1")
        await expire_lease(database, LEASE["_id"])
        await until(lambda: receiver.texts(group) == ["1"])


@pytest.fixture
def unfinished(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end nobody waits for a request that hangs."""
    monkeypatch.setattr(worker, "FINISH_SECONDS", 0.05)


@pytest.mark.usefixtures("unfinished")
async def test_two_webhooks_do_not_wait_for_each_other(
    make_chat: MakeChat, database: Database
) -> None:
    chat = await make_chat()
    group, _ = await two_groups(chat)
    async with receiving() as one, receiving() as other:
        one.answers = hang
        plugins = [
            quick(one.url, events=CREATED, name="one", timeout_seconds=60),
            quick(other.url, events=CREATED, name="other"),
        ]
        async with Chat(database, plugins=plugins):
            await ready(database, "one")
            await ready(database, "other")
            for text in "12":
                await chat.api.send_message("ada", group, text)
            await until(lambda: len(one.tried) == 1)
            await until(lambda: other.texts(group) == ["1", "2"])
            assert not one.taken


@pytest.mark.usefixtures("unfinished")
async def test_two_webhooks_post_their_own_rows(make_chat: MakeChat, database: Database) -> None:
    """What waits in one is not posted by the other, which has events of the same conversation."""
    chat = await make_chat()
    group, _ = await two_groups(chat)
    async with receiving() as one, receiving() as other:
        other.answers = hang
        plugins = [
            quick(one.url, events=CREATED, name="one"),
            quick(other.url, events=["message.updated"], name="other", timeout_seconds=60),
        ]
        async with Chat(database, plugins=plugins):
            await ready(database, "one")
            await ready(database, "other")
            sent = await chat.api.send_message("ada", group, "1")
            await chat.api.edit_message("ada", sent.id, "one")
            await until(lambda: len(other.tried) == 1)
            await chat.api.send_message("ada", group, "2")
            await until(lambda: len(one.texts(group)) == 2)
        assert one.types == ["message.created"] * 2
        assert {event.type for event in other.tried} == {"message.updated"}


async def test_rows_that_were_not_written_are_read_again(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    """The position moves only after them."""
    chat = await make_chat()
    group, _ = await two_groups(chat)
    add, failed = Rows.add, asyncio.Event()

    async def failing(self: Rows, events: Any) -> None:
        if not failed.is_set():
            failed.set()
            raise StorageUnavailable
        await add(self, events)

    async with Chat(database, plugins=[quick(receiver.url, events=CREATED)]):
        await ready(database)
        with patch.object(Rows, "add", failing):
            await chat.api.send_message("ada", group, "1")
            await asyncio.wait_for(failed.wait(), PATIENCE)
            await until(lambda: receiver.texts(group) == ["1"])


async def test_an_event_that_is_read_again_is_posted_once(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    chat = await make_chat()
    group, _ = await two_groups(chat)
    async with Chat(database, plugins=[quick(receiver.url, events=CREATED)]):
        await ready(database)
        before = await database["settings"].find_one(LEASE)
        assert before is not None
        await chat.api.send_message("ada", group, "1")
        await all_posted(database, 1)
    again = {name: before[name] for name in ("token", "at", "pipeline")}
    await database["settings"].update_one(LEASE, {"$set": again})
    async with Chat(database, plugins=[quick(receiver.url, events=CREATED)]):
        await chat.api.send_message("ada", group, "2")
        await all_posted(database, 2)
    assert [event.text for event in receiver.taken] == ["1", "2"]


async def test_a_late_process_revives_no_row(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    chat = await make_chat()
    group, _ = await two_groups(chat)
    async with Chat(database, plugins=[quick(receiver.url, events=CREATED)]) as poster:
        await ready(database)
        await chat.api.send_message("ada", group, "1")
        await all_posted(database, 1)
        rows = Rows(poster._context.plugins[0].api, "default")
        (row,) = await database["webhook_deliveries"].find().to_list(None)
        assert row["dueAt"] + OVER_FOR <= row["expiresAt"] < row["dueAt"] + DEAD_FOR
        await rows.change(row, tries=3, error="late")
        assert await database["webhook_deliveries"].find().to_list(None) == [row]


async def test_many_conversations_wait_for_a_few_lanes(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    chat = await make_chat()
    groups = [
        (await chat.api.create_group_conversation("ada", user_ids=["bob"])).id for _ in range(8)
    ]
    most = 0

    async def answer(_: Received, __: Any) -> None:
        nonlocal most
        delivery: Any = worker_of(poster._context.plugins[0])._delivery
        most = max(most, len(delivery._lanes))

    receiver.answers = answer
    with patch.object(Posting, "most_lanes", 3):
        async with Chat(database, plugins=[quick(receiver.url, events=CREATED)]) as poster:
            await ready(database)
            async with asyncio.TaskGroup() as sending:
                for group in groups:
                    sending.create_task(chat.api.send_message("ada", group, "1"))
            await all_posted(database, 8)
    assert {event.data["conversationId"] for event in receiver.taken} == {*groups}
    assert 0 < most <= 3


async def test_cookies_are_not_sent_back(
    make_chat: MakeChat, receiver: Receiver, database: Database
) -> None:
    chat, cookies = await make_chat(), list[str | None]()
    group, _ = await two_groups(chat)

    async def answer(_: Received, request: web.Request) -> web.Response:
        cookies.append(request.headers.get("Cookie"))
        response = web.Response()
        response.set_cookie("a", "b")
        return response

    receiver.answers = answer
    # A client keeps no cookies of an address in digits.
    url = receiver.url.replace("127.0.0.1", "localhost")
    async with Chat(database, plugins=[quick(url, events=CREATED)]):
        await ready(database)
        for text in "12":
            await chat.api.send_message("ada", group, text)
        await all_posted(database, 2)
    assert cookies == [None, None]
