"""chat_aio: chat for aiohttp apps on MongoDB."""

from chat_aio.chat import Chat
from chat_aio.errors import ChatError, MessageRejected, SetupError
from chat_aio.hooks import Changed, Hooks, Profile
from chat_aio.options import Options, Quotas
from chat_aio.web.browser_files import add_browser_files

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
    "add_browser_files",
]
