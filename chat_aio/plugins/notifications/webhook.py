"""Webhooks: notifications as signed HTTP requests."""

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.plugins.deliveries.signed import SignedEndpoint
from chat_aio.plugins.notifications.channels import Channel, Notification
from chat_aio.schema.wire import json_from, timestamp


class Webhook(Channel):
    """Sends each notification to `url`, signed with `secret` (`whsec_` and base64). Anything but a
    2xx within `seconds` is a failure; redirects are not followed.

    Raises SetupError without the package standardwebhooks, and ValueError for a wrong secret.
    """

    name = "webhook"

    def __init__(self, url: str, secret: str, *, seconds: float = 10.0) -> None:
        self._endpoint = SignedEndpoint(url, secret, seconds=seconds)

    async def open(self, api: PluginAPI) -> None:
        self._api = api
        await self._endpoint.open(api)

    async def close(self) -> None:
        await self._endpoint.close()

    async def send(self, notification: Notification, done: set[str]) -> None:
        if self.name in done:
            return
        body = {
            "type": "message.notification",
            "timestamp": timestamp(self._api.now()),
            "data": {**notification.brief(), "message": notification.message},
        }
        await self._endpoint.post(notification.id, json_from(body))
        done.add(self.name)
