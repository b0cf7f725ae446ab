"""chat_aio: chat for aiohttp apps on MongoDB."""

from chat_aio.actions.admin_api import AdminUnavailable
from chat_aio.actions.leases import HeldLease
from chat_aio.capabilities import Capability
from chat_aio.chat import Chat
from chat_aio.errors import ChatError, HostUnavailable, MessageRejected, SetupError
from chat_aio.hooks import EXEMPT, Changed, Hooks, Profile
from chat_aio.options import Options, Quotas
from chat_aio.store.leases import LeaseLost
from chat_aio.web.access_log import RouteAccessLogger
from chat_aio.web.browser_files import BROWSER as BROWSER_FILES
from chat_aio.web.browser_files import add_browser_files
from chat_aio.web.health import add_health
from chat_aio.web.openapi.routes import add_openapi

__all__ = [
    "BROWSER_FILES",
    "EXEMPT",
    "AdminUnavailable",
    "Capability",
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
    "RouteAccessLogger",
    "SetupError",
    "add_browser_files",
    "add_health",
    "add_openapi",
]
