"""What `chat-aio serve` has beside the mount, and its log."""

import json

from aiohttp import ClientSession
from multidict import CIMultiDict

from chat_aio.web.openapi.document import describe
from tests.conftest import Database
from tests.support.processes import Service


async def test_what_stands_beside_the_mount(mongo_url: str, database: Database) -> None:
    # A request that is slow, as on a busy machine, would be named twice.
    options = ("--auth-header", "X-User", "--log-format", "json", "--slow-request-seconds", "60")
    service = Service(mongo_url, database.name, *options)
    async with service.running(), ClientSession(service.origin) as session:
        async with session.get("/openapi.json") as response:
            assert await response.json() == describe()
        async with session.get("/openapi") as response:
            assert response.content_type == "text/html"
        async with session.get("/api/chat/channels", headers={"X-User": "ada"}) as response:
            request_id = response.headers["X-Request-Id"]
        async with session.get("/metrics") as response:
            counted = 'route="/api/chat/channels",status="200"} 1.0'
            assert counted in await response.text()
    lines = [json.loads(line) for line in service.log.splitlines()]
    requests = [line for line in lines if "route" in line]
    assert {request["route"] for request in requests} == {
        "/openapi.json",
        "/openapi",
        "/api/chat/channels",
    }
    (logged,) = (request for request in requests if request["route"].endswith("/channels"))
    assert (logged["status"], logged["request_id"]) == (200, request_id)


async def test_what_a_proxy_and_its_pages_may(mongo_url: str, database: Database) -> None:
    limits = '{"list_public_conversations": "1/hour"}'
    options = (
        "--auth-header",
        "X-User",
        "--allowed-origins",
        "https://a.example, https://b.example",
    )
    service = Service(mongo_url, database.name, *options, "--rate-limits", limits)
    ada = {"X-User": "ada"}
    async with service.running(), ClientSession(service.origin) as session:
        for origin, status in (("https://b.example", 201), ("https://c.example", 403)):
            headers = {**ada, "Origin": origin}
            async with session.post("/api/chat/conversations/group", headers=headers) as response:
                assert response.status == status
        for status in (200, 429):
            async with session.get("/api/chat/channels", headers=ada) as response:
                assert response.status == status
        twice = CIMultiDict([("X-User", "ada"), ("X-User", "mallory")])
        async with session.get("/api/chat/conversations", headers=twice) as response:
            assert response.status == 401
