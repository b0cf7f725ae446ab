"""chat_aio: chat for aiohttp apps on MongoDB."""

from chat_aio.chat import Chat
from chat_aio.errors import ChatError, MessageRejected, SetupError
from chat_aio.hooks import Changed, Hooks, Profile
from chat_aio.options import Options, Quotas

__all__ = [
    "Changed",
    "Chat",
    "ChatError",
    "Hooks",
    "MessageRejected",
    "Options",
    "Profile",
    "Quotas",
    "SetupError",
]
