"""Notifications: users are told of messages that they have not seen (docs/notifications.md)."""

from chat_aio.plugins.notifications.channels import Channel, Deliver, Notification
from chat_aio.plugins.notifications.plugin import Notifications
from chat_aio.plugins.notifications.push import Push
from chat_aio.plugins.notifications.webhook import Webhook

__all__ = ["Channel", "Deliver", "Notification", "Notifications", "Push", "Webhook"]
