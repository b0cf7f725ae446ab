"""The user's notification settings, over HTTP; the service needs the plugin Notifications."""

from collections.abc import Mapping

from chat_aio.client.base import Calls
from chat_aio.client.decoding import read
from chat_aio.schema.notifications import (
    ConversationNotifications,
    NotificationLevel,
    NotificationSettings,
    PushSubscription,
    PushSubscriptions,
    QuietHours,
)

SETTINGS = ("notifications", "settings")
SUBSCRIPTIONS = ("notifications", "subscriptions")


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

    async def list_subscriptions(self) -> PushSubscriptions:
        """The user's browsers, and the key to subscribe with."""
        return read(PushSubscriptions, await self._get(*SUBSCRIPTIONS))

    async def subscribe(self, endpoint: str, keys: Mapping[str, str]) -> PushSubscription:
        """Subscribe a browser to Web Push."""
        answer = await self._post(*SUBSCRIPTIONS, endpoint=endpoint, keys=dict(keys))
        return read(PushSubscription, answer["subscription"])

    async def unsubscribe(self, subscription_id: str) -> None:
        await self._delete(*SUBSCRIPTIONS, subscription_id=subscription_id)


def _in(conversation_id: str) -> tuple[str, ...]:
    return "conversations", conversation_id, "notifications"
