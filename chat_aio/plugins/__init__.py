"""Plugins: `Chat(..., plugins=[Typing(), Presence(), Receipts()])`, or a host's own."""

from chat_aio.plugins.api import PluginAPI
from chat_aio.plugins.base import DeliveredMessage, Plugin, PluginRequest, PluginRoute
from chat_aio.plugins.presence import Presence
from chat_aio.plugins.receipts import Receipts
from chat_aio.plugins.typing_indicator import Typing

__all__ = [
    "DeliveredMessage",
    "Plugin",
    "PluginAPI",
    "PluginRequest",
    "PluginRoute",
    "Presence",
    "Receipts",
    "Typing",
]
