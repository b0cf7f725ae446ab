"""Webhooks: notifications as signed HTTP requests, as standardwebhooks.com describes them."""

from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.errors import SetupError
from chat_aio.plugins.notifications.channels import Channel, DeliveryFailed, Notification
from chat_aio.schema.wire import json_from, timestamp


class Webhook(Channel):
    """Sends each notification to `url`, signed with `secret` (`whsec_` and base64). Anything but a
    2xx within `seconds` is a failure; redirects are not followed.

    Raises SetupError without the package standardwebhooks, and ValueError for a wrong secret.
    """

    name = "webhook"

    def __init__(self, url: str, secret: str, *, seconds: float = 10.0) -> None:
        try:
            from standardwebhooks.webhooks import Webhook as Signer
        except ImportError:
            raise SetupError(
                "webhooks need the extra notifications (docs/start/installation.md)"
            ) from None
        self._url = url
        self._signer: Any = Signer(secret)
        self._timeout = ClientTimeout(total=seconds)

    async def open(self, api: PluginAPI) -> None:
        self._api = api
        self._session = ClientSession(timeout=self._timeout)

    async def close(self) -> None:
        await self._session.close()

    async def send(self, notification: Notification, done: set[str]) -> None:
        if self.name in done:
            return
        now = self._api.now()
        body = json_from(
            {
                "type": "message.notification",
                "timestamp": timestamp(now),
                "data": {**notification.brief(), "message": notification.message},
            }
        )
        headers = {
            "Content-Type": "application/json",
            # The same at each try: receivers recognise a repetition by it.
            "webhook-id": notification.id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": self._signer.sign(notification.id, now, body.decode()),
        }
        try:
            # No redirects: the signed message would go to an address that nobody has configured.
            async with self._session.post(
                self._url, data=body, headers=headers, allow_redirects=False
            ) as response:
                status = response.status
        except (ClientError, TimeoutError) as error:
            raise DeliveryFailed(f"the webhook was not reached: {type(error).__name__}") from error
        if not 200 <= status < 300:
            raise DeliveryFailed(f"the webhook answered {status}")
        done.add(self.name)
