"""A host's backend in the tests: it answers signed questions, and records them."""

import asyncio
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from standardwebhooks.webhooks import Webhook

from tests.support.people import PATIENCE

WEBHOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def signed(body: str, *, secret: str = WEBHOOK_SECRET, seconds_ago: float = 0) -> dict[str, str]:
    """The headers of a request as the chat sends it. They are of this moment: five minutes later
    none is accepted."""
    at = time.time() - seconds_ago
    return {
        "webhook-id": "x",
        "webhook-timestamp": str(int(at)),
        "webhook-signature": Webhook(secret).sign("x", datetime.fromtimestamp(at, UTC), body),
    }


def allow(_: Mapping[str, Any]) -> bool:
    return True


class Backend:
    """Answers at `/`; `reply` is the whole answer in place of the usual one."""

    def __init__(self) -> None:
        self.questions: list[dict[str, Any]] = []
        self.stolen: list[str] = []
        self.reply: Callable[[], web.StreamResponse] | None = None
        self.allows: Callable[[Mapping[str, Any]], bool] = allow
        self.names = {"ada": "Ada", "bob": "Bob"}
        self.held = asyncio.Event()
        self.held.set()
        self._came = asyncio.Condition()
        app = web.Application(client_max_size=10_000_000)
        app.router.add_post("/", self._answer)
        app.router.add_route("*", "/elsewhere", self._steal)
        self._server = TestServer(app)

    @property
    def url(self) -> str:
        return str(self._server.make_url("/"))

    async def __aenter__(self) -> "Backend":
        await self._server.start_server()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.held.set()
        await self._server.close()

    def of(self, action: str) -> list[dict[str, Any]]:
        """The single questions about permissions of this kind."""
        batches = [asked.get("questions", []) for asked in self.questions]
        return [question for batch in batches for question in batch if question["action"] == action]

    async def asked(self, found: Callable[[], bool]) -> None:
        """Wait for questions until this holds."""
        async with asyncio.timeout(PATIENCE), self._came:
            await self._came.wait_for(found)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        # Raises for a wrong signature, and for one of another time.
        Webhook(WEBHOOK_SECRET).verify(await request.read(), dict(request.headers))
        question = await request.json()
        self.questions.append(question)
        async with self._came:
            self._came.notify_all()
        async with asyncio.timeout(PATIENCE):
            await self.held.wait()
        if self.reply is not None:
            return self.reply()
        return web.json_response(self._usual(question))

    def _usual(self, question: Mapping[str, Any]) -> Any:
        if question["type"] == "profiles":
            known = {user_id: self.names.get(user_id) for user_id in question["userIds"]}
            return {
                "profiles": {user_id: name and {"name": name} for user_id, name in known.items()}
            }
        if question["type"] == "users.search":
            found = [user_id for user_id, name in self.names.items() if question["query"] in name]
            return {"userIds": found}
        if question["type"] != "permissions":
            return {}  # An event.
        return {"allowed": [self.allows(asked) for asked in question["questions"]]}

    async def _steal(self, request: web.Request) -> web.Response:
        self.stolen.append(await request.text())
        return web.json_response({"allowed": [True], "profiles": {}, "userIds": []})
