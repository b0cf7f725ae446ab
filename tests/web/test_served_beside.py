"""What `chat-aio serve` has beside the mount, and its log."""

import json

from aiohttp import ClientSession

from chat_aio.web.openapi.document import describe
from tests.conftest import Database
from tests.support.processes import Service


async def test_what_stands_beside_the_mount(mongo_url: str, database: Database) -> None:
    options = ("--auth-header", "X-User", "--log-format", "json")
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
    lines = [json.loads(each) for each in service.log.splitlines()]
    requests = [each for each in lines if "route" in each]
    assert {each["route"] for each in requests} == {
        "/openapi.json",
        "/openapi",
        "/api/chat/channels",
    }
    (logged,) = (each for each in requests if each["route"].endswith("/channels"))
    assert (logged["status"], logged["request_id"]) == (200, request_id)
