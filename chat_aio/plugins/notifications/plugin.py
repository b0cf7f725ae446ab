"""The plugin: its settings, its parts, and the routes of users' own settings."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Literal

from chat_aio.errors import ConversationNotFound, ForbiddenRead, InvalidInput, PushUnsupported
from chat_aio.plugin_types.base import DeliveredMessage, Plugin, PluginRequest, PluginRoute
from chat_aio.plugins.deliveries.lease import PositionLease
from chat_aio.plugins.deliveries.tries import Tries
from chat_aio.plugins.notifications.channels import Channel, Deliver, Function
from chat_aio.plugins.notifications.deciding import Decider
from chat_aio.plugins.notifications.delivering import Delivery
from chat_aio.plugins.notifications.devices import DeviceChannel, Devices
from chat_aio.plugins.notifications.holding import Holding
from chat_aio.plugins.notifications.preferences import Preferences, default_level
from chat_aio.plugins.notifications.push import Push
from chat_aio.plugins.notifications.quiet_hours import checked
from chat_aio.plugins.notifications.rows import Rows
from chat_aio.plugins.notifications.shown import Shown
from chat_aio.plugins.notifications.working import NAME, NotificationWorker
from chat_aio.schema.models import OkResponse
from chat_aio.schema.notifications import (
    ConversationNotifications,
    DeviceChoice,
    DeviceRegistered,
    NewDevice,
    NewNotificationLevel,
    NewNotificationSettings,
    NotificationSettings,
    RegisteredDevices,
)

SHOWN_SECONDS = 1.0
SETTINGS = "/notifications/settings"
DEVICES = "/notifications/devices"
IN_CONVERSATION = "/conversations/{conversation_id}/notifications"
UNREADABLE = (ConversationNotFound, ForbiddenRead)


class Notifications(Plugin):
    """Notifies users of messages that they have not seen `delay_seconds` after they were sent
    (docs/guides/notifications.md): by `deliver`, your async function, and by `channels`, such as
    `Webhook(...)`, `Push(...)` and your own `DeviceChannel`, which reaches phones.

    One process at a time does it. If it dies, another one goes on within `lease_seconds` and a
    third of them. A notification that fails is tried again, `max_attempts` times, at first after
    `retry_backoff_seconds` and then after twice as long each time. Notifications go to
    `concurrency` users at once, and to a quarter as many whose last one has failed.

    With `suppress_when="read"`, users are notified although a stream of theirs has shown the
    message, unless they have read it: for apps that hold a stream open on every page. With
    `once_until_read`, a user gets one notification for a conversation, with the number of messages,
    and the next one only after they have read that message.

    A user has at most `max_devices_per_user` devices; a newer one replaces the oldest.
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
        max_devices_per_user: int = 10,
    ) -> None:
        positive = (
            delivery_timeout_seconds,
            delay_seconds,
            lease_seconds,
            max_attempts,
            retry_backoff_seconds,
        )
        if min(*positive, concurrency, max_devices_per_user) <= 0:
            raise ValueError("Notifications: times and numbers must be positive")
        if suppress_when not in ("delivered", "read"):
            raise ValueError('Notifications(suppress_when=...): "delivered" or "read"')
        own = [] if deliver is None else [Function(deliver, seconds=delivery_timeout_seconds)]
        self._channels = (*own, *channels)
        to_devices = [channel for channel in channels if isinstance(channel, DeviceChannel)]
        self._by_kind = {channel.kind: channel for channel in to_devices}
        if len(self._by_kind) < len(to_devices):
            raise ValueError("Notifications(channels=...): a kind of devices has one channel")
        self._max_devices = max_devices_per_user
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
            rows = Rows(self.api)
            self._holding = Holding(self.api, self._preferences, rows)
            if self._suppress_when == "delivered":
                # Well within the delay: delivered ranges must be written before they are read.
                self._shown = Shown(self.api, seconds=min(SHOWN_SECONDS, self._delay / 8))
                opened.push_async_callback(self._shown.close)
            if self._channels:
                lease = PositionLease.of(self.api, NAME, seconds=self._lease_seconds)
                decider = Decider(self.api, self._preferences, self._shown)
                make_delivery = partial(
                    Delivery,
                    self.api,
                    lease,
                    rows,
                    decider,
                    self._holding,
                    self._channels,
                    concurrency=self._concurrency,
                    tries=self._tries,
                    once_until_read=self._once_until_read,
                )
                worker = NotificationWorker(
                    self.api,
                    lease,
                    rows,
                    decider,
                    self._holding,
                    make_delivery,
                    delay_seconds=self._delay,
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
                path=DEVICES,
                handler=self._list_devices,
                response_model=RegisteredDevices,
                errors=(PushUnsupported,),
            ),
            PluginRoute(
                method="POST",
                path=DEVICES,
                handler=self._register_device,
                request_model=NewDevice,
                response_model=DeviceRegistered,
                errors=(InvalidInput, PushUnsupported),
            ),
            PluginRoute(
                method="DELETE",
                path=DEVICES,
                handler=self._remove_device,
                request_model=DeviceChoice,
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
        await self._holding.change_hours(request.user_id, hours)
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

    async def _list_devices(self, request: PluginRequest) -> Mapping[str, object]:
        """The caller's devices, the oldest first, the kinds that may be registered, and the key
        with which browsers subscribe.

        Raises PushUnsupported.
        """
        self._require_devices()
        push = self._by_kind.get(Push.kind)
        return {
            "devices": await Devices(self.api).list_registered(request.user_id),
            "kinds": sorted(self._by_kind),
            "publicKey": push.public_key if isinstance(push, Push) else None,
        }

    async def _register_device(self, request: PluginRequest) -> Mapping[str, object]:
        """Register a device of the caller, also one of another user before. The oldest one is
        removed if there are too many.

        Raises InvalidInput and PushUnsupported.
        """
        given = request.read(NewDevice)
        self._require_devices()
        channel = self._by_kind.get(given.kind)
        if channel is None:
            raise InvalidInput(f"kind must be one of {', '.join(sorted(self._by_kind))}")
        keys = given.keys or {}
        try:
            channel.check(given.token, keys)
        except ValueError as error:
            raise InvalidInput(str(error)) from None
        made = await Devices(self.api).register(
            request.user_id, given.kind, given.token, keys, most=self._max_devices
        )
        return {"device": made}

    async def _remove_device(self, request: PluginRequest) -> Mapping[str, object]:
        """Remove a device of the caller. Repeating it is allowed.

        Raises InvalidInput and PushUnsupported.
        """
        given = request.read(DeviceChoice)
        self._require_devices()
        await Devices(self.api).remove(request.user_id, given.device_id)
        return {"ok": True}

    def _require_devices(self) -> None:
        if not self._by_kind:
            raise PushUnsupported
