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
from chat_aio.plugins.rules import (
    AttachmentRule,
    BlockedWords,
    Checked,
    LinkRule,
    RepeatLimit,
    Rule,
)
from chat_aio.plugins.typing_indicator import Typing
from chat_aio.plugins.webhooks import Webhooks
from chat_aio.schema.inputs import Input

__all__ = [
    "Attachment",
    "AttachmentRule",
    "Attachments",
    "BeforeMessageSend",
    "BlockedWords",
    "Checked",
    "DeliveredMessage",
    "Drafts",
    "File",
    "Filter",
    "Hold",
    "Input",
    "LinkRule",
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
    "RepeatLimit",
    "Report",
    "Rule",
    "Typing",
    "Upload",
    "Verdict",
    "Webhook",
    "Webhooks",
    "disposition",
]
