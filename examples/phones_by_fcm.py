"""Notifications on phones, by Firebase Cloud Messaging (FCM), which reaches Android and iOS.

    pip install ../chat_aio PyJWT cryptography  # docs/start/installation.md
    FCM_ACCOUNT=service-account.json python examples/phones_by_fcm.py

It was tested against a local server, and never against the real service: try it with your own
project before you rely on it. The app registers its token after a login, and whenever Firebase
issues a new one:

    curl -H "X-User: ada" http://127.0.0.1:8000/api/chat/notifications/devices \\
      --json '{"kind": "fcm", "token": "THE TOKEN"}'

At a logout it removes the device, and deletes its token, so that nothing on its way is shown to the
next user. The header takes the place of your login.
"""

import asyncio
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
from aiohttp import ClientSession, ClientTimeout, web
from pymongo import AsyncMongoClient

from chat_aio import Chat, Options
from chat_aio.plugins import Notifications, PluginAPI
from chat_aio.plugins.notifications import Device, DeviceChannel, DeviceGone, Notification

FCM = "https://fcm.googleapis.com"
SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EARLY_SECONDS = 60.0
"""An access token is replaced this long before it expires."""


class Fcm(DeviceChannel):
    """Sends as the service account of a Firebase project: the contents of its JSON file."""

    kind = "fcm"

    def __init__(self, account: Mapping[str, str], *, url: str = FCM) -> None:
        self._account = account
        self._url = f"{url}/v1/projects/{account['project_id']}/messages:send"
        self._token = ""
        self._until = 0.0
        self._renewing = asyncio.Lock()

    async def open(self, api: PluginAPI) -> None:
        await super().open(api)
        self._session = ClientSession(timeout=ClientTimeout(total=10))

    async def close(self) -> None:
        await self._session.close()

    async def send_to(self, device: Device, notification: Notification) -> None:
        headers = {"Authorization": f"Bearer {await self._access_token()}"}
        body = {"message": message_to(device.token, notification)}
        async with self._session.post(self._url, json=body, headers=headers) as answer:
            if answer.status == 404 and "UNREGISTERED" in await answer.text():
                raise DeviceGone
            answer.raise_for_status()

    async def _access_token(self) -> str:
        """Google's token for the service account, which is valid for an hour."""
        async with self._renewing:
            if time.time() > self._until - EARLY_SECONDS:
                form = {"grant_type": GRANT, "assertion": self._assertion()}
                async with self._session.post(self._account["token_uri"], data=form) as answer:
                    answer.raise_for_status()
                    found = await answer.json()
                self._token = found["access_token"]
                self._until = time.time() + found["expires_in"]
            return self._token

    def _assertion(self) -> str:
        now = int(time.time())
        claims = {
            "iss": self._account["client_email"],
            "scope": SCOPE,
            "aud": self._account["token_uri"],
            "iat": now,
            "exp": now + 3_600,
        }
        key, key_id = self._account["private_key"], self._account["private_key_id"]
        return jwt.encode(claims, key, algorithm="RS256", headers={"kid": key_id})


def message_to(token: str, notification: Notification) -> dict[str, Any]:
    """A message of FCM. Phones show one notification for each conversation; `data` is for the app,
    which opens the conversation."""
    brief = notification.brief()
    here = notification.conversation.id
    sender = notification.sender.name if notification.sender else notification.message.sender_id
    aps: dict[str, Any] = {"thread-id": here, "sound": "default"}
    android: dict[str, Any] = {"tag": here}
    if "badge" in brief:
        aps["badge"] = android["notification_count"] = brief["badge"]
    return {
        "token": token,
        "notification": {
            "title": notification.conversation.name or sender,
            "body": notification.excerpt,
        },
        "data": {"conversationId": here, "messageId": notification.message.id},
        "android": {"priority": "HIGH", "notification": android},
        "apns": {"headers": {"apns-collapse-id": here}, "payload": {"aps": aps}},
    }


async def auth(request: web.Request) -> dict[str, str] | None:
    user_id = request.headers.get("X-User")
    return {"id": user_id} if user_id else None


async def make_app() -> web.Application:
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
        os.environ.get("MONGO_URL", "mongodb://127.0.0.1:27017")
    )
    account = json.loads(await asyncio.to_thread(Path(os.environ["FCM_ACCOUNT"]).read_text))
    notifications = Notifications(channels=[Fcm(account)])
    chat = Chat(
        client.get_default_database("chat"),
        auth=auth,
        options=Options(inbox=True),  # for the number at the app's icon
        plugins=[notifications],
    )
    app = web.Application()
    chat.mount(app)

    async def close(_: web.Application) -> None:
        await client.close()

    app.on_cleanup.append(close)
    return app


if __name__ == "__main__":
    web.run_app(make_app(), host="127.0.0.1", port=8000, auto_decompress=False)
