"""What every answer says to browsers and proxies, and whom the demo answers at all."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web

from chat_aio.demo.application import make_demo
from tests.conftest import Database
from tests.support.people import Person
from tests.support.processes import Service


async def test_nobody_keeps_an_answer(person: Any) -> None:
    """Right ones, refused ones and unknown ones."""
    alice: Person = person("alice")
    group = await alice.group("bob")
    for method, path, status in (
        ("GET", "/conversations", 200),
        ("HEAD", f"/conversations/{group}", 200),
        ("GET", "/conversations/nowhere", 404),
        ("POST", f"/conversations/{group}/messages", 400),
        ("GET", "/nothing/of/the/kind", 404),
        ("PUT", "/conversations", 404),
    ):
        answer = await alice.call(method, path)
        assert answer.status == status
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "Server" not in answer.headers
    async with alice.tab() as tab:
        headers = tab.response.headers
        assert headers["Cache-Control"] == "no-cache, no-transform"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Server" not in headers


async def test_what_serve_says_beside_the_chat(mongo_url: str, database: Database) -> None:
    service = Service(mongo_url, database.name, "--auth-header", "X-User")
    async with service.running(), ClientSession(service.origin) as session:
        for path in ("/openapi", "/openapi.json", "/healthz", "/readyz", "/metrics", "/nowhere"):
            async with session.get(path) as response:
                assert "Server" not in response.headers
                if path == "/openapi":
                    assert_unframed(response.headers)
        async with session.get("/api/chat/conversations") as response:
            assert (response.status, response.headers["Cache-Control"]) == (401, "no-store")


def assert_unframed(headers: Any) -> None:
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"


@pytest.fixture
async def demo(mongo_url: str, database: Database, tmp_path: Path) -> AsyncIterator[str]:
    """The demo's address."""
    app = await make_demo(
        data=tmp_path, mongo_url=mongo_url, port=0, say=lambda _: None, database=database.name
    )
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


EVIL = "https://evil.example"
API = "/api/chat/conversations?as=ada"


async def test_the_demo_is_for_its_own_pages_only(demo: str) -> None:
    port = demo.rpartition(":")[2]
    mine = {"Origin": demo, "Sec-Fetch-Site": "same-origin"}
    allowed: list[tuple[str, dict[str, str]]] = [
        ("/", {}),
        ("/", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}),
        ("/browser/chat.js", mine),
        ("/people", mine),
        (API, mine),
        (API, {}),
        (API, {"Host": f"localhost:{port}"}),
        (API, {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}),
    ]
    refused: list[tuple[str, dict[str, str]]] = [
        ("/", {"Host": "evil.example"}),
        (API, {"Host": f"evil.example:{port}"}),
        (API, {"Host": "127.0.0.1.evil.example"}),
        (API, {"Origin": EVIL}),
        (API, {"Origin": "null"}),
        (API, {"Origin": "http://127.0.0.1:1"}),
        (API, {"Sec-Fetch-Site": "cross-site"}),
        (API, {"Sec-Fetch-Site": "same-site"}),
        (API, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}),
        ("/api/chat/stream?as=ada", {"Sec-Fetch-Site": "cross-site"}),
        ("/people", {"Sec-Fetch-Site": "cross-site"}),
        ("/openapi", {"Host": "evil.example"}),
    ]
    async with ClientSession(demo) as session:
        for path, headers in allowed:
            async with session.get(path, headers=headers) as response:
                assert response.status == 200
                assert "Server" not in response.headers
                assert_unframed(response.headers)
        for path, headers in refused:
            async with session.get(path, headers=headers) as response:
                assert (response.status, headers) == (403, headers)
                assert (await response.json())["error"]["code"] == "FORBIDDEN_ORIGIN"
        body = {"otherUserId": "linus"}
        for headers in ({"Origin": EVIL}, {"Host": "evil.example"}):
            async with session.post(API, json=body, headers=headers) as response:
                assert response.status == 403
        async with session.post(API, json=body, headers=mine) as response:
            assert response.status == 200
