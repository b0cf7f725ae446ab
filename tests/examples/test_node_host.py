"""The shop in Node.js: a host without Python, with a real `chat-aio serve`."""

import asyncio
import io
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession, CookieJar
from yarl import URL

from tests.conftest import Database
from tests.support.backend import signed
from tests.support.node import needs_node, node_host
from tests.support.people import Answer, Tab
from tests.support.processes import START_SECONDS
from tests.support.tokens import bearer

pytestmark = needs_node


@pytest.fixture
async def origin(mongo_url: str, database: Database) -> AsyncIterator[str]:
    async with node_host(mongo_url, database.name) as (origin, _):
        yield origin


def visitor(origin: str) -> ClientSession:
    return ClientSession(origin, cookie_jar=CookieJar(unsafe=True))  # Of an address, not a name.


class Customer:
    """Somebody who is logged in at the shop."""

    def __init__(self, session: ClientSession, token: str) -> None:
        self.session = session
        self.token = token

    async def shop(self, method: str, path: str) -> Any:
        async with self.session.request(method, path) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    async def chat(self, method: str, path: str, body: Any = None) -> Answer:
        async with self.session.request(
            method, f"/api/chat{path}", json=body, headers=bearer(self.token)
        ) as answer:
            return Answer(answer.status, await answer.json(), answer.headers)


async def customer(session: ClientSession, name: str) -> Customer:
    login = {"user": name, "password": f"{name}-2026"}
    async with session.post("/login", json=login) as answer:
        assert answer.status == 200
    async with session.get("/token") as answer:
        return Customer(session, (await answer.json())["token"])


async def test_two_people_talk_about_an_order(origin: str) -> None:
    async with visitor(origin) as hers, visitor(origin) as his:
        ann, ben = await customer(hers, "ann"), await customer(his, "ben")
        opened = [await buyer.shop("POST", "/orders/7/chat") for buyer in (ann, ben)]
        assert opened[0] == opened[1]
        path = f"/conversations/{opened[0]['conversationId']}"
        messages = f"{path}/messages"
        async with hers.get(f"/api/chat/stream?access_token={ann.token}") as response:
            tab = Tab(response)
            sent = await ben.chat("POST", messages, {"body": "It is on its way"})
            assert sent.status == 201
            # The making of the group may be told before it.
            *_, told = await tab.until(lambda frame: frame.event == "message.created")
            assert told.data["message"]["body"] == "It is on its way"
            page = await ann.chat("GET", f"{messages}?include=users")
            assert page.json["users"]["ben"]["name"] == "Ben Okri"

            # The webhook comes by itself.
            async with asyncio.timeout(START_SECONDS):
                while (await ann.shop("GET", "/orders/7/"))["messages"] == 0:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)

            # Users create nothing, and write nothing in the conversation of a closed order.
            refused = await ann.chat("POST", "/conversations", {"otherUserId": "ben"})
            assert refused.code == "CREATE_NOT_ALLOWED"
            await ben.shop("POST", "/orders/7/close")
            closed = await tab.event("message.created")
            assert (closed["message"]["senderId"], closed["message"]["role"]) == ("shop", "system")
        for buyer in (ann, ben):
            refused = await buyer.chat("POST", messages, {"body": "Wait"})
            assert refused.code == "FORBIDDEN_WRITE"
        again = await ann.chat("GET", path)
        assert again.json["conversation"]["key"] == "order:7"


async def test_what_the_shop_refuses(origin: str) -> None:
    """A wrong password, no login, and requests that the chat has not signed."""
    body = '{"type": "permissions", "questions": []}'

    async with ClientSession(origin) as session:
        async with session.post("/login", json={"user": "ann", "password": "x"}) as answer:
            assert answer.status == 403
        # Names that every object of JavaScript has are neither users nor orders.
        for name in ("constructor", "__proto__", "toString"):
            async with session.post("/login", json={"user": name}) as answer:
                assert answer.status == 403
            async with session.post(f"/orders/{name}/chat") as answer:
                assert answer.status == 404
        async with session.get("/token") as answer:
            assert answer.status == 401
        async with session.post("/orders/7/chat") as answer:
            assert answer.status == 404
        async with session.post("/login", data=io.BytesIO(b"x" * (2**21 + 1))) as answer:
            assert answer.status == 413
        # Only the API and the browser files of the chat are passed on.
        hidden = f"{origin}/api/chat/%2e%2e/%2e%2e/metrics"
        async with session.get(URL(hidden, encoded=True)) as answer:
            assert answer.status == 404
        wrong: list[Any] = [
            {},
            {**signed(body), "webhook-signature": "v1,"},
            signed(body, seconds_ago=600),
            signed(body, seconds_ago=-600),
            signed("{}"),
            signed(body, secret="whsec_" + "A" * 32),
        ]
        for headers, status in [(signed(body), 200), *((headers, 401) for headers in wrong)]:
            async with session.post("/hooks/chat", data=body, headers=headers) as answer:
                assert answer.status == status, headers
