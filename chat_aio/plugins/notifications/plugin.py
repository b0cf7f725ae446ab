"""The plugin: its settings, its parts, and the routes of users' own settings."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from typing import Literal

from chat_aio.errors import ConversationNotFound, ForbiddenRead, InvalidInput, PushUnsupported
from chat_aio.plugin_types.base import DeliveredMessage, Plugin, PluginRequest, PluginRoute
from chat_aio.plugins.deliveries.lease import PositionLease
from chat_aio.plugins.deliveries.tries import Tries
from chat_aio.plugins.notifications.channels import Channel, Deliver, Function
from chat_aio.plugins.notifications.deciding import FRESH_SECONDS, Decider
from chat_aio.plugins.notifications.delivering import Delivery
from chat_aio.plugins.notifications.preferences import Preferences, default_level
from chat_aio.plugins.notifications.push import Push
from chat_aio.plugins.notifications.quiet_hours import checked
from chat_aio.plugins.notifications.rows import Rows
from chat_aio.plugins.notifications.shown import Shown
from chat_aio.plugins.notifications.working import NAME, NotificationWorker
from chat_aio.schema.models import OkResponse
from chat_aio.schema.notifications import (
    ConversationNotifications,
    NewNotificationLevel,
    NewNotificationSettings,
    NewSubscription,
    NotificationSettings,
    PushSubscriptions,
    SubscribedTo,
    SubscriptionChoice,
)

SHOWN_SECONDS = 1.0
SETTINGS = "/notifications/settings"
SUBSCRIPTIONS = "/notifications/subscriptions"
IN_CONVERSATION = "/conversations/{conversation_id}/notifications"
UNREADABLE = (ConversationNotFound, ForbiddenRead)


class Notifications(Plugin):
    """Notifies users of messages that they have not seen `delay_seconds` after they were sent
    (docs/guides/notifications.md): by `deliver`, your async function, and by `channels`, such as
    `Webhook(...)` and `Push(...)`.

    One process at a time does it. If it dies, another one goes on within `lease_seconds` and a
    third of them. A notification that fails is tried again, `max_attempts` times, at first after
    `retry_backoff_seconds` and then after twice as long each time. Notifications go to
    `concurrency` users at once, and to a quarter as many whose last one has failed.

    With `suppress_when="read"`, users are notified although a stream of theirs has shown the
    message, unless they have read it: for apps that hold a stream open on every page. With
    `once_until_read`, a user gets one notification for a conversation, with the number of messages,
    and the next one only after they have read that message.
    """

    def __init__(
        self,
        deliver: Deliver | None = None,
        *,
        channels: Sequence[Channel] = (),
        delivery_timeout_seconds: float = 30.0,
        delay_seconds: float = 10.0,
        lease_seconds: float = 5.0,
        max_attempts: int = 12,
        retry_backoff_seconds: float = 5.0,
        concurrency: int = 200,
        suppress_when: Literal["delivered", "read"] = "delivered",
        once_until_read: bool = False,
    ) -> None:
        positive = (
            delivery_timeout_seconds,
            delay_seconds,
            lease_seconds,
            max_attempts,
            retry_backoff_seconds,
        )
        if min(*positive, concurrency) <= 0:
            raise ValueError("Notifications: times and numbers must be positive")
        if suppress_when not in ("delivered", "read"):
            raise ValueError('Notifications(suppress_when=...): "delivered" or "read"')
        own = [] if deliver is None else [Function(deliver, seconds=delivery_timeout_seconds)]
        self._channels = (*own, *channels)
        self._push = next((channel for channel in channels if isinstance(channel, Push)), None)
        self._delay = delay_seconds
        self._lease_seconds = lease_seconds
        self._tries = Tries(most=max_attempts, back_off=retry_backoff_seconds)
        self._concurrency = concurrency
        self._suppress_when = suppress_when
        self._once_until_read = once_until_read
        self._shown: Shown | None = None
        self._opened = AsyncExitStack()
        self.routes = self._make_routes()

    async def open(self) -> None:
        async with AsyncExitStack() as opened:
            for channel in self._channels:
                await channel.open(self.api)
                opened.push_async_callback(channel.close)
            self._preferences = Preferences(self.api)
            if self._suppress_when == "delivered":
                # Well within the delay: delivered ranges must be written before they are read.
                self._shown = Shown(self.api, seconds=min(SHOWN_SECONDS, self._delay / 8))
                opened.push_async_callback(self._shown.close)
            if self._channels:
                lease = PositionLease.of(self.api, NAME, seconds=self._lease_seconds)
                rows = Rows(self.api)
                decider = Decider(self.api, self._preferences, self._shown)
                make_delivery = partial(
                    Delivery,
                    self.api,
                    lease,
                    rows,
                    decider,
                    self._channels,
                    concurrency=self._concurrency,
                    tries=self._tries,
                    once_until_read=self._once_until_read,
                )
                worker = NotificationWorker(
                    self.api, lease, rows, decider, make_delivery, delay_seconds=self._delay
                )
                worker.open()
                opened.push_async_callback(worker.close)
            self._opened = opened.pop_all()

    async def close(self) -> None:
        await self._opened.aclose()

    def stream_opened(self, user_id: str) -> None:
        if self._shown is not None:
            self._shown.opened(user_id)

    def stream_closed(self, user_id: str) -> None:
        if self._shown is not None:
            self._shown.closed(user_id)

    def message_delivered(self, user_id: str, message: DeliveredMessage) -> None:
        if self._shown is not None:
            self._shown.note(user_id, message)

    def _make_routes(self) -> tuple[PluginRoute, ...]:
        return (
            PluginRoute(
                method="GET",
                path=SETTINGS,
                handler=self._show_settings,
                response_model=NotificationSettings,
            ),
            PluginRoute(
                method="PUT",
                path=SETTINGS,
                handler=self._set_settings,
                request_model=NewNotificationSettings,
                response_model=NotificationSettings,
                errors=(InvalidInput,),
            ),
            PluginRoute(
                method="GET",
                path=IN_CONVERSATION,
                handler=self._show_level,
                response_model=ConversationNotifications,
                errors=UNREADABLE,
            ),
            PluginRoute(
                method="PUT",
                path=IN_CONVERSATION,
                handler=self._set_level,
                request_model=NewNotificationLevel,
                response_model=ConversationNotifications,
                errors=(InvalidInput, *UNREADABLE),
            ),
            PluginRoute(
                method="GET",
                path=SUBSCRIPTIONS,
                handler=self._list_subscriptions,
                response_model=PushSubscriptions,
                errors=(PushUnsupported,),
            ),
            PluginRoute(
                method="POST",
                path=SUBSCRIPTIONS,
                handler=self._subscribe,
                request_model=NewSubscription,
                response_model=SubscribedTo,
                errors=(InvalidInput, PushUnsupported),
            ),
            PluginRoute(
                method="DELETE",
                path=SUBSCRIPTIONS,
                handler=self._unsubscribe,
                request_model=SubscriptionChoice,
                response_model=OkResponse,
                errors=(InvalidInput, PushUnsupported),
            ),
        )

    async def _show_settings(self, request: PluginRequest) -> Mapping[str, object]:
        """The caller's settings for all conversations."""
        return {"quietHours": await self._preferences.quiet_hours_of(request.user_id)}

    async def _set_settings(self, request: PluginRequest) -> Mapping[str, object]:
        """Set the caller's quiet hours; null or none clears them. Messages of quiet hours are sent
        at their end, one notification for each conversation.

        Raises InvalidInput.
        """
        given = request.read(NewNotificationSettings)
        hours = given.quiet_hours
        if hours is not None:
            try:
                hours = checked(hours)
            except ValueError as error:
                raise InvalidInput(f"quietHours {error}") from None
        await self._preferences.set_quiet_hours(request.user_id, hours)
        # Later than what the deciding process may remember of the hours before.
        later = self.api.now() + timedelta(seconds=FRESH_SECONDS + 1)
        await Rows(self.api).release(request.user_id, later)
        return {"quietHours": hours}

    async def _show_level(self, request: PluginRequest) -> Mapping[str, object]:
        """The caller's notification level in a conversation. In public channels the default is
        mentions, elsewhere all.

        Raises ConversationNotFound and ForbiddenRead.
        """
        conversation_id = request.path["conversation_id"]
        conversation = await self.api.load_readable(request.user_id, conversation_id)
        level = await self._preferences.level_in(request.user_id, conversation_id)
        return {"level": level or default_level(conversation), "isDefault": level is None}

    async def _set_level(self, request: PluginRequest) -> Mapping[str, object]:
        """Set the caller's notification level in a conversation; null or none is the default again.

        Raises InvalidInput, ConversationNotFound and ForbiddenRead.
        """
        given = request.read(NewNotificationLevel)
        conversation_id = request.path["conversation_id"]
        conversation = await self.api.load_readable(request.user_id, conversation_id)
        await self._preferences.set_level(request.user_id, conversation_id, given.level)
        level = given.level or default_level(conversation)
        return {"level": level, "isDefault": given.level is None}

    async def _list_subscriptions(self, request: PluginRequest) -> Mapping[str, object]:
        """The caller's subscriptions to Web Push, the oldest first, and the key to subscribe with.

        Raises PushUnsupported.
        """
        push = self._require_push()
        found = await push.list_subscriptions(request.user_id)
        return {"subscriptions": found, "publicKey": push.public_key}

    async def _subscribe(self, request: PluginRequest) -> Mapping[str, object]:
        """Subscribe a browser to Web Push, with what its `PushManager` has returned. The oldest one
        is removed if there are too many.

        Raises InvalidInput and PushUnsupported.
        """
        given = request.read(NewSubscription)
        push = self._require_push()
        made = await push.subscribe(request.user_id, given.endpoint, given.keys)
        return {"subscription": made}

    async def _unsubscribe(self, request: PluginRequest) -> Mapping[str, object]:
        """Remove a subscription of the caller. Repeating it is allowed.

        Raises InvalidInput and PushUnsupported.
        """
        given = request.read(SubscriptionChoice)
        await self._require_push().unsubscribe(request.user_id, given.subscription_id)
        return {"ok": True}

    def _require_push(self) -> Push:
        if self._push is None:
            raise PushUnsupported
        return self._push
