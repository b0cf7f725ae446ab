"""chat_aio: chat for aiohttp apps on MongoDB."""

from chat_aio.actions.admin_api import AdminUnavailable
from chat_aio.actions.leases import HeldLease
from chat_aio.chat import Chat
from chat_aio.errors import ChatError, HostUnavailable, MessageRejected, SetupError
from chat_aio.hooks import EXEMPT, Changed, Hooks, Profile
from chat_aio.options import Options, Quotas
from chat_aio.store.leases import LeaseLost
from chat_aio.web.browser_files import add_browser_files

__all__ = [
    "EXEMPT",
    "AdminUnavailable",
    "Changed",
    "Chat",
    "ChatError",
    "HeldLease",
    "Hooks",
    "HostUnavailable",
    "LeaseLost",
    "MessageRejected",
    "Options",
    "Profile",
    "Quotas",
    "SetupError",
    "add_browser_files",
]
