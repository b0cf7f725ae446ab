"""Notifies plugins of streams and of delivered messages."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from chat_aio.observability.dispatch import notify, notify_and_wait
from chat_aio.plugins.base import DeliveredMessage, Plugin

OPENING_SECONDS = 1.0
"""How long a stream waits for plugins before its response headers are sent."""


class PluginNotifier:
    """Notifies plugins when a stream opens or closes and when a message is delivered to one."""

    def __init__(self, plugins: Iterable[Plugin]) -> None:
        self._plugins = tuple(plugins)
        # Plugins that do not override these are left out: each delivery would call a no-op.
        self._opening_plugins = [each for each in self._plugins if each.overrides("stream_opening")]
        self._delivery_plugins = [
            each for each in self._plugins if each.overrides("message_delivered")
        ]

    @asynccontextmanager
    async def around(self, user_id: str) -> AsyncIterator[None]:
        """Wrap the life of a stream. It begins after `stream_opening` has run, which does what must
        be done before the client has an answer."""
        notify(self._plugins, Plugin.stream_opened, user_id)
        try:
            # Inside `try`: the client may leave meanwhile, and each `stream_opened` needs its end.
            await notify_and_wait(
                self._opening_plugins, Plugin.stream_opening, OPENING_SECONDS, user_id
            )
            yield
        finally:
            notify(self._plugins, Plugin.stream_closed, user_id)

    @property
    def message_delivered(self) -> Callable[[str, DeliveredMessage], None] | None:
        """The callback for each delivered message; None if no plugin overrides it."""
        return self._message_delivered if self._delivery_plugins else None

    def _message_delivered(self, user_id: str, message: DeliveredMessage) -> None:
        if message.sender_id != user_id:
            notify(self._delivery_plugins, Plugin.message_delivered, user_id, message)
