"""The browser's files in a host's app: found, typed as scripts, asked for again, public."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from chat_aio import add_browser_files
from chat_aio.web.browser_files import BROWSER

Client = TestClient[web.Request, web.Application]
IMPORT = re.compile(r'^import .* from "\./(.*)";$', re.MULTILINE)


@pytest.fixture
async def host() -> AsyncIterator[Client]:
    app = web.Application()
    add_browser_files(app, "/chat-aio")
    async with TestClient(TestServer(app)) as client:
        yield client


async def test_each_module_and_what_it_imports_is_served(host: Client) -> None:
    for name in ("chat-store.js", "chat.js"):
        async with host.get(f"/chat-aio/{name}") as answer:
            assert answer.status == 200
            assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            text = await answer.text()
            assert text == (BROWSER / name).read_text()
        for found in IMPORT.findall(text):
            async with host.head(f"/chat-aio/{found}") as answer:
                assert answer.status == 200, found


async def test_browsers_keep_the_parts_of_the_element(host: Client) -> None:
    async with host.get("/chat-aio/element.js") as answer:
        # The next page has a newer one.
        assert answer.headers["Cache-Control"] == "max-age=0, stale-while-revalidate=86400"
        core = await answer.text()
    assert "export const { ChatAio } =" in core
    names = set(re.findall(r'"([\w-]+-[0-9a-f]{16}\.js)"', core))
    assert len(names) > 5
    for name in names:
        async with host.get(f"/chat-aio/bundle/{name}") as answer:
            assert answer.status == 200, name
            assert answer.headers["Cache-Control"] == "max-age=31536000, immutable"
            assert answer.headers["Content-Encoding"] == "gzip"


async def test_who_cannot_unpack_gets_plain_bytes(host: Client) -> None:
    async with host.get("/chat-aio/element.js") as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        text = await answer.text()
    for refused in ("identity", "gzip;q=0", "gzip; q=0.0, br", "x-gzip"):
        plain = {"Accept-Encoding": refused}
        async with host.get("/chat-aio/element.js", headers=plain) as answer:
            assert "Content-Encoding" not in answer.headers, refused
            assert await answer.text() == text


async def test_one_weak_etag_names_the_plain_and_the_compressed_bytes(host: Client) -> None:
    """A strong one would promise equal bytes (RFC 9110, 8.8.3)."""
    etags = set()
    for coding in ("identity", "gzip"):
        asked = {"Accept-Encoding": coding}
        async with host.get("/chat-aio/chat.js", headers=asked) as answer:
            assert answer.headers["Vary"] == "Accept-Encoding"
            etags.add(answer.headers["ETag"])
    (etag,) = etags
    assert etag.startswith('W/"')


async def test_browsers_ask_again_and_are_told_that_nothing_has_changed(host: Client) -> None:
    async with host.get("/chat-aio/chat.js") as first:
        etag = first.headers["ETag"]
        assert first.headers["Cache-Control"] == "no-cache"
    for asked, status in ((etag, 304), (f'"other", {etag}', 304), ('"other"', 200)):
        async with host.get("/chat-aio/chat.js", headers={"If-None-Match": asked}) as again:
            assert (again.status, again.headers["ETag"]) == (status, etag)
            assert again.headers["Cache-Control"] == "no-cache"
            assert bool(await again.read()) == (status == 200)


@pytest.mark.parametrize(
    "name", ["", "nothing.js", "package.json", "chat.d.ts", "../__init__.py", "%2e%2e/chat.py"]
)
async def test_nothing_else_is_served(host: Client, name: str) -> None:
    async with host.get(f"/chat-aio/{name}") as answer:
        assert answer.status == 404


async def test_it_stands_at_the_root_too(aiohttp_client: Any) -> None:
    """Routes of the app stay reachable, also those that come later."""

    async def mine(_: web.Request) -> web.Response:
        return web.Response(text="mine")

    app = web.Application()
    add_browser_files(app, "/")
    app.router.add_get("/mine.js", mine)
    client = await aiohttp_client(app)
    async with client.get("/element.js") as answer:
        assert answer.status == 200
    async with client.get("/mine.js") as answer:
        assert await answer.text() == "mine"
