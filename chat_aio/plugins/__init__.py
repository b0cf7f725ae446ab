"""Plugins: `Chat(..., plugins=[Typing(), Presence(), Receipts()])`, or a host's own."""

from chat_aio.actions.plugin_api import Attachment, BeforeMessageSend, PluginAPI
from chat_aio.plugin_types.base import DeliveredMessage, Plugin, PluginRequest, PluginRoute
from chat_aio.plugin_types.files import File, Redirect, Upload, disposition
from chat_aio.plugin_types.verdicts import Hold, Refuse, Report, Verdict
from chat_aio.plugins.attachments import Attachments
from chat_aio.plugins.drafts import Drafts
from chat_aio.plugins.filter import Filter
from chat_aio.plugins.notifications import Notification, Notifications, Push, Webhook
from chat_aio.plugins.presence import Presence
from chat_aio.plugins.receipts import Receipts
from chat_aio.plugins.rules import Attached, Checked, Links, Repeats, Rule, Words
from chat_aio.plugins.typing_indicator import Typing

__all__ = [
    "Attached",
    "Attachment",
    "Attachments",
    "BeforeMessageSend",
    "Checked",
    "DeliveredMessage",
    "Drafts",
    "File",
    "Filter",
    "Hold",
    "Links",
    "Notification",
    "Notifications",
    "Plugin",
    "PluginAPI",
    "PluginRequest",
    "PluginRoute",
    "Presence",
    "Push",
    "Receipts",
    "Redirect",
    "Refuse",
    "Repeats",
    "Report",
    "Rule",
    "Typing",
    "Upload",
    "Verdict",
    "Webhook",
    "Words",
    "disposition",
]
