"""Web Push: notifications to browsers, also while no page is open."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.errors import InvalidInput, SetupError
from chat_aio.plugins.deliveries.rows import Row, has_types
from chat_aio.plugins.deliveries.tries import DeliveryFailed
from chat_aio.plugins.notifications.channels import Channel, Notification
from chat_aio.plugins.notifications.endpoints import PUSH_HOSTS, PublicResolver, host_of
from chat_aio.plugins.own_collection import OwnCollection
from chat_aio.schema.notifications import PushSubscription
from chat_aio.schema.wire import json_from

GONE = (404, 410)
MOST_FAILURES = 30
"""A subscription that has failed so often in a row is removed."""

TOKEN_SECONDS = 3_600
HOLDS_SECONDS = 12 * 3_600
"""How long a token for a push service is used, and how long it would be valid."""

_TYPES = {
    **dict.fromkeys(("_id", "userId", "endpoint", "p256dh", "auth"), str),
    "createdAt": datetime,
    "failures": int,
}


def public_connector() -> TCPConnector:
    """Connections to public addresses."""
    return TCPConnector(resolver=PublicResolver(), limit=0)


class Push(Channel):
    """Sends notifications to the subscriptions of a user, encrypted and signed with the VAPID key
    (the private key as base64url or DER; `subject` is such as `mailto:ops@example.org`).

    A user has at most `max_subscriptions_per_user` subscriptions; a newer one replaces the oldest.
    One that the push service no longer knows is removed. Raises SetupError without the package
    pywebpush.
    """

    name = "push"
    _rows = OwnCollection("push_subscriptions")

    def __init__(
        self,
        private_key: str,
        subject: str,
        *,
        hosts: Sequence[str] = PUSH_HOSTS,
        max_subscriptions_per_user: int = 10,
        seconds: float = 5.0,
        ttl_seconds: int = 86_400,
        connector: Callable[[], TCPConnector] = public_connector,
    ) -> None:
        try:
            from py_vapid import Vapid02
            from pywebpush import WebPusher
        except ImportError:
            raise SetupError(
                "Web Push needs the extra notifications (docs/start/installation.md)"
            ) from None
        self._vapid: Any = Vapid02.from_string(private_key)
        self._pusher = WebPusher
        self._subject = subject
        self._hosts = tuple(hosts)
        self._max_subscriptions_per_user = max_subscriptions_per_user
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
        self._api = api
        self._session = ClientSession(
            connector=self._connector(), timeout=self._timeout, cookie_jar=DummyCookieJar()
        )

    async def close(self) -> None:
        await self._session.close()

    async def subscribe(
        self, user_id: str, endpoint: str, keys: Mapping[str, str]
    ) -> PushSubscription:
        """Store a subscription; one of another user in the same browser becomes this user's. Raises
        InvalidInput for an endpoint that is not allowed."""
        self._host_of(endpoint)
        here = {"_id": sha256(endpoint.encode()).hexdigest()[:32]}
        fields = {
            "userId": user_id,
            "endpoint": endpoint,
            **keys,
            "createdAt": self._api.now(),
            "failures": 0,
        }
        await self._api.write(lambda: self._rows.update_one(here, {"$set": fields}, upsert=True))
        # The oldest go: a browser that is used renews its subscription.
        surplus = (await self._list(user_id))[: -self._max_subscriptions_per_user]
        ids = [row["_id"] for row in surplus]
        await self._api.write(lambda: self._rows.delete_many({"_id": {"$in": ids}}))
        return _shown({**here, **fields})

    async def list_subscriptions(self, user_id: str) -> list[PushSubscription]:
        return [*map(_shown, await self._list(user_id))]

    async def unsubscribe(self, user_id: str, subscription_id: str) -> None:
        """Remove a subscription of a user, if there is one."""
        here = {"_id": subscription_id, "userId": user_id}
        await self._api.write(lambda: self._rows.delete_one(here))

    async def send(self, notification: Notification, done: set[str]) -> None:
        rows = await self._list(notification.user_id)
        left = [row for row in rows if _mark(row) not in done]
        if not left:
            return
        data = json_from(notification.brief())
        outcomes = await asyncio.gather(
            *(self._send_one(row, data) for row in left), return_exceptions=True
        )
        failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        done |= {
            # By subscription: after one dead browser the others must not ring twice.
            _mark(row)
            for row, outcome in zip(left, outcomes, strict=True)
            if outcome not in failed
        }
        if failed:
            raise failed[0]

    async def _list(self, user_id: str) -> list[Row]:
        found: list[Row] = await self._api.read(
            lambda: self._rows.find({"userId": user_id}).sort("createdAt", 1).to_list(None)
        )
        return [row for row in found if has_types(row, _TYPES)]

    async def _send_one(self, row: Row, data: bytes) -> None:
        """Send to one subscription, or remove it if it is gone. Raises DeliveryFailed."""
        try:
            host = self._host_of(row["endpoint"])
            keys = {name: row[name] for name in ("p256dh", "auth")}
            pusher = self._pusher({"endpoint": row["endpoint"], "keys": keys})
            body: bytes = (await asyncio.to_thread(pusher.encode, data))["body"]
        except (InvalidInput, ValueError):
            await self._remove(row)  # Of hosts that are no longer allowed, or with impossible keys.
            return
        status = await self._post(row["endpoint"], body)
        if status in GONE:
            await self._remove(row)
        elif not 200 <= status < 300:
            if row["failures"] + 1 >= MOST_FAILURES:
                await self._remove(row)
            else:
                more = {"$inc": {"failures": 1}}
                await self._api.write(lambda: self._rows.update_one({"_id": row["_id"]}, more))
            said = f"answered {status}" if status else "did not answer"
            raise DeliveryFailed(f"{host} {said}")
        elif row["failures"]:
            here = {"_id": row["_id"]}
            await self._api.write(lambda: self._rows.update_one(here, {"$set": {"failures": 0}}))

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
            raise InvalidInput(f"endpoint {error}") from None

    async def _remove(self, row: Row) -> None:
        # Not one that was renewed in the meantime.
        here = {"_id": row["_id"], "createdAt": row["createdAt"]}
        await self._api.write(lambda: self._rows.delete_one(here))


def _mark(row: Row) -> str:
    return f"push:{row['_id']}"


def _shown(row: Row) -> PushSubscription:
    host = urlsplit(row["endpoint"]).hostname or ""
    return PushSubscription(id=row["_id"], host=host, created_at=row["createdAt"])
