"""Devices of several kinds, and a host's own channel to them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from chat_aio.plugins import Notifications
from chat_aio.plugins.deliveries.tries import DeliveryFailed
from chat_aio.plugins.notifications import Device, DeviceChannel, DeviceGone, Notification
from chat_aio.plugins.notifications.devices import MOST_FAILURES
from tests.conftest import Database, MakePeople
from tests.plugins.notifications.pushing import a_browser, make_push
from tests.plugins.notifications.telling import Told, all_told, quick, ready

DEVICES = "/notifications/devices"


class Phones(DeviceChannel):
    """Keeps what it sends; `errors` are raised first, by token."""

    kind = "phone"

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, str]] = []
        self.errors: dict[str, list[Exception]] = {}

    def check(self, token: str, keys: Any) -> None:
        super().check(token, keys)
        if token == "bad":
            raise ValueError("token must not be bad")

    async def send_to(self, device: Device, notification: Notification) -> None:
        assert device.user_id == notification.user_id
        if errors := self.errors.get(device.token):
            raise errors.pop(0)
        self.sent.append((device.user_id, device.token, notification.message.body))


@pytest.fixture
def phones() -> Phones:
    return Phones()


async def test_a_phone_is_registered_notified_and_removed(
    serve: MakePeople, database: Database, phones: Phones
) -> None:
    people = await serve(plugins=[quick(channels=[phones, make_push()])])
    await ready(database)
    alice, bob = people("alice"), people("bob")
    made = (await bob.post(DEVICES, {"kind": "phone", "token": "one"})).json["device"]
    assert made["kind"] == "phone"
    listed = (await bob.get(DEVICES)).json
    assert (listed["devices"], listed["kinds"]) == ([made], ["phone", "web"])
    assert listed["publicKey"] == make_push().public_key
    direct = await alice.direct("bob")
    await alice.send(direct, "hello")
    await all_told(database, 1)
    assert phones.sent == [("bob", "one", "hello")]
    gone = {"deviceId": made["id"]}
    assert (await alice.call("DELETE", DEVICES, json=gone)).status == 200
    assert (await bob.get(DEVICES)).json["devices"] == [made]
    assert (await bob.call("DELETE", DEVICES, json=gone)).status == 200
    await alice.send(direct, "again")
    await all_told(database, 2)
    assert len(phones.sent) == 1


async def test_a_device_belongs_to_the_last_user_who_has_registered_it(
    serve: MakePeople, phones: Phones
) -> None:
    """The same token of another kind is another device."""
    people = await serve(plugins=[quick(channels=[phones, _Tablets()])])
    alice, bob = people("alice"), people("bob")
    for who, kind in ((alice, "phone"), (alice, "tablet"), (bob, "phone")):
        assert (await who.post(DEVICES, {"kind": kind, "token": "one"})).status == 200
    kinds = [
        [device["kind"] for device in (await who.get(DEVICES)).json["devices"]]
        for who in (alice, bob)
    ]
    assert kinds == [["tablet"], ["phone"]]


class _Tablets(Phones):
    kind = "tablet"


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "pager", "token": "one"},
        {"kind": "web", "token": "one"},
        {"kind": 5, "token": "one"},
        {"kind": "phone"},
        {"kind": "phone", "token": ""},
        {"kind": "phone", "token": "é"},
        {"kind": "phone", "token": "x" * 2_049},
        {"kind": "phone", "token": "bad"},
        {"kind": "phone", "token": "one", "keys": a_browser()["keys"]},
        {"token": "one"},
    ],
)
async def test_impossible_devices_are_refused(
    serve: MakePeople, database: Database, phones: Phones, given: Any
) -> None:
    bob = (await serve(plugins=[quick(channels=[phones])]))("bob")
    assert (await bob.post(DEVICES, given)).code == "INVALID_INPUT"
    assert await database["notification_devices"].count_documents({}) == 0


async def test_a_browser_needs_keys(serve: MakePeople) -> None:
    bob = (await serve(plugins=[quick(channels=[make_push()])]))("bob")
    given = {name: value for name, value in a_browser().items() if name != "keys"}
    assert (await bob.post(DEVICES, given)).code == "INVALID_INPUT"


async def test_without_a_channel_there_are_no_devices(serve: MakePeople) -> None:
    bob = (await serve(plugins=[quick(Told())]))("bob")
    for method, given in (
        ("GET", None),
        ("POST", {"kind": "phone", "token": "one"}),
        ("DELETE", {"deviceId": "x"}),
    ):
        assert (await bob.call(method, DEVICES, json=given)).code == "PUSH_UNSUPPORTED"


async def test_only_the_device_that_failed_is_tried_again(
    serve: MakePeople, database: Database, phones: Phones
) -> None:
    people = await serve(plugins=[quick(channels=[phones])])
    await ready(database)
    bob = people("bob")
    for token in ("one", "two", "gone"):
        await bob.post(DEVICES, {"kind": "phone", "token": token})
    phones.errors = {"one": [ConnectionError(), ConnectionError()], "gone": [DeviceGone()]}
    await people("alice").send(await people("alice").direct("bob"), "hello")
    await all_told(database, 1)
    assert sorted(phones.sent) == [("bob", "one", "hello"), ("bob", "two", "hello")]
    left = await database["notification_devices"].distinct("token")
    assert left == ["one", "two"]


async def test_a_device_that_was_registered_again_is_kept(
    serve: MakePeople, database: Database, phones: Phones, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a request was on its way that finds it gone."""
    people = await serve(plugins=[quick(channels=[phones])])
    await ready(database)
    bob, given = people("bob"), {"kind": "phone", "token": "one"}
    await bob.post(DEVICES, given)

    async def register_and_fail(*_: Any) -> None:
        await bob.post(DEVICES, given)
        raise DeviceGone

    monkeypatch.setattr(phones, "send_to", register_and_fail)
    await people("alice").send(await people("alice").direct("bob"), "hello")
    await all_told(database, 1)
    assert await database["notification_devices"].distinct("token") == ["one"]


@pytest.mark.parametrize(("error", "left"), [(ConnectionError, 1), (DeliveryFailed, 0)])
async def test_mistakes_of_the_host_remove_no_device(
    serve: MakePeople, database: Database, phones: Phones, error: type[Exception], left: int
) -> None:
    """As wrong credentials: every device fails then. Only failures of the device itself count."""
    people = await serve(plugins=[quick(channels=[phones], max_attempts=2)])
    await ready(database)
    now, keys = datetime.now(UTC), dict[str, str]()
    row = {"kind": "phone", "token": "one", "keys": keys, "createdAt": now}
    await database["notification_devices"].insert_one(
        {"_id": "one", "userId": "bob", **row, "failures": MOST_FAILURES - 1}
    )
    phones.errors = {"one": [error("no"), error("no")]}
    await people("alice").send(await people("alice").direct("bob"), "hello")
    await all_told(database, 1)
    assert await database["notification_devices"].count_documents({}) == left


def test_a_kind_has_one_channel(phones: Phones) -> None:
    with pytest.raises(ValueError, match="a kind of devices has one channel"):
        Notifications(channels=[phones, Phones()])
    with pytest.raises(ValueError, match="must be positive"):
        Notifications(channels=[phones], max_devices_per_user=0)
