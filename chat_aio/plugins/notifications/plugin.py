"""The plugin: its settings, its parts, and the routes of users' own settings."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta

from chat_aio.errors import ConversationNotFound, ForbiddenRead, InvalidInput, PushUnsupported
from chat_aio.plugin_types.base import DeliveredMessage, Plugin, PluginRequest, PluginRoute
from chat_aio.plugins.notifications.channels import Channel, Deliver, Function
from chat_aio.plugins.notifications.deciding import FRESH_SECONDS, Decider
from chat_aio.plugins.notifications.delivering import Delivery
from chat_aio.plugins.notifications.lease import Lease
from chat_aio.plugins.notifications.preferences import Preferences, default_level
from chat_aio.plugins.notifications.push import Push
from chat_aio.plugins.notifications.quiet_hours import checked
from chat_aio.plugins.notifications.rows import Rows
from chat_aio.plugins.notifications.shown import Shown
from chat_aio.plugins.notifications.working import Worker
from chat_aio.schema.models import Done
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
    """Tells users of messages that they have not seen `delay_seconds` after they were sent
    (docs/notifications.md): by `deliver`, an async function of yours, and by `channels`, such as
    `Webhook(...)` and `Push(...)`.

    One process at a time does it. If it dies, another one goes on within `lease_seconds` and a
    third of them. A notification that fails is tried again, `tries` times, at first after
    `back_off_seconds` and then after twice as long each time. Notifications go to `concurrency`
    users at once, and to a quarter as many whose last one has failed.
    """

    def __init__(
        self,
        deliver: Deliver | None = None,
        *,
        channels: Sequence[Channel] = (),
        deliver_seconds: float = 30.0,
        delay_seconds: float = 10.0,
        lease_seconds: float = 5.0,
        tries: int = 12,
        back_off_seconds: float = 5.0,
        concurrency: int = 200,
    ) -> None:
        positive = (deliver_seconds, delay_seconds, lease_seconds, tries, back_off_seconds)
        if min(*positive, concurrency) <= 0:
            raise ValueError("Notifications: times and numbers must be positive")
        own = [] if deliver is None else [Function(deliver, seconds=deliver_seconds)]
        self._channels = (*own, *channels)
        self._push = next((channel for channel in channels if isinstance(channel, Push)), None)
        self._delay = delay_seconds
        self._lease_seconds = lease_seconds
        self._tries = tries
        self._back_off = back_off_seconds
        self._concurrency = concurrency
        self._opened = AsyncExitStack()
        self.routes = self._make_routes()

    async def open(self) -> None:
        async with AsyncExitStack() as opened:
            for channel in self._channels:
                await channel.open(self.api)
                opened.push_async_callback(channel.close)
            self._preferences = Preferences(self.api)
            # Well within the delay: what was shown must be written before it is asked for.
            self._shown = Shown(self.api, seconds=min(SHOWN_SECONDS, self._delay / 8))
            opened.push_async_callback(self._shown.close)
            if self._channels:
                worker = self._make_worker()
                worker.open()
                opened.push_async_callback(worker.close)
            self._opened = opened.pop_all()

    async def close(self) -> None:
        await self._opened.aclose()

    def _make_worker(self) -> Worker:
        lease = Lease(self.api, seconds=self._lease_seconds)
        rows = Rows(self.api)
        decider = Decider(self.api, self._preferences, self._shown)

        def make_delivery() -> Delivery:
            return Delivery(
                self.api,
                lease,
                rows,
                decider,
                self._channels,
                concurrency=self._concurrency,
                tries=self._tries,
                back_off_seconds=self._back_off,
            )

        return Worker(self.api, lease, rows, decider, make_delivery, delay_seconds=self._delay)

    def stream_opened(self, user_id: str) -> None:
        self._shown.opened(user_id)

    def stream_closed(self, user_id: str) -> None:
        self._shown.closed(user_id)

    def message_delivered(self, user_id: str, message: DeliveredMessage) -> None:
        self._shown.note(user_id, message)

    def _make_routes(self) -> tuple[PluginRoute, ...]:
        return (
            PluginRoute(
                method="GET", path=SETTINGS, handler=self._show_settings, gives=NotificationSettings
            ),
            PluginRoute(
                method="PUT",
                path=SETTINGS,
                handler=self._set_settings,
                takes=NewNotificationSettings,
                gives=NotificationSettings,
                errors=(InvalidInput,),
            ),
            PluginRoute(
                method="GET",
                path=IN_CONVERSATION,
                handler=self._show_level,
                gives=ConversationNotifications,
                errors=UNREADABLE,
            ),
            PluginRoute(
                method="PUT",
                path=IN_CONVERSATION,
                handler=self._set_level,
                takes=NewNotificationLevel,
                gives=ConversationNotifications,
                errors=(InvalidInput, *UNREADABLE),
            ),
            *self._subscription_routes(),
        )

    def _subscription_routes(self) -> tuple[PluginRoute, ...]:
        return (
            PluginRoute(
                method="GET",
                path=SUBSCRIPTIONS,
                handler=self._list_subscriptions,
                gives=PushSubscriptions,
                errors=(PushUnsupported,),
            ),
            PluginRoute(
                method="POST",
                path=SUBSCRIPTIONS,
                handler=self._subscribe,
                takes=NewSubscription,
                gives=SubscribedTo,
                errors=(InvalidInput, PushUnsupported),
            ),
            PluginRoute(
                method="DELETE",
                path=SUBSCRIPTIONS,
                handler=self._unsubscribe,
                takes=SubscriptionChoice,
                gives=Done,
                errors=(InvalidInput, PushUnsupported),
            ),
        )

    async def _show_settings(self, request: PluginRequest) -> Mapping[str, object]:
        """What the caller has set for all conversations."""
        return {"quietHours": await self._preferences.quiet_hours_of(request.user_id)}

    async def _set_settings(self, request: PluginRequest) -> Mapping[str, object]:
        """Set the caller's quiet hours; null or none clears them. Messages of quiet hours are told
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
        """What the caller is told of in a conversation. In public channels the default is mentions,
        elsewhere all.

        Raises ConversationNotFound and ForbiddenRead.
        """
        conversation_id = request.path["conversation_id"]
        conversation = await self.api.load_readable(request.user_id, conversation_id)
        level = await self._preferences.level_in(request.user_id, conversation_id)
        return {"level": level or default_level(conversation), "isDefault": level is None}

    async def _set_level(self, request: PluginRequest) -> Mapping[str, object]:
        """Set what the caller is told of in a conversation; null or none is the default again.

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
        goes if there are too many.

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
