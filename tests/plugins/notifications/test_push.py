"""Web Push, with a push service at hand."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chat_aio.plugins.notifications.devices import MOST_FAILURES
from chat_aio.plugins.notifications.endpoints import PUSH_HOSTS, PublicResolver, host_of, is_public
from chat_aio.schema.fields import MAX_PARTICIPANTS
from tests.conftest import Database, MakePeople
from tests.plugins.notifications.pushing import (
    Browser,
    PushService,
    a_browser,
    make_push,
    push_service,
)
from tests.plugins.notifications.telling import Told, all_told, eventually, quick, ready
from tests.support.people import Person
from tests.support.processes import until

DEVICES = "/notifications/devices"


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[PushService]:
    async with push_service(tmp_path) as opened:
        yield opened


async def subscribe(who: Person, browser: Browser) -> str:
    answer = await who.post(DEVICES, browser.device)
    assert answer.status == 200, answer
    return str(answer.json["device"]["id"])


async def test_a_browser_can_read_what_is_sent_to_it(
    serve: MakePeople, database: Database, service: PushService
) -> None:
    people = await serve(plugins=[quick(channels=[service.push()])])
    await ready(database)
    alice, bob = people("alice"), people("bob")
    one, other = service.browser("one"), service.browser("other")
    for browser in (one, other):
        await subscribe(bob, browser)
    listed = (await bob.get(DEVICES)).json
    assert [device["kind"] for device in listed["devices"]] == ["web"] * 2
    assert listed["kinds"] == ["web"]
    assert len(listed["publicKey"]) == 87
    sent = await alice.send(await alice.group("bob", name="Crew"), "hello")
    await all_told(database, 1)
    by_path = {path: (headers, body) for path, headers, body in service.requests}
    assert sorted(by_path) == ["/one", "/other"]
    for path, browser in (("/one", one), ("/other", other)):
        headers, body = by_path[path]
        told = json.loads(browser.read(body))
        assert (told["messageId"], told["excerpt"]) == (sent["id"], "hello")
        assert "message" not in told
        assert headers["Content-Encoding"] == "aes128gcm"
        assert headers["Authorization"].startswith("vapid t=")
        assert headers["TTL"] == "86400"


async def test_browsers_get_a_badge(
    serve: MakePeople, database: Database, service: PushService
) -> None:
    people = await serve(plugins=[quick(channels=[service.push()])], inbox=True)
    await ready(database)
    bob, browser = people("bob"), service.browser("one")
    await subscribe(bob, browser)
    await people("alice").send(await people("alice").direct("bob"), "hello")
    await all_told(database, 1)
    ((_, _, body),) = service.requests
    told = json.loads(browser.read(body))
    numbers = {"messages": 1, "mentions": 0, "conversations": 1}
    assert (told["unread"], told["badge"]) == ({"all": numbers, "unmuted": numbers}, 1)


async def test_subscriptions_that_are_gone_are_removed(
    serve: MakePeople, database: Database, service: PushService
) -> None:
    people = await serve(plugins=[quick(channels=[service.push()])])
    await ready(database)
    statuses = {"/gone": 410, "/unknown": 404, "/there": 201}
    service.answer = lambda path: statuses[path]
    bob = people("bob")
    for name in ("gone", "unknown", "there"):
        await subscribe(bob, service.browser(name))
    await people("alice").send(await people("alice").direct("bob"), "hi")
    await all_told(database, 1)
    rows = await database["notification_devices"].find().to_list(None)
    assert [row["token"].rpartition("/")[2] for row in rows] == ["there"]
    assert len(service.requests) == 3


@pytest.mark.parametrize(
    "keys", [{}, {"p256dh": "x", "auth": "x"}, {"p256dh": 5, "auth": 5}, {"p256dh": "é" * 9}]
)
async def test_browsers_with_impossible_keys_are_removed(
    serve: MakePeople, database: Database, service: PushService, keys: dict[str, Any]
) -> None:
    """Another program has written them."""
    people = await serve(plugins=[quick(channels=[service.push()])])
    await ready(database)
    row = {**service.browser("one").device, "keys": keys, "createdAt": datetime.now(UTC)}
    row = {"_id": "one", "userId": "bob", "failures": 0, **row}
    devices = database["notification_devices"]
    await devices.insert_one(row, bypass_document_validation=True)
    await people("alice").send(await people("alice").direct("bob"), "hi")
    await all_told(database, 1)
    assert await database["notification_devices"].count_documents({}) == 0
    assert await database["notifications"].count_documents({"state": "delivered"}) == 1


async def test_only_those_that_failed_are_tried_again(
    serve: MakePeople, database: Database, service: PushService
) -> None:
    """Also a redirect is a failure, and one that fails for good is removed in the end."""
    people = await serve(plugins=[quick(channels=[service.push()], max_attempts=3)])
    await ready(database)
    bad = [500, 302]
    service.answer = lambda path: (bad.pop(0) if bad else 201) if path == "/bad" else 201
    bob = people("bob")
    for name in ("good", "bad"):
        await subscribe(bob, service.browser(name))
    alice = people("alice")
    direct = await alice.direct("bob")
    await alice.send(direct, "hi")
    await all_told(database, 1)
    paths = [path for path, _, _ in service.requests]
    assert (paths.count("/good"), paths.count("/bad")) == (1, 3)
    rows = database["notification_devices"]
    assert await rows.count_documents({"failures": 0}) == 2
    await rows.update_one({"token": {"$regex": "/bad$"}}, {"$set": {"failures": MOST_FAILURES - 1}})
    bad += [500]
    await alice.send(direct, "again")
    await all_told(database, 2)
    assert await rows.count_documents({}) == 1


async def test_rows_of_other_programs_are_left_out(
    serve: MakePeople, told: Told, database: Database
) -> None:
    """Of subscriptions and of notifications: the others are listed, and delivered."""
    people = await serve(plugins=[quick(told, channels=[make_push()])])
    await ready(database)
    bob = people("bob")
    await bob.post(DEVICES, a_browser())
    bad = {"_id": 5, "userId": "bob", "token": ["x"], "createdAt": "never"}
    await database["notification_devices"].insert_one(bad, bypass_document_validation=True)
    assert len((await bob.get(DEVICES)).json["devices"]) == 1
    row = {"_id": 5, "userId": "carol", "state": "waiting", "at": datetime(2020, 1, 1, tzinfo=UTC)}
    await database["notifications"].insert_one(row, bypass_document_validation=True)
    await people("alice").send(await people("alice").direct("carol"), "hi")
    await until(lambda: told.of("carol") == ["hi"])


async def test_a_browser_belongs_to_whoever_has_subscribed_it_last_and_a_user_has_few(
    serve: MakePeople, database: Database
) -> None:
    people = await serve(plugins=[quick(Told(), channels=[make_push()], max_devices_per_user=2)])
    alice, bob = people("alice"), people("bob")
    shared = a_browser()
    for who in (alice, bob, bob):
        await who.post(DEVICES, shared)
    assert (await alice.get(DEVICES)).json["devices"] == []
    (mine,) = (await bob.get(DEVICES)).json["devices"]
    for _ in range(2):
        await bob.post(DEVICES, a_browser())
    listed = (await bob.get(DEVICES)).json["devices"]
    assert len(listed) == 2
    assert mine not in listed
    for who, count in ((alice, 2), (bob, 1)):
        given = {"deviceId": listed[0]["id"]}
        answer = await who.call("DELETE", DEVICES, json=given)
        assert answer.json == {"ok": True}
        assert len((await bob.get(DEVICES)).json["devices"]) == count


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://push.example/x",
        "https://push.example.evil/x",
        "https://evil.push.example/x",
        "https://push.example@evil/x",
        "https://evil\\@push.example/x",
        "https://push.example:8443/x",
        "https://push.example:x/x",
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "//push.example/x",
        "https://evil\n.push.example/x",
        "https://push\t.example/x",
        "https://push.example/x\r\n",
        " https://push.example/x",
        "https://push.example/x y",
        "https://push.example/\0",
        "https://push.example/é",
        "https://push.example/#x",
        "https://push.example\\x",
        "https://push.example:/x",
        "https://push.example:443443/x",
        "https://push.example./x",
        "https:/push.example/x",
        "https:push.example/x",
        "",
        "https://push.example/" + "x" * 3_000,
    ],
)
async def test_endpoints_elsewhere_are_refused(serve: MakePeople, endpoint: str) -> None:
    bob = (await serve(plugins=[quick(Told(), channels=[make_push()])]))("bob")
    given = {**a_browser(), "token": endpoint}
    assert (await bob.post(DEVICES, given)).code == "INVALID_INPUT"


@pytest.mark.parametrize(
    "keys", [{}, {"p256dh": "x", "auth": "x"}, {"p256dh": "A" * 87, "auth": "A" * 22}, "x"]
)
async def test_keys_that_cannot_be_are_refused(serve: MakePeople, keys: Any) -> None:
    bob = (await serve(plugins=[quick(Told(), channels=[make_push()])]))("bob")
    given = {**a_browser(), "keys": keys}
    assert (await bob.post(DEVICES, given)).code == "INVALID_INPUT"


def test_the_known_push_services_are_allowed() -> None:
    for host in ("fcm.googleapis.com", "x.push.apple.com", "db5p.notify.windows.com"):
        assert host_of(f"https://{host}/x", PUSH_HOSTS) == host
    assert host_of("https://X.push.apple.com:443/3/a?b=c", PUSH_HOSTS) == "x.push.apple.com"
    escaped, odd = (
        ("a%2f", "a%23", "a;", "é", "a\n", "a\x7f"),
        ("a.", ".", "-a", "a-", "a_b", "[a]"),
    )
    for label in (*escaped, *odd, ""):
        with pytest.raises(ValueError, match="plain host"):
            host_of(f"https://{label}.push.apple.com/x", PUSH_HOSTS)
    with pytest.raises(ValueError, match="allowed"):
        host_of("https://notify.windows.com.evil/x", PUSH_HOSTS)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        *(("8.8.8.8", True), ("2606:4700::1111", True), ("127.0.0.1", False)),
        *(("10.1.2.3", False), ("169.254.169.254", False), ("::1", False), ("fe80::1%eth0", False)),
        *(("::ffff:10.0.0.1", False), ("224.0.0.1", False), ("0.0.0.0", False)),
    ],
)
def test_private_addresses_are_none(address: str, public: bool) -> None:
    assert is_public(address) is public


async def test_a_name_that_leads_inside_is_not_resolved() -> None:
    with pytest.raises(OSError, match="no public address"):
        await PublicResolver().resolve("localhost", 443)


async def people_in_a_group(
    database: Database, group: str, message_id: str, users: list[str]
) -> None:
    """Another group with these users, whose only message they are to be told of."""
    conversation: Any = await database["conversations"].find_one({"_id": group})
    message: Any = await database["messages"].find_one({"_id": message_id})
    one = conversation["participants"][0]
    name = f"group of {users[0]}"
    conversation |= {"_id": name, "participants": [{**one, "userId": user} for user in users]}
    message |= {"_id": f"message to {users[0]}", "conversationId": name, "timelines": [name]}
    at = message["createdAt"]
    rows = [
        {
            "_id": {"userId": user, "messageId": message["_id"]},
            "userId": user,
            "messageId": message["_id"],
            "conversationId": name,
            "seq": 1,
            "at": at,
            "dueAt": at,
            "state": "waiting",
            "held": False,
            "count": 1,
            "tries": 0,
            "notBefore": at,
            "done": [],
            "error": None,
        }
        for user in users
    ]
    await database["conversations"].insert_one(conversation)
    await database["notifications"].insert_many(rows)
    imported = {**message, "importedAt": at}
    await database["messages"].insert_one(imported)


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.long)])
async def test_many_dead_endpoints_do_not_stall_the_others(
    serve: MakePeople, database: Database, service: PushService, count: int
) -> None:
    """They never answer; somebody else is told meanwhile."""
    push = service.push(seconds=0.5)
    plugin = quick(channels=[push], concurrency=50, max_attempts=3, lease_seconds=15.0)
    people = await serve(plugins=[plugin])
    await ready(database)
    stuck = asyncio.Event()

    async def never() -> int:
        await stuck.wait()
        return 201

    service.answer = lambda path: 201 if path == "/alive" else never()
    alice, bob = people("alice"), people("bob")
    dead = service.browser("dead").device
    now = datetime.now(UTC)
    await database["notification_devices"].insert_many(
        {
            "_id": f"s{number}",
            "userId": f"u{number}",
            **dead,
            "createdAt": now,
            "failures": 0,
        }
        for number in range(count)
    )
    group = await alice.group("bob")
    sent = await alice.send(group, "hi")
    for start in range(0, count, MAX_PARTICIPANTS):
        users = [f"u{number}" for number in range(start, min(count, start + MAX_PARTICIPANTS))]
        await people_in_a_group(database, group, sent["id"], users)

    async def some_failed() -> bool:
        return bool(await database["notifications"].count_documents({"tries": {"$gt": 0}}))

    await eventually(some_failed)
    await subscribe(bob, service.browser("alive"))
    await alice.send(await alice.direct("bob"), "hello")
    await until(lambda: any(path == "/alive" for path, _, _ in service.requests))
    waiting = await database["notifications"].count_documents({"state": "waiting"})
    assert waiting > count / 10
    stuck.set()
