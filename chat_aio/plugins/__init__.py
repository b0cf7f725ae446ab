"""Plugins: `Chat(..., plugins=[Typing(), Presence(), Receipts()])`, or a host's own."""

from chat_aio.plugin import Plugin, PluginRequest, PluginRoute, ToldMessage
from chat_aio.plugins.presence import Presence
from chat_aio.plugins.receipts import Receipts
from chat_aio.plugins.seam import Seam
from chat_aio.plugins.typing_indicator import Typing

__all__ = [
    "Plugin",
    "PluginRequest",
    "PluginRoute",
    "Presence",
    "Receipts",
    "Seam",
    "ToldMessage",
    "Typing",
]
