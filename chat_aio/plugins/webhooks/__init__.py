"""Webhooks: events are posted to an endpoint of the host (docs/guides/webhooks.md)."""

from chat_aio.plugins.webhooks.plugin import Webhooks

__all__ = ["Webhooks"]
