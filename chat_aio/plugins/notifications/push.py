"""Web Push: notifications to browsers, also while no page is open."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.errors import SetupError
from chat_aio.plugins.deliveries.tries import DeliveryFailed
from chat_aio.plugins.notifications.channels import Notification
from chat_aio.plugins.notifications.devices import Device, DeviceChannel, DeviceGone
from chat_aio.plugins.notifications.endpoints import PUSH_HOSTS, PublicResolver, host_of
from chat_aio.schema.wire import json_from

GONE = (404, 410)

TOKEN_SECONDS = 3_600
HOLDS_SECONDS = 12 * 3_600
"""How long a token for a push service is used, and how long it would be valid."""


def public_connector() -> TCPConnector:
    """Connections to public addresses."""
    return TCPConnector(resolver=PublicResolver(), limit=0)


class Push(DeviceChannel):
    """Sends notifications to the browsers of a user, encrypted and signed with the VAPID key (the
    private key as base64url or DER; `subject` is such as `mailto:ops@example.org`). The token of a
    browser is the endpoint of its subscription.

    Raises SetupError without the package pywebpush.
    """

    kind = "web"

    def __init__(
        self,
        private_key: str,
        subject: str,
        *,
        hosts: Sequence[str] = PUSH_HOSTS,
        seconds: float = 5.0,
        ttl_seconds: int = 86_400,
        connector: Callable[[], TCPConnector] = public_connector,
    ) -> None:
        try:
            from py_vapid import Vapid02
            from pywebpush import WebPusher, WebPushException
        except ImportError:
            raise SetupError(
                "Web Push needs the extra notifications (docs/start/installation.md)"
            ) from None
        self._vapid: Any = Vapid02.from_string(private_key)
        self._pusher = WebPusher
        self._impossible = (ValueError, TypeError, WebPushException)
        self._subject = subject
        self._hosts = tuple(hosts)
        self._timeout = ClientTimeout(total=seconds)
        self._ttl = str(ttl_seconds)
        self._connector = connector
        self._tokens: dict[str, tuple[float, str]] = {}

    @property
    def public_key(self) -> str:
        """What browsers subscribe with: `applicationServerKey`."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
        from py_vapid.utils import b64urlencode

        point = self._vapid.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return str(b64urlencode(point))

    async def open(self, api: PluginAPI) -> None:
        await super().open(api)
        self._session = ClientSession(
            connector=self._connector(), timeout=self._timeout, cookie_jar=DummyCookieJar()
        )

    async def close(self) -> None:
        await self._session.close()

    def check(self, token: str, keys: Mapping[str, str]) -> None:
        if not keys:
            raise ValueError("keys of the subscription are missing")
        self._host_of(token)

    async def send_to(self, device: Device, notification: Notification) -> None:
        data = json_from(notification.brief())
        try:
            host = self._host_of(device.token)
            pusher = self._pusher({"endpoint": device.token, "keys": device.keys})
            body: bytes = (await asyncio.to_thread(pusher.encode, data))["body"]
        except self._impossible:
            # Of hosts that are no longer allowed, or with impossible keys.
            raise DeviceGone from None
        status = await self._post(device.token, body)
        if status in GONE:
            raise DeviceGone
        if not 200 <= status < 300:
            said = f"answered {status}" if status else "did not answer"
            raise DeliveryFailed(f"{host} {said}")

    async def _post(self, endpoint: str, body: bytes) -> int:
        """The status of the answer, 0 for none in time."""
        headers = {
            "Authorization": self._token(endpoint),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": self._ttl,
        }
        try:
            async with self._session.post(
                # No redirects: they could lead into the network of the host.
                endpoint,
                data=body,
                headers=headers,
                allow_redirects=False,
            ) as response:
                return response.status
        except (ClientError, OSError, TimeoutError):
            return 0

    def _token(self, endpoint: str) -> str:
        """The Authorization for a push service; made once an hour."""
        parts = urlsplit(endpoint)
        audience, now = f"{parts.scheme}://{parts.netloc}", time.time()
        made, token = self._tokens.get(audience, (0.0, ""))
        if now - made > TOKEN_SECONDS:
            claims = {"aud": audience, "sub": self._subject, "exp": int(now) + HOLDS_SECONDS}
            token = str(self._vapid.sign(claims)["Authorization"])
            self._tokens[audience] = (now, token)
        return token

    def _host_of(self, endpoint: str) -> str:
        try:
            return host_of(endpoint, self._hosts)
        except ValueError as error:
            raise ValueError(f"token {error}") from None
