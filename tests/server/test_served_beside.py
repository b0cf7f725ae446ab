"""What `chat-aio serve` has beside the mount, and its log."""

import json
import signal
from pathlib import Path

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


async def test_new_workers_read_the_file_again(
    mongo_url: str, database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "chat.toml"
    file.write_text('auth_header = "X-User"\nworkers = 2\nmax_message_length = 5\n')
    service = Service(mongo_url, database.name, "--config", str(file))
    async with service.running(), ClientSession(headers={"X-User": "ada"}) as session:
        await service.has_served(2)
        async with session.post(f"{service.base}/conversations/group") as made:
            group = (await made.json())["conversation"]["id"]
        messages = f"{service.base}/conversations/{group}/messages"
        async with session.post(messages, json={"body": "longer"}) as sent:
            assert sent.status == 400
        file.write_text(file.read_text().replace("5", "6"))
        service.send(signal.SIGHUP)
        await service.has_served(4)
        async with session.post(messages, json={"body": "longer"}) as sent:
            assert sent.status == 201
