"""Notifies plugins of streams and of delivered messages."""

from collections.abc import Iterable

from chat_aio.observability.dispatch import notify, notify_and_wait
from chat_aio.plugin_types.base import DeliveredMessage, Plugin

OPENING_SECONDS = 1.0
"""How long a stream waits for plugins before its response headers are sent."""


class PluginNotifier:
    """Notifies plugins when a stream opens or closes and when a message is delivered to one."""

    def __init__(self, plugins: Iterable[Plugin]) -> None:
        self._plugins = tuple(plugins)
        # Plugins that do not override these are left out: each delivery would call a no-op.
        self._opening_plugins = [
            plugin for plugin in self._plugins if plugin.overrides("stream_opening")
        ]
        self._delivery_plugins = [
            plugin for plugin in self._plugins if plugin.overrides("message_delivered")
        ]

        self.message_delivered = self._message_delivered if self._delivery_plugins else None
        """The callback for each delivered message; None if no plugin overrides it."""

    async def opened(self, user_id: str) -> None:
        """A stream is open. Returns after `stream_opening` has run, which does what must be done
        before the client has an answer."""
        notify(self._plugins, Plugin.stream_opened, user_id)
        await notify_and_wait(
            self._opening_plugins, Plugin.stream_opening, OPENING_SECONDS, user_id
        )

    def closed(self, user_id: str) -> None:
        notify(self._plugins, Plugin.stream_closed, user_id)

    def _message_delivered(self, user_id: str, message: DeliveredMessage) -> None:
        if message.sender_id != user_id:
            notify(self._delivery_plugins, Plugin.message_delivered, user_id, message)
