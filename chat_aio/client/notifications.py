"""The user's notification settings, over HTTP; the service needs the plugin Notifications."""

from collections.abc import Mapping

from chat_aio.client.base import Calls
from chat_aio.client.decoding import read
from chat_aio.schema.notifications import (
    ConversationNotifications,
    NotificationLevel,
    NotificationSettings,
    QuietHours,
    RegisteredDevice,
    RegisteredDevices,
)

SETTINGS = ("notifications", "settings")
DEVICES = ("notifications", "devices")


class NotificationRoutes(Calls):
    """The user's own settings for notifications."""

    async def get_settings(self) -> NotificationSettings:
        return read(NotificationSettings, await self._get(*SETTINGS))

    async def set_quiet_hours(self, quiet_hours: QuietHours | None) -> NotificationSettings:
        """No notification is sent in quiet hours; None for none."""
        given = None if quiet_hours is None else quiet_hours.model_dump(by_alias=True)
        return read(NotificationSettings, await self._put(*SETTINGS, quiet_hours=given))

    async def get_level(self, conversation_id: str) -> ConversationNotifications:
        return read(ConversationNotifications, await self._get(*_in(conversation_id)))

    async def set_level(
        self, conversation_id: str, level: NotificationLevel | None
    ) -> ConversationNotifications:
        """The user's notification level in a conversation; None for the default."""
        answer = await self._put(*_in(conversation_id), level=level)
        return read(ConversationNotifications, answer)

    async def list_devices(self) -> RegisteredDevices:
        """The user's devices, the kinds that may be registered, and the key of browsers."""
        return read(RegisteredDevices, await self._get(*DEVICES))

    async def register_device(
        self, kind: str, token: str, keys: Mapping[str, str] | None = None
    ) -> RegisteredDevice:
        """Register a device of the user; `keys` are those of a browser."""
        given = None if keys is None else dict(keys)
        answer = await self._post(*DEVICES, kind=kind, token=token, keys=given)
        return read(RegisteredDevice, answer["device"])

    async def remove_device(self, device_id: str) -> None:
        await self._delete(*DEVICES, device_id=device_id)


def _in(conversation_id: str) -> tuple[str, ...]:
    return "conversations", conversation_id, "notifications"
