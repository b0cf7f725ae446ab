"""Notifications: users are notified of unseen messages (docs/guides/notifications.md)."""

from chat_aio.plugins.notifications.channels import Channel, Deliver, Notification
from chat_aio.plugins.notifications.devices import Device, DeviceChannel, DeviceGone
from chat_aio.plugins.notifications.plugin import Notifications
from chat_aio.plugins.notifications.push import Push
from chat_aio.plugins.notifications.webhook import Webhook

__all__ = [
    "Channel",
    "Deliver",
    "Device",
    "DeviceChannel",
    "DeviceGone",
    "Notification",
    "Notifications",
    "Push",
    "Webhook",
]
