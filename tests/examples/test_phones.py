"""The example for phones, against a stand-in for Google's services."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jwt
import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from chat_aio.client import ChatClient
from tests.conftest import Database
from tests.examples.conftest import loaded
from tests.plugins.notifications.telling import all_told, quick, ready
from tests.support.tokens import private_key, private_pem

CHAT = "/api/chat"
KEY = private_key("RS256")


@dataclass
class Google:
    """Token and message endpoints; `gone` are the tokens of deleted apps."""

    origin: str = ""
    tokens: int = 0
    sent: list[dict[str, Any]] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    failing: list[int] = field(default_factory=list)

    @property
    def account(self) -> dict[str, str]:
        return {
            "project_id": "my-project",
            "client_email": "chat@my-project.iam.gserviceaccount.com",
            "private_key": private_pem(KEY),
            "private_key_id": "key-1",
            "token_uri": f"{self.origin}/token",
        }

    async def give_token(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
        claims = jwt.decode(
            str(form["assertion"]),
            KEY.public_key(),
            algorithms=["RS256"],
            audience=f"{self.origin}/token",
        )
        assert claims["iss"] == self.account["client_email"]
        assert claims["scope"] == "https://www.googleapis.com/auth/firebase.messaging"
        self.tokens += 1
        return web.json_response({"access_token": "an-access-token", "expires_in": 3_599})

    async def take(self, request: web.Request) -> web.Response:
        assert request.path == "/v1/projects/my-project/messages:send"
        assert request.headers["Authorization"] == "Bearer an-access-token"
        message = (await request.json())["message"]
        if self.failing:
            return web.json_response({"error": {}}, status=self.failing.pop())
        if message["token"] in self.gone:
            fcm = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
            details = [{"@type": fcm, "errorCode": "UNREGISTERED"}]
            error = {"code": 404, "status": "NOT_FOUND", "details": details}
            return web.json_response({"error": error}, status=404)
        self.sent.append(message)
        return web.json_response({"name": "projects/my-project/messages/1"})


@pytest.fixture
async def google() -> AsyncIterator[Google]:
    google = Google()
    app = web.Application()
    app.router.add_post("/token", google.give_token)
    app.router.add_post("/v1/{rest:.*}", google.take)
    async with TestServer(app) as server:
        google.origin = str(server.make_url("")).rstrip("/")
        yield google


async def test_phones_by_fcm(
    environment: Any,
    aiohttp_server: Any,
    database: Database,
    google: Google,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of two phones is gone, and the other one's first request fails."""
    example = loaded("phones_by_fcm")
    account = tmp_path / "account.json"
    account.write_text(json.dumps(google.account))
    monkeypatch.setenv("FCM_ACCOUNT", str(account))
    channel = example.Fcm
    monkeypatch.setattr(example, "Fcm", lambda given: channel(given, url=google.origin))
    monkeypatch.setattr(example, "Notifications", lambda **given: quick(**given))
    google.gone, google.failing = {"old-phone"}, [503]
    server = await aiohttp_server(await example.make_app())
    await ready(database)
    origin = str(server.make_url("")).rstrip("/")
    async with ClientSession(origin, headers={"X-User": "bob"}) as bob:
        for token in ("old-phone", "new-phone"):
            given = {"kind": "fcm", "token": token}
            async with bob.post(f"{CHAT}/notifications/devices", json=given) as answer:
                assert answer.status == 200
    async with ChatClient(origin + CHAT, headers={"X-User": "ada"}) as ada:
        group = await ada.create_group_conversation(user_ids=["bob"], name="Crew")
        sent = await ada.send_message(group.id, "hello")
        await all_told(database, 1)
    assert google.sent == [
        {
            "token": "new-phone",
            "notification": {"title": "Crew", "body": "hello"},
            "data": {"conversationId": group.id, "messageId": sent.id},
            "android": {
                "priority": "HIGH",
                "notification": {"tag": group.id, "notification_count": 1},
            },
            "apns": {
                "headers": {"apns-collapse-id": group.id},
                "payload": {"aps": {"thread-id": group.id, "sound": "default", "badge": 1}},
            },
        }
    ]
    left = await database["notification_devices"].find().to_list(None)
    assert [row["token"] for row in left] == ["new-phone"]
    assert google.tokens == 1
