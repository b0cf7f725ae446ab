"""What plugins hear of streams."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from chat_aio.observability.dispatch import notify, notify_and_wait
from chat_aio.plugins.base import DeliveredMessage, Plugin

OPENING_SECONDS = 1.0
"""So long a stream waits for plugins before its client has an answer."""


class PluginNotifier:
    """Tells plugins of streams that come and go, and of messages that streams were told."""

    def __init__(self, plugins: Iterable[Plugin]) -> None:
        self._plugins = tuple(plugins)
        self._openers = [each for each in self._plugins if each.overrides("stream_opening")]
        self._tellers = [each for each in self._plugins if each.overrides("message_delivered")]

    @asynccontextmanager
    async def around(self, user_id: str) -> AsyncIterator[None]:
        """Around the life of a stream, which begins once plugins have done what must be true when
        its client has an answer."""
        notify(self._plugins, Plugin.stream_opened, user_id)
        try:
            await notify_and_wait(self._openers, Plugin.stream_opening, OPENING_SECONDS, user_id)
            yield
        finally:
            notify(self._plugins, Plugin.stream_closed, user_id)

    @property
    def message_delivered(self) -> Callable[[str, DeliveredMessage], None] | None:
        """What is called with each message that a stream is told, if anybody hears of it."""
        return self._message_delivered if self._tellers else None

    def _message_delivered(self, user_id: str, message: DeliveredMessage) -> None:
        if message.sender_id != user_id:
            notify(self._tellers, Plugin.message_delivered, user_id, message)
