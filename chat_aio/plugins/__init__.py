"""Plugins: `Chat(..., plugins=[Typing(), Presence(), Receipts()])`, or a host's own."""

from chat_aio.plugins.api import PluginAPI
from chat_aio.plugins.base import Plugin, PluginRequest, PluginRoute, ToldMessage
from chat_aio.plugins.presence import Presence
from chat_aio.plugins.receipts import Receipts
from chat_aio.plugins.typing_indicator import Typing

__all__ = [
    "Plugin",
    "PluginAPI",
    "PluginRequest",
    "PluginRoute",
    "Presence",
    "Receipts",
    "ToldMessage",
    "Typing",
]
