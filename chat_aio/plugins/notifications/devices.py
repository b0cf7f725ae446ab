"""Devices: the browsers and phones that users have registered, and channels that reach them."""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.plugins.deliveries.rows import Row, has_types
from chat_aio.plugins.deliveries.tries import DeliveryFailed
from chat_aio.plugins.notifications.channels import Channel, Notification
from chat_aio.plugins.own_collection import OwnCollection
from chat_aio.schema.notifications import RegisteredDevice

MOST_FAILURES = 30
"""A device is removed after this number of failures in a row."""

_TYPES = {
    **dict.fromkeys(("_id", "userId", "kind", "token"), str),
    "keys": dict,
    "createdAt": datetime,
    "failures": int,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device of a user. `token` is its address in the service of its `kind`, and a secret; `keys`
    are those of a browser, otherwise empty. `failures` counts failed deliveries in a row."""

    id: str
    user_id: str
    kind: str
    token: str
    keys: Mapping[str, str]
    created_at: datetime
    failures: int


class DeviceGone(Exception):
    """The device no longer exists, and is removed."""


class Devices:
    """The collection `notification_devices`. Each write may be repeated."""

    _rows = OwnCollection("notification_devices")

    def __init__(self, api: PluginAPI) -> None:
        self._api = api

    async def register(
        self, user_id: str, kind: str, token: str, keys: Mapping[str, str], *, most: int
    ) -> RegisteredDevice:
        """Store a device; one of another user with the same token becomes this user's. The oldest
        of a user's devices are removed if there are more than `most`."""
        here = {"_id": sha256(f"{kind}\0{token}".encode()).hexdigest()[:32]}
        fields = {
            "userId": user_id,
            "kind": kind,
            "token": token,
            "keys": {**keys},
            "createdAt": self._api.now(),
            "failures": 0,
        }
        await self._api.write(lambda: self._rows.update_one(here, {"$set": fields}, upsert=True))
        # The oldest go: a device that is used is registered again from time to time.
        surplus = [device.id for device in (await self.list(user_id))[:-most]]
        await self._api.write(lambda: self._rows.delete_many({"_id": {"$in": surplus}}))
        return _shown(_device_from({**here, **fields}))

    async def list(self, user_id: str) -> list[Device]:
        """The devices of a user, the oldest first."""
        found: list[Row] = await self._api.read(
            lambda: self._rows.find({"userId": user_id}).sort("createdAt", 1).to_list(None)
        )
        return [_device_from(row) for row in found if has_types(row, _TYPES)]

    async def list_registered(self, user_id: str) -> tuple[RegisteredDevice, ...]:
        """The devices of a user as they are shown to the user."""
        return tuple(map(_shown, await self.list(user_id)))

    async def remove(self, user_id: str, device_id: str) -> None:
        """Remove a device of a user, if there is one."""
        here = {"_id": device_id, "userId": user_id}
        await self._api.write(lambda: self._rows.delete_one(here))

    async def remove_gone(self, device: Device) -> None:
        """Remove a device, unless it was registered again in the meantime."""
        here = {"_id": device.id, "createdAt": device.created_at}
        await self._api.write(lambda: self._rows.delete_one(here))

    async def set_failures(self, device: Device, failures: int) -> None:
        here = {"_id": device.id, "createdAt": device.created_at}
        changed = {"$set": {"failures": failures}}
        await self._api.write(lambda: self._rows.update_one(here, changed))


class DeviceChannel(Channel):
    """A channel to the devices of one `kind`, such as `"fcm"`: clients register their devices with
    this kind, and `send_to` sends to one of them."""

    kind: str

    async def open(self, api: PluginAPI) -> None:
        """The chat opens; a channel with its own `open` calls this one."""
        self._devices = Devices(api)

    def check(self, token: str, keys: Mapping[str, str]) -> None:
        """Raise ValueError for a device that is not to be registered; its text is shown to
        clients."""
        if keys:
            raise ValueError("keys are those of a browser")

    @abstractmethod
    async def send_to(self, device: Device, notification: Notification) -> None:
        """Send to one device, with a timeout. Raise DeviceGone if it no longer exists; after any
        other exception it is tried again."""

    async def send(self, notification: Notification, done: set[str]) -> None:
        devices = [
            device
            for device in await self._devices.list(notification.user_id)
            if device.kind == self.kind and _mark(device) not in done
        ]
        outcomes = await asyncio.gather(
            *(self._send_one(device, notification) for device in devices), return_exceptions=True
        )
        failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        done |= {
            # By device: after one that failed the others must not ring twice.
            _mark(device)
            for device, outcome in zip(devices, outcomes, strict=True)
            if outcome not in failed
        }
        if failed:
            raise failed[0]

    async def _send_one(self, device: Device, notification: Notification) -> None:
        try:
            await self.send_to(device, notification)
        except DeviceGone:
            await self._devices.remove_gone(device)
        except DeliveryFailed:
            # Only these count: a mistake of the host's, as in its credentials, must not remove
            # the devices of all users.
            if device.failures + 1 >= MOST_FAILURES:
                await self._devices.remove_gone(device)
            else:
                await self._devices.set_failures(device, device.failures + 1)
            raise
        else:
            if device.failures:
                await self._devices.set_failures(device, 0)


def _mark(device: Device) -> str:
    return f"{device.kind}:{device.id}"


def _device_from(row: Row) -> Device:
    return Device(
        id=row["_id"],
        user_id=row["userId"],
        kind=row["kind"],
        token=row["token"],
        keys=row["keys"],
        created_at=row["createdAt"],
        failures=row["failures"],
    )


def _shown(device: Device) -> RegisteredDevice:
    return RegisteredDevice(id=device.id, kind=device.kind, created_at=device.created_at)
